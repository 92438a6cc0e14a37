"""How long people waited, and when they gave up, as the scripts count it."""

from __future__ import annotations

import pytest

from edge.core import commands, figures
from edge.core.figures import Figures, Times, bucket_from_s
from edge.core.moments import moment_text
from tests.scripts.backends import SCOPE, Embedded
from tests.scripts.line import START_MS, Line, Ticket


def _figures(line: Line) -> Figures:
    line.wait(0.3)
    line.snapshot()
    flat = line.store.command(*commands.read_figures(SCOPE))
    return figures.read(dict(zip(flat[::2], flat[1::2], strict=True)))


def _at(times: Times, seconds: float) -> int:
    """People in the bucket of this time, or in one beside it: a note is right to about a second."""
    index = next(index for index in range(99) if bucket_from_s(index + 1) > seconds)
    return sum(times.buckets.get(near, 0) for near in (index - 1, index, index + 1))


def _places(line: Line, count: int, prefix: str = "v") -> list[Ticket]:
    """They join while edges look at the queue, as they do all the time."""
    line.live(1.2, 0.6)
    tickets = line.places(count, prefix)
    line.live(1.2, 0.6)
    return tickets


def test_who_comes_straight_in_has_waited_for_nothing(line: Line) -> None:
    for number in range(5):
        line.enter(f"v{number}")
        line.wait(1800 if number == 2 else 0)
    assert _figures(line).waited == Times({0: 5})


def test_the_wait_of_everybody_who_came_in_is_counted_once(line: Line) -> None:
    line.control("pause")
    first = _places(line, 3, "a")
    line.live(600)
    later = _places(line, 3, "b")
    line.live(60)
    line.control("resume")
    for ticket in (*first, *later):
        line.touch(ticket)
    passes = [line.claim(ticket) for ticket in (*first, *later)]
    for held in passes:
        line.touch(held)
    waited = _figures(line).waited
    assert (waited.count, _at(waited, 660), _at(waited, 60)) == (6, 3, 3)
    assert _figures(line).waited == waited


def test_giving_up_is_counted_by_how_long_one_held_out(line: Line) -> None:
    line.control("pause")
    tickets = _places(line, 4)
    line.live(300)
    assert line.end(tickets[1]).verdict == "left"
    assert line.end(tickets[1]).verdict == "already"
    line.live(900)
    line.end(tickets[2])
    line.end(tickets[3], "revoked")
    told = _figures(line)
    assert (told.left.count, _at(told.left, 300), _at(told.left, 1200)) == (2, 1, 1)
    assert told.waited.count == told.silent.count == 0


def test_who_falls_silent_near_the_head_is_counted_up_to_the_last_sign_of_life(line: Line) -> None:
    line.configure(manual=True)
    (ticket,) = _places(line, 1)
    for _ in range(10):
        line.live(20)
        line.touch(ticket)
    line.live(900)
    told = _figures(line).silent
    assert (told.count, _at(told, 200)) == (1, 1)


def test_of_the_sample_those_who_closed_the_page_count_for_as_many_as_they_stand_for(line: Line) -> None:
    line.control("pause")
    tickets = _places(line, 1300)
    line.configure(manual=True, presence_grace_s=900)
    line.control("resume")  # nobody is called, so nobody is asked who was not before
    line.live(40)
    every = line.seen().sample_every
    assert every == 4
    chosen = [ticket for ticket in tickets if ticket.position % every == 0 and ticket.position > 1000][:3]
    for ticket in chosen:
        line.touch(ticket)
    for ticket in chosen[:2]:
        assert line.end(ticket, "away").verdict == "away"
    line.live(20)
    line.touch(chosen[0])  # it was a reload
    line.live(145, 5)
    told = _figures(line).silent
    assert (told.count, _at(told, 40)) == (2 * every, 2 * every)


@pytest.mark.parametrize("order", ["draw", "arrival"])
def test_a_wait_begins_when_the_queue_opens(order: str) -> None:
    store = Embedded()
    opens = moment_text(START_MS + 600_000)
    line = Line(store, prequeue_at=moment_text(START_MS), opens_at=opens, prequeue_order=order)
    tickets = _places(line, 3)
    line.end(tickets[2])
    line.live(605)
    if order == "draw":
        assert line.open_queue().verdict == "opened"
    line.live(120, 5)
    tickets[:] = [line.place(f"v{number}") for number in (1, 2)]
    for ticket in tickets:
        line.touch(ticket)
        line.claim(ticket)
    told = _figures(line)
    assert told.left_early == 1
    assert (told.waited.count, _at(told.waited, 122)) == (2, 2)
    store.close()


def test_a_reset_begins_the_figures_anew(line: Line) -> None:
    line.enter("v1")
    assert _figures(line).waited.count == 1
    assert line.number("turns") == 1
    line.control("reset")
    assert _figures(line) == Figures()
    assert line.number("turns") == 0


def test_the_notes_of_joins_stay_few_and_good_however_long_the_line_is(line: Line) -> None:
    line.control("pause")
    tickets = []
    for number in range(3000):
        tickets.append(line.place(f"v{number}"))
        line.wait(2)
    notes = line.members("joins")
    assert len(notes) < 2000, len(notes)
    line.end(tickets[1500])
    told = _figures(line).left
    assert (told.count, _at(told, 3000)) == (1, 1)


def test_a_quantile_lies_within_its_bucket() -> None:
    times = Times({0: 10, 10: 30, 20: 10})
    assert times.quantile_s(0.1) == pytest.approx(0.5)
    assert bucket_from_s(10) < (times.quantile_s(0.5) or 0) < bucket_from_s(11)
    assert Times().quantile_s(0.5) is None
    assert Times({}, 3).quantile_s(0.5) is None
    assert Times({}, 3).count == 3
