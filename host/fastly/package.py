"""The package that `fastly compute deploy` takes: a tar.gz with `fastly.toml` and `bin/main.wasm` in a folder of its own."""

from __future__ import annotations

import gzip
import io
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from host.component.build import ROOT, BuildError
from host.fastly.build import build_fastly, source_hash

NAME = "stanchion"
MANIFEST = ROOT / "fastly.toml"
# Where Fastly's command line looks for them.
WASM = Path("bin/main.wasm")
PACKAGE = Path(f"pkg/{NAME}.tar.gz")
# What the package was built from: two builds of one source differ in their bytes.
SOURCES = "sources.sha256"
# docs.fastly.com, "Compute resource limits".
PACKAGE_MAX_BYTES = 100_000_000
_MODE = 0o644


@dataclass(frozen=True)
class Made:
    """What was made. Sizes are those of the component and of the package."""

    package: Path
    wasm_bytes: int
    package_bytes: int


def make_package(cache_dir: Path, folder: Path = ROOT) -> Made:
    """Builds the component where that is not done yet, and writes it and the package below `folder`. Raises BuildError."""
    component = build_fastly(cache_dir)
    wasm, package = folder / WASM, folder / PACKAGE
    try:
        for path in (wasm, package):
            path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(component, wasm)
        package.write_bytes(_packed(component.read_bytes(), MANIFEST.read_bytes(), source_hash()))
    except OSError as error:
        raise BuildError(f"cannot write the package: {error}") from error
    size = package.stat().st_size
    if size > PACKAGE_MAX_BYTES:
        raise BuildError(f"{package} has {size:,} bytes; Fastly takes {PACKAGE_MAX_BYTES:,} at most")
    return Made(package, wasm.stat().st_size, size)


def _packed(wasm: bytes, manifest: bytes, sources: str) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in (("fastly.toml", manifest), (WASM.as_posix(), wasm), (SOURCES, sources.encode())):
            entry = tarfile.TarInfo(f"{NAME}/{name}")
            entry.size, entry.mode = len(content), _MODE
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(archive.getvalue(), compresslevel=9, mtime=0)
