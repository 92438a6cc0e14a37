"""jco serve: the wasi:http component under Node.js, one instance for all requests."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from host.programs import run
from tests.conformance.host import CACHE, Host, Limit, Site, clean_environ
from tests.conformance.hosts.wasi import WasiHost, component, guest_environ
from tests.host.rest.servers import free_port
from tests.needs import needs

PACKAGE = Path(__file__).parent / "jco"
LIMITS = {
    "set_cookies": Limit("of several Set-Cookie of ours the last is kept; those of the origin arrive joined by a comma"),
    "duplicate_headers": Limit("arrive joined by a comma"),
    "header_bytes": Limit("are read as latin-1 and written as UTF-8"),
    "spelled_targets": Limit("only the characters of RFC 3986 are sent; others are answered 400"),
    "parallel": Limit("one request at a time: whoever waits for a slow origin keeps all others waiting"),
    "leaving": Limit("who leaves in a large answer is waited for, two minutes; then the program breaks off", runs=False),
    "broken_pieces": Limit("the program breaks off too", runs=False),
    "large_headers": Limit("Node.js takes 16 KB of headers"),
}


def installed() -> Path:
    """The program, fetched once for each lock file."""
    folder = CACHE / "jco"
    program = folder / "node_modules" / ".bin" / "jco"
    lock = PACKAGE / "package-lock.json"
    if program.exists() and (folder / lock.name).read_bytes() == lock.read_bytes():
        return program
    npm = shutil.which("npm")
    assert npm is not None, "npm is not installed beside node"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(PACKAGE / name, folder / name)
    fetched = run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, timeout_s=300)
    if fetched.returncode:
        pytest.fail(f"npm ci cannot fetch jco: {fetched.stderr[-300:]}")
    return program


@dataclass
class JcoHost(WasiHost):
    """One Node.js process."""

    def start(self, site: Site) -> None:
        needs("node")
        port, program = free_port(), installed()
        environ = clean_environ() | guest_environ(site)
        # Debian's Node.js is older than the 22 that jco needs; npm brought one along.
        brought = [path.parent for path in program.parents[1].glob("node-linux-*/bin/node")]
        environ["PATH"] = os.pathsep.join([*map(str, brought), environ["PATH"]])
        command = [program, "serve", "--port", str(port), "--host", "127.0.0.1", self.component or component()]
        self.run(command, site, environ, port)


def make() -> Host:
    """Jco serve with what it is known to lose."""
    return JcoHost("jco", LIMITS)
