"""Builds the component for Fastly Compute, once for each state of its sources.

The SDK's builder takes a whole environment into the component; it therefore gets one that holds the guest's own sources and
packages, and nothing else. Two builds of the same sources differ in their bytes: what was built is told apart by `source_hash`.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from host.component.build import (
    BUILD_TIMEOUT_S,
    ERROR_LINES_SHOWN,
    GATEKEEPER_SOURCES,
    GUEST_PACKAGES,
    BuildError,
    all_but,
    cannot_write,
    copy_file,
    locked,
    prune,
    source_files,
    stage_packages,
    touch,
)
from host.fastly.toolchain import SDK, SDK_VERSION, builder
from host.programs import run

APP = "edge.guests.fastly"
# A change of another guest builds nothing, and deploys nothing.
LEFT_OUT = all_but("edge/guests/fastly.py", "edge/guests/on_fastly/")
# Raise it when this file builds something else out of the same sources.
_RECIPE = "1"


def source_hash() -> str:
    """A hash of all that the component is made of: sources, packages and builder. 20 hex digits."""
    parts = [f"{SDK}=={SDK_VERSION}", *(f"{name}=={importlib.metadata.version(name)}" for name, _ in GUEST_PACKAGES)]
    digest = hashlib.sha256(repr((_RECIPE, APP, parts)).encode())
    for top in GATEKEEPER_SOURCES:
        for name, path in source_files(top, LEFT_OUT):
            content = path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:20]


def build_fastly(cache_dir: Path) -> Path:
    """The component, built or out of the folder `component` of `cache_dir`. Raises BuildError."""
    out_dir = cache_dir.resolve() / "component"
    target = out_dir / f"{APP}-{source_hash()}.wasm"
    if target.exists():
        touch(target)
        return target
    program = builder(cache_dir)
    try:
        out_dir.mkdir(parents=True, exist_ok=True)
        with locked(out_dir / f"{APP}.lock"):
            if not target.exists():
                files = [found for top in GATEKEEPER_SOURCES for found in source_files(top, LEFT_OUT)]
                compile_guest(program, APP, files, target)
                prune(out_dir, APP)
    except OSError as error:
        raise BuildError(cannot_write(out_dir, error)) from error
    return target


def compile_guest(program: Path, app: str, files: Iterable[tuple[str, Path]], target: Path) -> None:
    """Builds module `app` out of `files` (name in the guest, and path) and the guest's packages. Raises BuildError, OSError."""
    with tempfile.TemporaryDirectory(prefix="stanchion-fastly-", dir=target.parent) as folder:
        work = Path(folder)
        # The builder looks for modules here as a virtual environment has them, and in the folder where it runs.
        packages, empty = work / "guest" / "lib" / "python3.12" / "site-packages", work / "empty"
        empty.mkdir()
        for name, path in files:
            copy_file(path, packages / name)
        stage_packages(packages)
        built = work / "component.wasm"
        _run([str(program), "build", "-v", str(work / "guest"), "-e", app, "-o", str(built)], app, empty)
        built.replace(target)


def _run(command: list[str], app: str, folder: Path) -> None:
    # A clean environment: PYTHONPATH would let foreign packages into the component.
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "LANG") if name in os.environ}
    try:
        done = run(command, timeout_s=BUILD_TIMEOUT_S, cwd=folder, env=environ)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"cannot build {app}: {error}") from error
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-ERROR_LINES_SHOWN:]
        raise BuildError(f"cannot build {app}, the compiler said:\n" + "\n".join(last))
