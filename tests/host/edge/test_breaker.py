"""When the breaker lets calls through."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from host.edge.breaker import FAILURES_TO_OPEN, OPEN_S, Breaker


def broken(now_s: float = 0.0) -> Breaker:
    """A breaker that has just opened at `now_s`."""
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN):
        assert breaker.enter(now_s)
        breaker.failure(now_s)
    assert breaker.is_open
    return breaker


def test_it_opens_after_failures_in_a_row_only() -> None:
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN * 3):
        breaker.failure(0.0)
        breaker.success()
    assert not breaker.is_open


def test_open_it_refuses_until_its_time_is_over_and_then_lets_one_probe_through() -> None:
    breaker = broken()
    assert not breaker.enter(OPEN_S - 0.001)
    assert breaker.enter(OPEN_S)
    assert [breaker.enter(OPEN_S + later) for later in (0.0, 1.0, 100.0)] == [False] * 3


def test_a_probe_that_succeeds_closes_it() -> None:
    breaker = broken()
    breaker.enter(OPEN_S)
    breaker.success()
    assert all(breaker.enter(OPEN_S) for _ in range(10))


def test_a_probe_that_fails_opens_it_again() -> None:
    breaker = broken()
    breaker.enter(OPEN_S)
    breaker.failure(OPEN_S)
    assert not breaker.enter(2 * OPEN_S - 0.001)
    assert breaker.enter(2 * OPEN_S)


def test_late_failures_of_calls_from_before_do_not_prolong_it() -> None:
    breaker = broken()
    breaker.failure(0.9)
    assert breaker.enter(OPEN_S)


def test_a_late_success_of_a_call_from_before_closes_it() -> None:
    breaker = broken()
    breaker.success()
    assert breaker.enter(0.0)


@given(st.lists(st.sampled_from(["ok", "bad", "wait"]), max_size=60))
def test_whatever_happened_it_recovers_by_one_success_after_its_time(happenings: list[str]) -> None:
    breaker, now_s = Breaker(), 0.0
    for happening in happenings:
        if happening == "wait":
            now_s += 0.4
        elif breaker.enter(now_s):
            breaker.success() if happening == "ok" else breaker.failure(now_s)
    now_s += OPEN_S
    assert breaker.enter(now_s)
    breaker.success()
    assert breaker.enter(now_s)
    assert not breaker.is_open
