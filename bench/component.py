"""The component by itself: size, memory, fuel of a fresh instance, and warm calls against an empty component's."""

from __future__ import annotations

import base64
import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import wasmtime
from wasmtime.component import Component, Instance, Linker, Variant

from bench.report import Report
from edge.core import tokens
from edge.core.calls import Answer
from edge.core.config import check_config
from edge.core.cookies import CANDIDATE_SUFFIX
from edge.core.keyring import Keyring
from edge.core.sealed import seal
from edge.core.tokens import Candidate, Pass, Place
from edge.core.work import HEADER as WORK
from edge.core.work import challenge_for, solve
from host.component.build import build_component, build_gatekeeper

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("STANCHION_CACHE_DIR", ROOT / ".cache"))
KEYS = "bench001:" + base64.urlsafe_b64encode(bytes(range(32))).decode()
NOW_MS = 1_800_000_000_000
EPOCH = "hdfv5erg5cababab"
QUEUE = {"id": "launch", "name": "Launch", "routes": [{"path": "/launch/*"}], "admit_per_minute": 10}
SEED = json.loads((ROOT / "kv-seed" / "config.json").read_text())
ROUNDS, CALLS = 15, 400
HEAP_LIMIT_BYTES = 64 * 1024 * 1024


def worked(seed: dict[str, Any]) -> dict[str, Any]:
    """The same configuration, but its first queue asks candidates for work: as little as may be, for checking costs the same."""
    first, *others = seed["queues"]
    return seed | {"queues": [first | {"proof_of_work_bits": 8}, *others]}


def _linker(engine: wasmtime.Engine, seed: dict[str, Any]) -> Linker:
    stored = {"config.json": seal(seed)}
    stored |= {str(p.relative_to(ROOT / "kv-seed")): p.read_text() for p in (ROOT / "kv-seed" / "pages").rglob("*.*")}
    linker = Linker(engine)
    linker.add_wasip2()
    functions: tuple[tuple[str, str, Callable[..., object]], ...] = (
        ("kv", "get", lambda _, key: Variant("found", stored[key]) if key in stored else Variant("absent")),
        ("settings", "get", lambda _, name: None),
        ("secrets", "get", lambda _, name: KEYS),
        ("log", "write", lambda _, line: print(line)),
    )
    with linker.root() as root:
        for interface, name, function in functions:
            with root.add_instance(f"stanchion:gatekeeper/{interface}@0.1.0") as instance:
                instance.add_func(name, function)
    return linker


class Gate:
    """One instance of a component, its fuel counted on demand."""

    def __init__(self, engine: wasmtime.Engine, component: Component, *, fuel: bool = False, seed: dict[str, Any] = SEED) -> None:
        self.store = wasmtime.Store(engine)
        if fuel:
            self.store.set_fuel(2**62)
        self.store.set_wasi(wasmtime.WasiConfig())
        self.store.set_limits(memory_size=HEAP_LIMIT_BYTES)
        self._instance: Instance = _linker(engine, seed).instantiate(self.store, component)
        self._decide = self._instance.get_func(self.store, "decide")

    def decide(self, request: str, replies: str = "") -> str:
        """One call."""
        assert self._decide is not None
        return str(self._decide(self.store, request, replies))


def request(cookie: str, target: str = "/launch/tickets?day=2") -> str:
    """A browser's request with a cookie of the site's own."""
    lines = [f"GET {target}", "scheme: http", "host: localhost:8080", "client: 192.0.2.7", "country: JP", f"now-ms: {NOW_MS}",
             "random: " + "5a" * 32, "kv: 1", "id: bench", "h.accept: text/html,application/xhtml+xml,*/*;q=0.8",
             f"h.cookie: session=0123456789abcdef; {cookie}"]  # fmt: skip
    return "\n".join(lines)


def snapshot_reply() -> str:
    """A snapshot of a queue with 1,000 people in line."""
    short = [EPOCH, str(NOW_MS), "open", "1000", "3", "60", "1", "10", ""]
    rest = ["open", "0", "0", "0", "0", "", "", "", "", "10000", "1000", "0", "1", 20, "0", "", [], "1000000", "0", "", ""]
    full = [["ok"], [*short, 2, 20, 2, 2, 997, "4000", 10, "", "", 1, [], *rest]]
    assert Answer.read(full).snapshot is not None, "or every call would ask again"
    return json.dumps([{"name": "snapshot:launch", "results": [{"result": full}], "age_ms": 0}])


def cookies() -> dict[str, str]:
    """A cookie of someone inside, of someone far back in line, and of someone near the head whose sign of life is due."""
    ring = Keyring.parse(KEYS)
    inside = Pass("launch", EPOCH, "v" * 16, 2, NOW_MS + 60_000, NOW_MS + 300_000)
    waiting = Place("launch", EPOCH, "v" * 16, 800, NOW_MS, NOW_MS + 86_400_000)
    near = Place("launch", EPOCH, "v" * 16, 20, NOW_MS - 25_000, NOW_MS + 86_400_000)
    return {"inside": f"stanchion-launch={tokens.write_pass(ring, inside)}",
            "waiting": f"stanchion-launch={tokens.write_place(ring, waiting)}",
            "near": f"stanchion-launch={tokens.write_place(ring, near)}"}  # fmt: skip


