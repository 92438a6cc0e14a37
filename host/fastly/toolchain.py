"""Fastly's SDK for Python in an environment of its own: it needs a newer Python than the rest of the project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from host.component.build import BuildError, locked
from host.programs import run

SDK = "fastly-compute"
SDK_VERSION = "0.1.3"
# What the SDK asks for (its metadata, Requires-Python).
MINIMUM = (3, 12)
PYTHON_SETTING = "STANCHION_FASTLY_PYTHON"

_NEWEST_FIRST = ("3.14", "3.13", "3.12")
_INSTALL_TIMEOUT_S = 300
_PROBE_TIMEOUT_S = 20
_WANTED = ".".join(map(str, MINIMUM))


def builder(cache_dir: Path) -> Path:
    """The SDK's program `fastly-compute-py`, installed into the cache at the first call. Raises BuildError."""
    folder = cache_dir.resolve() / f"{SDK}-{SDK_VERSION}"
    program = folder / "bin" / "fastly-compute-py"
    if program.exists() and (folder / ".installed").exists():
        return program
    python = find_python(os.environ)
    if python is None and (named := os.environ.get(PYTHON_SETTING)):
        raise BuildError(
            f"{PYTHON_SETTING}={named} is no Python that builds the component for Fastly Compute: it has to be a Python "
            f"{_WANTED} or newer, with venv and ensurepip, that runs here. Name another, or unset it to have one looked for"
        )
    if python is None:
        raise BuildError(
            f"the component for Fastly Compute is built by {SDK}, which needs Python {_WANTED} or newer; this is "
            f"{sys.version_info.major}.{sys.version_info.minor} and no newer one was found. Install one, or name it: "
            f"{PYTHON_SETTING}=/path/to/python{_WANTED}"
        )
    cache_dir.mkdir(parents=True, exist_ok=True)
    with locked(cache_dir / f"{SDK}.lock"):
        if not (folder / ".installed").exists():
            _install(python, folder)
    return program


def can_build(cache_dir: Path) -> bool:
    """Whether there is a Python that the SDK takes, or an SDK already."""
    return (cache_dir / f"{SDK}-{SDK_VERSION}" / ".installed").exists() or find_python(os.environ) is not None


def find_python(environ: Mapping[str, str]) -> str | None:
    """A Python that the SDK takes: the one that the environment names, this one, one on the PATH, or one of pyenv's."""
    named = environ.get(PYTHON_SETTING)
    if named:
        return named if _fits(named) else None
    if sys.version_info >= MINIMUM:
        return sys.executable
    return next((path for path in _candidates(environ) if _fits(path)), None)


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    for version in _NEWEST_FIRST:
        found = shutil.which(f"python{version}", path=environ.get("PATH"))
        if found:
            yield found
    root = Path(environ.get("PYENV_ROOT") or Path(environ.get("HOME") or Path.home()) / ".pyenv")
    yield from sorted(map(str, root.glob("versions/3.*/bin/python")), key=_version_in, reverse=True)


def _version_in(path: str) -> tuple[int, ...]:
    found = re.search(r"/versions/([0-9.]+)", path)
    return tuple(int(part) for part in found[1].split(".") if part) if found else ()


def _fits(python: str) -> bool:
    # A shim of pyenv's is there for every version, and fails for those that are not switched on: hence a run.
    probe = f"import sys, venv, ensurepip; sys.exit(sys.version_info < {MINIMUM})"
    try:
        return run([python, "-c", probe], timeout_s=_PROBE_TIMEOUT_S).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _install(python: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    commands = ([python, "-m", "venv", str(folder)], [*pip, "--only-binary", ":all:", f"{SDK}=={SDK_VERSION}"])
    for command in commands:
        try:
            done = run(command, timeout_s=_INSTALL_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise BuildError(f"cannot install {SDK} {SDK_VERSION}: {error}") from error
        if done.returncode != 0:
            last = (done.stdout + done.stderr).strip().splitlines()[-5:]
            raise BuildError(f"cannot install {SDK} {SDK_VERSION} with {python}:\n" + "\n".join(last))
    (folder / ".installed").touch()


