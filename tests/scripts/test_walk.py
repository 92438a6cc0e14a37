"""Everything that a few visitors can do, walked to the end; and faults in the scripts, each of which the walk must find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from edge.core import scripts
from tests.scripts.faults import put_in
from tests.scripts.walk.run import Broken, Scope, Walk
from tests.scripts.walk.scopes import BOUNDED
from tests.scripts.walk.view import FIELDS, LEFT_OUT
from tests.scripts.walk.wire import Wire


@pytest.fixture
def wire(redis_port: int) -> Iterator[Wire]:
    wire = Wire(redis_port)
    yield wire
    wire.close()


@pytest.mark.parametrize("scope", BOUNDED, ids=lambda scope: scope.name.replace(" ", "-"))
def test_every_interleaving_keeps_the_laws(wire: Wire, scope: Scope) -> None:
    count = Walk(wire, scope).run()
    assert count.is_whole == (scope.depth is None)
    assert count.states > 100


def test_every_field_of_the_state_is_walked_or_left_out_for_a_reason() -> None:
    source = (Path(scripts.__file__).parent / "state.lua").read_text()
    lists = re.findall(r"^local (?:TEXT|NUMBER|LIMIT|LINE)_FIELDS = \{(.*?)\}", source, re.MULTILINE | re.DOTALL)
    fields = [name for found in lists for name in re.findall(r"'(\w+)'", found)]
    known = [*FIELDS, *(name for names in LEFT_OUT.values() for name in names)]
    assert len(lists) == 4
    assert sorted(fields) == sorted(known)


SLOT, SLOTS = {"admit_per_minute": None, "max_active": 1}, {"admit_per_minute": None, "max_active": 2}
RATE = {"admit_per_minute": 4, "burst": 1}
FAULTS = {
    "a slot is held by the called and counted for the inside only": (
        "s.max_active - s.active - s.called", "s.max_active - s.active", Scope("", 2, SLOT, depth=3), "above max_active"),
    "the bucket is not clamped": (
        "s.units = math.min(s.bucket, s.units + s.rate", "s.units = math.min(s.units + s.bucket, s.units + s.rate",
        Scope("", 2, RATE, depth=3), "claims in"),
    "an end frees the slot and leaves the visitor inside": (
        "s.active = s.active - call('ZREM', ACTIVE, member)", "s.active = s.active - 1",
        Scope("", 2, SLOT, depth=3), "slots held"),
    "nobody is called in the order of the line": (
        "call('ZRANGEBYSCORE', READY, from, to, 'LIMIT'", "call('ZREVRANGEBYSCORE', READY, to, from, 'LIMIT'",
        Scope("", 3, SLOT, depth=4), "was called before"),
    "no lease ends": (
        "if #lapsed == 0 then return false end", "do return false end", Scope("", 2, SLOT, depth=4), "lease is over"),
    "no pass ends": (
        "if #expired == 0 then return false end", "do return false end", Scope("", 2, SLOT, depth=3), "time is over"),
    "who came in is not marked": (
        "call('SETBIT', USED, seat(member), '1')\ncall('ZADD', CLAIMS", "call('ZADD', CLAIMS",
        Scope("", 2, SLOT, depth=3), "not marked"),
    "a lease runs on during a pause": (
        "LEASE_RUNS = { open = true,", "LEASE_RUNS = { open = true, paused = true,",
        Scope("", 2, SLOT, with_operator=True, depth=3), "during the pause"),
    "a slot that is free again is given to nobody": (
        "if room == 0 then return end", "do return end", Scope("", 2, SLOT, depth=3), "a slot is free"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_scripts_is_found(wire: Wire, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, scope, words = FAULTS[fault]
    put_in(monkeypatch, old, new)
    wire.load_scripts()
    with pytest.raises(Broken, match=words):
        Walk(wire, scope).run()
