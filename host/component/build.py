"""Builds a gatekeeper component out of Python sources, once for each state of its sources.

The compiler gets a staged copy of the named sources and of the pure Python packages of `GUEST_PACKAGES`,
and nothing else of this environment: with the surrounding site-packages in reach, PyJWT would find a native
library and fail.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from host.programs import run

ROOT = Path(__file__).resolve().parents[2]
WIT = ROOT / "wit"
GATEKEEPER_APP = "edge.guests.gatekeeper"
GATEKEEPER_SOURCES = (ROOT / "edge",)
PROXY_APP, PROXY_KEYVALUE_APP = "edge.guests.wasi_http", "edge.guests.wasi_http_keyvalue"
# What only one guest is made of; a change of it rebuilds no other.
GUEST_PARTS = (
    "edge/guests/gatekeeper.py",
    "edge/guests/fastly.py",
    "edge/guests/on_fastly/",
    "edge/guests/on_wasi/",
    "edge/guests/wasi_http.py",
    "edge/guests/wasi_http_keyvalue.py",
)

# Distribution and import name of what a guest may import beside its own sources. Pure Python only.
GUEST_PACKAGES = (("PyJWT", "jwt"),)
BUILD_TIMEOUT_S = 300
ERROR_LINES_SHOWN = 40
BUILDS_KEPT_PER_APP = 6
# Raise it when this file builds something else out of the same sources.
RECIPE = "1"
_COMPILER = "import componentize_py; componentize_py.script()"


@dataclass(frozen=True)
class World:
    """A world, the WIT file or folder that has it, and the files of the sources that its guest does without."""

    name: str
    wit: Path
    left_out: tuple[str, ...] = ()


def all_but(*own: str) -> tuple[str, ...]:
    """The parts of other guests than the one that `own` is of."""
    return tuple(part for part in GUEST_PARTS if part not in own)


GATEKEEPER = World("gatekeeper", WIT / "gatekeeper.wit", all_but("edge/guests/gatekeeper.py"))
PROXY = World("proxy", WIT / "proxy", all_but("edge/guests/on_wasi/", "edge/guests/wasi_http.py"))
PROXY_KEYVALUE = World(
    "proxy-with-keyvalue",
    WIT / "proxy",
    all_but("edge/guests/on_wasi/", "edge/guests/wasi_http_keyvalue.py"),
)


class BuildError(Exception):
    """The component could not be built. The text ends with the last lines of the compiler: the traceback."""


def build_component(
    app: str, source_paths: Sequence[Path], out_dir: Path, world: World = GATEKEEPER
) -> Path:
    """The component of module `app`, built or out of `out_dir`.

    Each of `source_paths` is a package folder or a module file, importable in the guest under its own name.
    Raises BuildError when a source is missing, the compiler fails or `out_dir` cannot be written.
    """
    for path in source_paths:
        if not path.exists():
            raise BuildError(f"cannot build {app}: the source {path} does not exist")
    out_dir = out_dir.resolve()
    target = out_dir / f"{app}-{_fingerprint(app, source_paths, world)}.wasm"
    if target.exists():
        touch(target)
        return target
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        with locked(out_dir / f"{app}.lock"):
            if not target.exists():
                _build(app, source_paths, target, world)
                prune(out_dir, app)
    except OSError as error:
        raise BuildError(cannot_write(out_dir, error)) from error
    return target


def cannot_write(folder: Path, error: OSError) -> str:
    """The one line about a cache folder that takes no file."""
    return f"cannot write to the cache folder {folder}: {error.strerror or error}; set STANCHION_CACHE_DIR"


def touch(path: Path) -> None:
    """Notes a use, for the pruning. In a cache that is read-only nothing is pruned."""
    with suppress(OSError):
        os.utime(path)


def gatekeeper_is_built(cache_dir: Path) -> bool:
    """Whether `build_gatekeeper` finds its work done, and takes a moment only."""
    name = f"{GATEKEEPER_APP}-{_fingerprint(GATEKEEPER_APP, GATEKEEPER_SOURCES, GATEKEEPER)}.wasm"
    return (cache_dir / "component" / name).exists()


def build_gatekeeper(cache_dir: Path) -> Path:
    """The product's own component, in the folder `component` of `cache_dir`. Raises BuildError."""
    return build_component(GATEKEEPER_APP, GATEKEEPER_SOURCES, cache_dir / "component")


