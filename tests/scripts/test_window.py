"""The head window slides with the calls, and widens at once when many slots come free."""

from __future__ import annotations

import itertools

from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket


def ask_all(line: Line, tickets: list[Ticket]) -> None:
    """Everybody in the window shows life."""
    for ticket in tickets[line.number("cursor") : line.number("horizon")]:
        line.touch(ticket)


def test_many_slots_that_come_free_at_once_are_filled_when_those_asked_have_polled_twice(store: Store) -> None:
    """280 slots for a window of 50: all who are needed are asked at once, not some now and the others a settling time later."""
    line = Line(store, admit_per_minute=None, max_active=2, idle_s=3600)
    held, tickets = [line.enter(f"in{n}") for n in range(2)], line.places(340)
    tickets = held + tickets  # by position
    ask_all(line, tickets)
    assert line.number("horizon") < 100, "nobody far back is asked while no slot comes free"
    line.set_limits(max_active=280)
    line.wait(1)
    ask_all(line, tickets)  # the snapshot said so: who was asked polls
    assert line.number("horizon") >= 282
    line.wait(line.queue.settle_s / 2)
    ask_all(line, tickets)
    line.wait(line.queue.settle_s / 2)
    ask_all(line, tickets)
    for _ in range(2):  # 200 are called at a time
        line.wait(0.3)
        line.snapshot()
    assert len(line.positions("called")) + 2 == 280


def test_the_window_slides_in_many_small_steps(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=1)
    tickets = line.places(330)
    horizons = []
    for _ in range(60):  # five minutes
        line.wait(5)
        if len(horizons) % 4 == 0:
            ask_all(line, tickets)
        for position in line.positions("called"):
            line.touch(tickets[position - 1], wants_in=True)
        line.snapshot()
        horizons.append(line.number("horizon"))
    steps = [later - earlier for earlier, later in itertools.pairwise(horizons) if later > earlier]
    assert horizons[-1] == 330 or line.number("horizon") >= line.number("cursor") + 150
    assert len(steps) >= 8
    assert max(steps) <= 40, "no lumps: never half of the window at once"
    assert line.number("missed") == 0


def test_who_is_asked_later_has_the_whole_time_too(store: Store) -> None:
    """Two raises within one settling time: those of the second are not passed over when the time of the first is over."""
    line = Line(store, admit_per_minute=None, max_active=1, idle_s=3600)
    held = line.enter("in")
    tickets = [held, *line.places(400)]
    line.set_limits(max_active=101)
    line.wait(1)
    line.snapshot()
    first = line.number("horizon")
    line.wait(40)
    line.set_limits(max_active=301)
    line.wait(1)
    line.snapshot()
    second = line.number("horizon")
    assert second > first
    line.wait(40)  # of the first nobody showed life
    line.snapshot()
    assert first <= line.number("settled") < second
    assert line.number("cursor") <= first
    last = tickets[second - 1]
    assert line.touch(last).verdict == "waiting"
    line.wait(40)
    line.snapshot()
    assert last.position in line.positions("called")
