"""The engine and the gate on a real component: answers, imports, broken instances, the compiled cache."""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.component.engine import CALL_BUDGET_MS, COMPILED_KEPT, ComponentError, GateEngine
from host.component.instance import Gate, GateFailed, Imports
from tests.host.edge.support import CACHE, scripted_component

PAGE = "<p>Grüße, 日本 &amp; \U0001f39f</p>" * 2_000


class Pages:
    """A store with one page, one broken key, and nothing else."""

    def get(self, key: str) -> str | None:
        if key == "broken":
            raise OSError("the disk is gone")
        return PAGE if key == "page" else None


@pytest.fixture(scope="module")
def engine() -> Iterator[GateEngine]:
    """One engine for this module."""
    engine = GateEngine(scripted_component(), CACHE)
    yield engine
    engine.close()


@pytest.fixture
def logged() -> list[str]:
    """What the guest has logged."""
    return []


@pytest.fixture
def gate(engine: GateEngine, logged: list[str]) -> Gate:
    """A fresh gate."""
    return Gate(engine, Imports(Pages(), {"A": "b"}, {"signing-keys": "k:s"}, logged.append))


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A component with nothing in it, which compiles at once."""
    path = tmp_path / "empty.wasm"
    path.write_bytes(b"\0asm\x0d\0\x01\0")
    return path


def ask(gate: Gate, step: str) -> str:
    """What the gate answers to a scripted step."""
    return gate.decide(f"GET /\nh.x-script: {json.dumps([step])}", "")


def body(gate: Gate, step: str) -> str:
    """The body of that answer."""
    return ask(gate, step).partition("\n\n")[2]


def test_the_guest_says_what_it_wants(gate: Gate) -> None:
    assert gate.wants.version == "scripted"
    assert "cookie" in gate.wants.headers
    assert gate.wants.answer_headers == ("cache-control", "set-cookie")
    assert gate.wants.private_prefix == "stanchion-"


def test_strings_cross_whole_in_both_directions(gate: Gate) -> None:
    request = f"GET /\nh.x-script: {json.dumps(['echo'])}\nh.accept: \x01\x7f\xff\u20ac\U0001f39f"
    assert gate.decide(request, "").partition("\n\n")[2] == request
    assert ask(gate, "forward\nwhy: \u00ff") == "forward\nwhy: \u00ff"


def test_the_imports_answer(gate: Gate, logged: list[str]) -> None:
    assert body(gate, "kv page") == f"Lookup_Found {PAGE}"
    assert body(gate, "kv nothing") == "Lookup_Absent "
    assert body(gate, "kv broken") == "Lookup_Failed the disk is gone"
    assert body(gate, "setting A") == "'b'"
    assert body(gate, "setting B") == "None"
    assert body(gate, "secret signing-keys") == "'k:s'"
    assert body(gate, "secret other") == "None"
    ask(gate, "log one line")
    assert logged == ["one line"]
    assert gate.replaced == 0


def test_a_log_that_fails_breaks_nothing(engine: GateEngine) -> None:
    def full(_: str) -> None:
        raise OSError("no space left")

    gate = Gate(engine, Imports(Pages(), {}, {}, full))
    assert body(gate, "log x") == "logged"
    assert gate.replaced == 0


def test_one_instance_serves_many_calls(gate: Gate) -> None:
    first = int(body(gate, "calls"))
    assert [int(body(gate, "calls")) for _ in range(5)] == [first + number for number in range(1, 6)]


def test_a_trap_replaces_the_instance_and_the_call_is_tried_once_more(gate: Gate) -> None:
    ask(gate, "echo")
    assert body(gate, "trap-once 1") == "answered by a fresh instance"
    assert gate.replaced == 1
    assert int(body(gate, "calls")) == 2


def test_a_call_that_always_traps_fails_and_the_next_one_works(gate: Gate) -> None:
    with pytest.raises(GateFailed, match="decide failed 2 times: the guest raised an exception"):
        ask(gate, "trap")
    assert gate.replaced == 2
    assert int(body(gate, "calls")) == 1


def test_a_runaway_call_ends_at_its_budget(gate: Gate) -> None:
    started_s = time.monotonic()
    with pytest.raises(GateFailed, match=f"no answer within {CALL_BUDGET_MS} ms"):
        ask(gate, "loop")
    took_ms = (time.monotonic() - started_s) * 1000
    assert took_ms >= 2 * CALL_BUDGET_MS
    assert int(body(gate, "calls")) == 1


def test_the_budget_is_for_each_call_and_not_for_the_instance(gate: Gate) -> None:
    started_s = time.monotonic()
    while time.monotonic() - started_s < 2 * CALL_BUDGET_MS / 1000:
        ask(gate, "echo")
    time.sleep(2 * CALL_BUDGET_MS / 1000)
    ask(gate, "echo")
    assert gate.replaced == 0


def test_a_guest_cannot_take_more_memory_than_it_is_given(gate: Gate) -> None:
    with pytest.raises(GateFailed):
        ask(gate, "grow")
    assert body(gate, "echo")


def test_broken_instances_leave_no_memory_behind(gate: Gate) -> None:
    def trap(times: int) -> None:
        for _ in range(times):
            with pytest.raises(GateFailed):
                ask(gate, "trap")

    trap(20)
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    trap(100)
    grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    # 200 instances of 12 MB each; what is kept of them is less than a tenth.
    assert grown_kb < 200 * 12 * 1024 / 10


def test_text_that_is_no_unicode_fails_and_breaks_nothing(gate: Gate) -> None:
    with pytest.raises(GateFailed):
        gate.decide("GET /\ud800", "")
    assert body(gate, "echo")


def test_the_compiled_code_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    GateEngine(scripted_component(), CACHE).close()
    # Without its constructor a component can only come out of the cache.
    monkeypatch.setattr("host.component.engine.Component.__init__", None)
    engine = GateEngine(scripted_component(), CACHE)
    assert Gate(engine, Imports(Pages(), {}, {}, print)).wants.version == "scripted"
    engine.close()


def test_the_compiled_code_is_kept_from_others_and_mended(empty: Path, tmp_path: Path) -> None:
    GateEngine(empty, tmp_path).close()
    (kept,) = (tmp_path / "compiled").glob("*.cwasm")
    assert (tmp_path / "compiled").stat().st_mode & 0o077 == 0
    whole = kept.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], b"x" * 1000):
        kept.unlink()
        kept.write_bytes(broken)
        GateEngine(empty, tmp_path).close()
        assert kept.read_bytes() == whole


def test_old_compiled_code_is_removed(empty: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "compiled"
    compiled.mkdir()
    for number in range(COMPILED_KEPT + 3):
        old = compiled / f"{number}.cwasm"
        old.write_bytes(b"old")
        os.utime(old, (number, number))
    GateEngine(empty, tmp_path).close()
    left = [path.name for path in compiled.iterdir()]
    assert len(left) == COMPILED_KEPT
    assert "0.cwasm" not in left


@pytest.mark.parametrize("content", [None, b"", b"text", b"\0asm\x01\0\0\0"])
def test_what_is_no_component_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "broken.wasm"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ComponentError, match=r"broken\.wasm"):
        GateEngine(path, tmp_path)


def test_a_component_of_another_world_is_refused(empty: Path, tmp_path: Path) -> None:
    engine = GateEngine(empty, tmp_path)
    with pytest.raises(ComponentError, match="exports no function 'wants'"):
        Gate(engine, Imports(Pages(), {}, {}, print))
    engine.close()
