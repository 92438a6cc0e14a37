"""Who was called and did not come, and who was away when the turn came by: a stated, bounded right to come back."""

from __future__ import annotations

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket


def missed(store: Store, **settings: object) -> tuple[Line, Ticket]:
    """A line with one slot whose only waiter let the turn go."""
    line = Line(store, **{"admit_per_minute": None, "max_active": 1, "claim_within_s": 60, **settings})
    held = line.enter("in")
    late = line.place("late")
    line.end(held)
    line.live(70)
    assert line.number("missed") == 1
    return line, late


def test_at_the_head_the_late_one_is_called_next(store: Store) -> None:
    line, late = missed(store)
    assert line.touch(late).verdict == "called"


def test_at_the_head_only_within_the_stated_time(store: Store) -> None:
    line, late = missed(store, late_claim_within_s=300)
    line.live(60 + 300 + 40)
    answer = line.touch(late, wants_in=True)
    assert (answer.verdict, answer.details[1]) == ("lapsed", "back")
    assert line.touch(late).verdict == "lapsed", "and stays so"
    assert line.number("lapsed") == 1
    assert line.join("late again", wants_in=True).verdict == "inside"


@pytest.mark.parametrize("late_claim", ["back", "refused"])
def test_elsewhere_the_place_is_over(store: Store, late_claim: str) -> None:
    line, late = missed(store, late_claim=late_claim)
    answer = line.touch(late, wants_in=True)
    assert (answer.verdict, answer.details[1]) == ("lapsed", late_claim)
    assert line.members("ready") == []
    assert line.end(late).verdict == "already"


@pytest.mark.parametrize("late_claim", ["head", "back", "refused"])
def test_who_was_only_passed_over_comes_back_at_the_head(store: Store, late_claim: str) -> None:
    """Nobody was called for this one: the page was shut, or the phone slept."""
    line = Line(store, admit_per_minute=None, max_active=1, settle_s=20, presence_grace_s=40, late_claim=late_claim)
    held = line.enter("in")
    sleeper, awake = line.place("sleeper"), line.place("awake")
    for _ in range(10):
        line.wait(10)
        line.touch(awake)
    line.renew(held)
    line.end(held)
    inside = line.claim(awake)
    assert line.touch(sleeper).verdict == "waiting"
    line.end(inside)
    line.claim(sleeper)


@pytest.mark.parametrize("percent", [10, 50, 100])
def test_the_late_get_their_share_of_the_calls_and_no_more(store: Store, percent: int) -> None:
    line = Line(store, admit_per_minute=None, max_active=20, claim_within_s=10, late_share_percent=percent)
    late = line.places(20, "late")
    line.live(30, every_s=5)
    line.set_limits(max_active=0)
    timely = line.places(20, "timely")
    for ticket in (*late, *timely):
        line.touch(ticket)
    line.set_limits(max_active=20)
    called = {int(member) for member in line.members("called")}
    assert len(called & {ticket.position for ticket in late}) == 20 * percent // 100


def test_a_closed_page_at_the_turn_costs_seconds_and_a_reload_costs_nothing(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, claim_within_s=120)
    held = line.enter("in")
    one, two = line.places(2)
    line.end(held)
    assert line.touch(one).verdict == "called"
    assert line.end(one, "away").verdict == "away"
    line.wait(5)
    inside = line.claim(one)
    line.end(inside)
    assert line.touch(two).verdict == "called"
    line.end(two, "away")
    line.wait(16)
    assert line.join("next", wants_in=True).verdict == "inside", "not after the whole lease"
    assert line.touch(two).verdict == "waiting", "the place is kept"


def test_away_takes_who_waits_out_of_the_present_and_the_place_stays(store: Store) -> None:
    line = Line(store, admit_per_minute=0)
    ticket = line.place("v1")
    assert line.members("ready") == ["1"]
    assert line.end(ticket, "away").verdict == "away"
    assert line.members("ready") == []
    assert line.touch(ticket).verdict == "waiting"
    assert line.members("ready") == ["1"]


def test_away_of_somebody_inside_ends_nothing(store: Store) -> None:
    line = Line(store, admit_per_minute=None)
    held = line.enter("v1")
    assert line.end(held, "away").verdict == "away"
    assert line.renew(held).verdict == "inside"


def test_a_batch_over_the_rate_comes_in_at_once_and_takes_no_tokens(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=1, max_active=10)
    first = line.claim(line.place("first"))
    tickets = line.places(6)
    line.set_limits(admit_per_minute=0)
    assert line.touch(tickets[5], wants_in=True).verdict in ("waiting", "called")
    called = int(line.admit(5, over_rate=True).details[0])
    came = [ticket for ticket in tickets if line.touch(ticket, wants_in=True).verdict == "inside"]
    assert len(came) == called
    assert line.number("over_rate") == 0
    assert line.number("units") <= 0 or line.number("units") < 60_000
    line.end(first)


def test_a_batch_over_the_rate_obeys_the_other_limits(store: Store) -> None:
    line = Line(store, admit_per_minute=0, max_active=4, inventory=3)
    line.places(10)
    assert line.admit(10, over_rate=True).details == ("3",)
