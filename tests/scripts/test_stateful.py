"""Any sequence of what can happen keeps the laws, on both stores."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.scripts.backends import Embedded, RealRedis, Store
from tests.scripts.faults import put_in
from tests.scripts.lines_machine import BEGINNINGS, LinesMachine
from tests.scripts.machine import QueueMachine


def _store(kind: str, request: pytest.FixtureRequest) -> Store:
    return RealRedis(request.getfixturevalue("redis_port")) if kind == "redis" else Embedded()


def _settings(examples: int, **more: Any) -> settings:
    return settings(settings.get_profile("scripts"), max_examples=examples, database=None, **more)


@pytest.mark.parametrize("kind", ["embedded", "redis"])
def test_the_laws_hold_whatever_happens(kind: str, request: pytest.FixtureRequest) -> None:
    class Machine(QueueMachine):
        def make_store(self) -> Store:
            return _store(kind, request)

    run_state_machine_as_test(Machine, settings=_settings(28))


@pytest.mark.parametrize("kind", ["embedded", "redis"])
@pytest.mark.parametrize("start", BEGINNINGS)
def test_the_laws_hold_for_lanes_groups_schedules_draws_modes_and_timers(
    start: str, kind: str, request: pytest.FixtureRequest
) -> None:
    class Machine(LinesMachine):
        beginning = BEGINNINGS[start]

        def make_store(self) -> Store:
            return _store(kind, request)

    run_state_machine_as_test(Machine, settings=_settings(3 if kind == "embedded" else 6))


# By the beginning where it shows.
FAULTS = {
    "a called place counts twice in its line": (
        "lanes by slots", "line.held + added", "line.held + added + 1", "slots held by line"),
    "late ones come back whatever the queue says": (
        "lanes by rate", "if missed > 0 and s.late_claim ~= 'head' then return true end", "", "has another"),
    "the longest visit has no end": (
        "lanes by slots", "return math.min(checkout and math.floor(checkout) or s.clock + s.idle, hard)",
        "return s.clock + s.idle * 2", "an end"),
    "leases run in a closed queue": (
        "lanes by rate", "LEASE_RUNS = { open = true,", "LEASE_RUNS = { open = true, closed = true,", "a lease ran"),
    "a queue that drains takes newcomers": (
        "lanes by rate", "GIVES_PLACES = { open = true,", "GIVES_PLACES = { open = true, draining = true,", "takes nobody"),
    "a queue of a group that is paused goes on": (
        "a group", "line.weight = is_pause and 0 or tonumber(weight)", "line.weight = tonumber(weight)", "a paused line went on"),
    "the drawn order is not the published one": (
        "drawn lanes", "until value < count\nreturn value + 1", "until value < count\nreturn count - value", "not the place"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_scripts_is_found(fault: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    start, old, new, words = FAULTS[fault]
    put_in(monkeypatch, old, new)

    class Machine(LinesMachine):
        beginning = BEGINNINGS[start]

        def make_store(self) -> Store:
            return _store("redis", request)

    with pytest.raises(AssertionError, match=words):
        run_state_machine_as_test(Machine, settings=_settings(30, phases=[Phase.generate]))