def joining() -> tuple[str, str, str]:
    """The request of a candidate whose cookie comes back, the same with the work done, and what a join answers to both."""
    hopeful = Candidate("launch", "v" * 16, NOW_MS + 600_000)
    cookie = f"stanchion-launch{CANDIDATE_SUFFIX}={tokens.write_candidate(Keyring.parse(KEYS), hopeful)}"
    text = request(cookie, "/.stanchion/launch/status")
    challenge = challenge_for(check_config(worked(SEED)).queues[0], hopeful.visitor)
    assert challenge is not None
    answer = [["waiting", "1001"], [EPOCH, str(NOW_MS), "open", "1001", "3", "60", "1", "10", ""]]
    return text, f"{text}\nh.{WORK}: {solve(challenge)}", json.dumps([{"name": "join", "results": [{"result": answer}]}])


def touched(snap: str) -> str:
    """The replies of somebody near the head, who shows life."""
    answer = [["waiting", "20"], [EPOCH, str(NOW_MS), "open", "1000", "3", "60", "1", "10", ""]]
    return json.dumps([*json.loads(snap), {"name": "touch", "results": [{"result": answer}]}])


def _best_us(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The best round of each call in microseconds; rounds take turns, so that a busy moment hits all alike."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / CALLS * 1e6)
    return best


def measure(report: Report) -> None:
    """Adds the component's rows."""
    path = build_gatekeeper(CACHE)
    wasm = path.read_bytes()
    report.at_most("component, raw", len(wasm) / 1e6, 25, "MB")
    report.at_most("component, gzip", len(gzip.compress(wasm, 6)) / 1e6, None, "MB")
    longest = Place("q" * 48, EPOCH, "v" * 16, 999_999_999, NOW_MS, NOW_MS)
    report.at_most("token, longest id and position", len(tokens.write_place(Keyring.parse(KEYS), longest)), 300, "bytes")

    config = wasmtime.Config()
    config.cache = True
    engine = wasmtime.Engine(config)
    empty_path = build_component("empty_gate", (ROOT / "bench" / "empty_gate.py",), CACHE / "component")
    gate, empty = Gate(engine, Component(engine, wasm)), Gate(engine, Component(engine, empty_path.read_bytes()))
    jar, snap = cookies(), snapshot_reply()
    inside, page = request(jar["inside"]), request(jar["waiting"])
    poll, newcomer = request(jar["waiting"], "/.stanchion/launch/status"), request("")
    assert gate.decide(inside, snap).startswith("forward")
    assert gate.decide(poll, snap).startswith("respond 200")
    us = _best_us({"empty": lambda: empty.decide(poll), "inside": lambda: gate.decide(inside), "poll": lambda: gate.decide(poll),
                   "page": lambda: gate.decide(page)})  # fmt: skip
    report.at_most("empty component call", us["empty"], None, "us")
    report.at_most("someone inside, warm, against an empty call", us["inside"] / us["empty"], 2.5, "x")
    report.at_most("waiting poll, warm, against an empty call", us["poll"] / us["empty"], 3, "x")
    report.at_most("waiting page, warm, against an empty call", us["page"] / us["empty"], None, "x")
    report.at_most("heap within which all of this ran", HEAP_LIMIT_BYTES / 2**20, 64, "MiB")
    _fuel(report, wasm, {"inside": inside, "waiting poll": poll, "waiting page": page, "first arrival": newcomer}, snap)


def _fuel(report: Report, wasm: bytes, requests: dict[str, str], snap: str) -> None:
    join, join_worked, joined = joining()
    calls = {name: (text, snap, SEED) for name, text in requests.items()}
    near = cookies()["near"]
    calls |= {"sign of life": (request(near, "/.stanchion/launch/status"), touched(snap), SEED),
              "page, sign of life": (request(near), touched(snap), SEED)}  # fmt: skip
    calls |= {"join": (join, joined, SEED), "join, its work checked": (join_worked, joined, worked(SEED))}
    config = wasmtime.Config()
    config.cache = True
    config.consume_fuel = True
    engine = wasmtime.Engine(config)
    component = Component(engine, wasm)
    for name, (text, reply, seed) in calls.items():
        fresh = Gate(engine, component, fuel=True, seed=seed)
        before = fresh.store.get_fuel()
        # One call with its reply at hand: what a guest pays that is driven inside its sandbox.
        decided = fresh.decide(text, reply)
        assert "join" not in name or '"state":"waiting"' in decided, decided
        assert "life" not in name or "set-cookie: stanchion-" in decided.lower(), decided[:500]
        report.at_most(f"fresh sandbox, {name}: fuel", (before - fresh.store.get_fuel()) / 1e6, 4, "million")
