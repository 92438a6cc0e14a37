"""Programs that a fresh machine may lack: skip with one line that says what to install, or fail when they are required.

`STANCHION_TEST_REQUIRE=redis,chromium,node` turns such a skip into a failure, so that a build server cannot pass by lacking them.
"""

from __future__ import annotations

import glob
import os
import shutil

import pytest

from host.fastly.toolchain import find_python

_PROGRAMS: dict[str, tuple[tuple[str, ...], str]] = {
    "redis": (("redis-server",), "apt-get install redis-server"),
    "chromium": (("chromium", "chromium-browser", "google-chrome"), "apt-get install chromium"),
    "node": (("node",), "install Node.js 20 or newer (with npm)"),
    "viceroy": (("viceroy", "~/.cargo/bin/viceroy"), "make hosts"),
    "fastly-python": ((), "install Python 3.12 or newer beside this one, or name it in STANCHION_FASTLY_PYTHON"),
    "wasmtime": (("wasmtime", "~/.cargo/bin/wasmtime"), "make hosts"),
    "postgres": ((), "apt-get install postgresql"),
    "systemd": (("systemd-analyze",), "install systemd"),
}


def find(name: str) -> str | None:
    """The path of program `name` (a key of the table above), or None."""
    if name == "postgres":
        # Debian keeps the programs of each version out of PATH.
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        return found[-1] if found else shutil.which("initdb")
    if name == "fastly-python":
        return find_python(os.environ)
    return next((path for program in _PROGRAMS[name][0] if (path := shutil.which(os.path.expanduser(program)))), None)


def needs(name: str) -> str:
    """The path of the program; otherwise skips the test, or fails it when STANCHION_TEST_REQUIRE names the program."""
    path = find(name)
    if path:
        return path
    message = f"needs {name}: {_PROGRAMS[name][1]}"
    if name in os.environ.get("STANCHION_TEST_REQUIRE", "").split(","):
        pytest.fail(message)
    pytest.skip(message)