def build_proxy(cache_dir: Path, *, keyvalue: bool = False) -> Path:
    """The component for wasi:http hosts; `keyvalue`: with configuration and pages in the host's store. Raises BuildError."""
    app, world = (PROXY_KEYVALUE_APP, PROXY_KEYVALUE) if keyvalue else (PROXY_APP, PROXY)
    return build_component(app, GATEKEEPER_SOURCES, cache_dir / "component", world)


def _fingerprint(app: str, source_paths: Sequence[Path], world: World) -> str:
    tools = ["componentize-py", *(distribution for distribution, _ in GUEST_PACKAGES)]
    versions = [f"{tool}=={importlib.metadata.version(tool)}" for tool in tools]
    digest = hashlib.sha256(repr((RECIPE, app, world.name, versions)).encode())
    for top in (world.wit, *source_paths):
        for name, path in source_files(top, world.left_out):
            content = path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:20]


def source_files(top: Path, left_out: tuple[str, ...] = ()) -> Iterator[tuple[str, Path]]:
    """Every source file of a package folder or module, named from the parent of `top`, in a fixed order.

    Without those whose name starts with one of `left_out`.
    """
    paths: Iterable[Path] = sorted(top.rglob("*")) if top.is_dir() else (top,)
    for path in paths:
        if path.is_file() and "__pycache__" not in path.parts:
            name = path.relative_to(top.parent).as_posix()
            if not name.startswith(left_out):
                yield name, path


def _build(app: str, source_paths: Sequence[Path], target: Path, world: World) -> None:
    with tempfile.TemporaryDirectory(prefix="stanchion-build-", dir=target.parent) as folder:
        work = Path(folder)
        sources, packages, empty = work / "sources", work / "guest", work / "empty"
        for top in source_paths:
            for name, path in source_files(top, world.left_out):
                copy_file(path, sources / name)
        stage_packages(packages)
        (empty / "lib" / "python3" / "site-packages").mkdir(parents=True)
        built = work / "component.wasm"
        paths = ["-p", str(sources), "-p", str(packages)]
        arguments = ["-d", str(world.wit), "-w", world.name, "componentize", app, *paths, "-o", str(built)]
        _run_compiler(app, arguments, work, empty)
        built.replace(target)


def stage_packages(packages: Path) -> None:
    """Puts the packages that a guest may import into a folder. Raises BuildError for one that is not installed."""
    packages.mkdir(parents=True, exist_ok=True)
    for distribution, module in GUEST_PACKAGES:
        spec = importlib.util.find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            raise BuildError(
                f"cannot build: {distribution} is not installed; install the project's dependencies"
            )
        for name, path in source_files(Path(spec.submodule_search_locations[0])):
            copy_file(path, packages / name)


def copy_file(source: Path, target: Path) -> None:
    """Copies a file; the folders above it are made."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _run_compiler(app: str, arguments: list[str], work: Path, empty_venv: Path) -> None:
    # A clean environment: PYTHONPATH or another venv would let foreign packages into the component.
    kept = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "LANG")
    environ = {name: os.environ[name] for name in kept if name in os.environ} | {
        "VIRTUAL_ENV": str(empty_venv)
    }
    command = [sys.executable, "-c", _COMPILER, *arguments]
    try:
        done = run(command, timeout_s=BUILD_TIMEOUT_S, cwd=work, env=environ)
    except subprocess.TimeoutExpired:
        raise BuildError(f"cannot build {app}: no result after {BUILD_TIMEOUT_S} s") from None
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()[-ERROR_LINES_SHOWN:]
        raise BuildError(f"cannot build {app}, the compiler said:\n" + "\n".join(lines))


def prune(out_dir: Path, app: str) -> None:
    """Keeps the newest builds of an app only."""
    builds = sorted(out_dir.glob(f"{app}-*.wasm"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in builds[BUILDS_KEPT_PER_APP:]:
        old.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Two builders of one app wait for each other, so that the second finds the first one's work."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
