"""`python -m bench.hosts`: the same three requests on every host that is installed, in one run on one machine.

Each host is started as the conformance suite starts it, before a real Redis and a raw origin. Times are those of one client
with one connection; CPU is that of the host's processes, Redis and origin not among them.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

import pytest

from host.component.build import PROXY, build_component, build_gatekeeper, build_proxy
from host.fastly.build import build_fastly, compile_guest
from host.fastly.toolchain import builder
from tests.conformance.host import CACHE, ROOT
from tests.conformance.hosts import STARTERS, chosen
from tests.conformance.world import World, place, running
from tests.e2e.stack import enter, queue

CALLS = 200
WARM_UP = 20
QUEUES = [queue("calm", admit_per_minute=100_000, burst=10_000), queue("hand", manual=True)]
# The double runs in the process of its tests: its times would say nothing of a host.
MEASURED = tuple(name for name in STARTERS if name != "double")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
MB = 1e6


@dataclass(frozen=True)
class Row:
    """Milliseconds for one request."""

    host: str
    what: str
    p50_ms: float
    p99_ms: float
    cpu_ms: float


def idle_gate() -> Path:
    """The base of the local edge."""
    return build_component("empty_gate", (ROOT / "bench" / "empty_gate.py",), CACHE / "component")


def idle_proxy() -> Path:
    """The base of wasi:http hosts."""
    return build_component("idle_proxy", (ROOT / "bench" / "idle_proxy.py",), CACHE / "component", PROXY)


def idle_fastly() -> Path:
    """The base of Viceroy. Raises BuildError."""
    source = ROOT / "bench" / "idle_fastly.py"
    target = CACHE / "component" / f"idle_fastly-{hashlib.sha256(source.read_bytes()).hexdigest()[:20]}.wasm"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        compile_guest(builder(CACHE), "idle_fastly", [("idle_fastly.py", source)], target)
    return target


IDLE: dict[str, Callable[[], Path]] = {"local": idle_gate, "viceroy": idle_fastly, "jco": idle_proxy, "wasmtime": idle_proxy}
GATES: dict[str, Callable[[], Path]] = {
    "local": lambda: build_gatekeeper(CACHE),
    "wasi:http": lambda: build_proxy(CACHE),
    "wasi:http, base": idle_proxy,
    "fastly": lambda: build_fastly(CACHE),
    "fastly, base": idle_fastly,
}


def _family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield from _family(int(child))


def cpu_s(pid: int) -> float:
    """CPU time that a process and those below it have used."""
    ticks = 0
    for one in _family(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS_PER_S


def _cookies(world: World, name: str) -> str:
    if name == "inside":
        visitor = world.visitor()
        enter(visitor, "/calm/")
    else:
        visitor = place(world, "hand")
    return "; ".join(f"{key}={value}" for key, value in visitor.cookies.items())


def _measure(world: World, what: str, path: str, cookie: str, status: int) -> Row:
    process = world.host.process
    assert process is not None
    headers = {"Accept": "text/html", **({"Cookie": cookie} if cookie else {})}
    connection = http.client.HTTPConnection("127.0.0.1", world.port, timeout=30)

    def ask() -> None:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status, f"{world.host.name}, {what}: {answer.status}"

    for _ in range(WARM_UP):
        ask()
    before_s, took_ms = cpu_s(process.pid), []
    for _ in range(CALLS):
        start = time.perf_counter()
        ask()
        took_ms.append((time.perf_counter() - start) * 1000)
    cuts = quantiles(took_ms, n=100)
    return Row(world.host.name, what, cuts[49], cuts[98], (cpu_s(process.pid) - before_s) / CALLS * 1000)


def _rows(name: str, folder: Path) -> Iterator[Row]:
    if name in IDLE:
        base = chosen(name)
        base.component = IDLE[name]()
        with running(base, folder, QUEUES) as world:
            yield _measure(world, "base", "/calm/", "", 200)
    with running(chosen(name), folder, QUEUES) as world:
        yield _measure(world, "inside", "/calm/", _cookies(world, "inside"), 200)
        yield _measure(world, "waiting poll", "/.stanchion/hand/status", _cookies(world, "waiting"), 200)
        yield _measure(world, "first arrival", "/hand/", "", 503)


def _sizes() -> None:
    print(f"{'component':18} {'raw MB':>9} {'gzip MB':>9}")
    for name, build in GATES.items():
        try:
            wasm = build().read_bytes()
        except Exception as error:
            print(f"{name:18} not built: {str(error).splitlines()[0]}")
            continue
        print(f"{name:18} {len(wasm) / MB:9.1f} {len(gzip.compress(wasm, 9)) / MB:9.1f}")


def main() -> int:
    """Measures and prints; a host that is not installed is named."""
    _sizes()
    print(f"\n{'host':10} {'request':14} {'p50 ms':>8} {'p99 ms':>8} {'CPU ms':>8}   ({CALLS} each)")
    with tempfile.TemporaryDirectory(prefix="stanchion-bench-") as folder:
        for name in MEASURED:
            try:
                for row in _rows(name, Path(folder) / name):
                    print(f"{row.host:10} {row.what:14} {row.p50_ms:8.2f} {row.p99_ms:8.2f} {row.cpu_ms:8.2f}", flush=True)
            except pytest.skip.Exception as missing:
                print(f"{name:10} not installed: {missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
