"""Joining: one position for one visitor, in order; none without a cookie while others queue."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket


def test_positions_count_up_from_one(line: Line) -> None:
    assert [ticket.position for ticket in line.places(5)] == [1, 2, 3, 4, 5]


def test_opeka_18_26_no_two_see_the_same_number_and_a_reload_reorders_nobody(line: Line) -> None:
    tickets = line.places(40)
    for ticket in tickets[::3]:
        assert line.place(ticket.visitor) == ticket
    assert [line.place(ticket.visitor).position for ticket in tickets] == list(range(1, 41))
    assert line.number("length") == 40


@pytest.mark.parametrize("others", [0, 200])
def test_a_join_whose_answer_was_lost_gives_the_same_place_again(line: Line, others: int) -> None:
    """In the window and far behind it, where another path answers."""
    line.places(others, "before")
    line.snapshot()
    first = line.place("late-tram")
    line.wait(0.1)
    assert line.place("late-tram") == first
    line.wait(600)
    assert line.join("late-tram").number(0) == first.position
    assert line.number("length") == others + 1


def test_a_join_that_let_the_visitor_in_gives_the_same_pass_again(line: Line) -> None:
    first = line.enter("v1")
    line.wait(3)
    again = line.join("v1", wants_in=True)
    assert (again.verdict, again.number(0), again.number(1)) == ("inside", first.position, first.expires_ms)
    assert line.members("active") == ["1"]
    assert line.number("admitted") == 1


def test_a_place_is_found_by_its_visitor_for_an_hour_and_the_map_does_not_grow_for_ever(line: Line) -> None:
    first = line.place("v1")
    line.live(3590)
    assert line.join("v1").number(0) == first.position
    line.live(3 * 3600)
    assert line.store.command("EXISTS", "st:{q}:places", "st:{q}:places-old") == 0


def test_a_token_of_this_epoch_is_a_place_though_the_map_has_forgotten_it(line: Line) -> None:
    line.set_limits(admit_per_minute=0)
    ticket = line.place("v1")
    line.live(3 * 3600)
    assert line.join("v1", old=ticket).number(0) == ticket.position
    assert line.number("length") == 1


def test_nobody_queues_in_an_empty_queue_and_a_newcomer_without_cookie_comes_in_at_once(line: Line) -> None:
    assert line.join("v1", direct=True, wants_in=True).verdict == "inside"


@pytest.mark.parametrize("why", ["waiting", "called", "no token", "no slot", "paused", "manual", "always"])
def test_cloudflare_bots_without_cookies_take_no_position_while_others_queue(store: Store, why: str) -> None:
    settings: dict[str, dict[str, Any]] = {
        "no slot": {"max_active": 1},
        "manual": {"manual": True},
        "always": {"always_queue": True},
    }
    line = Line(store, burst=5, **settings.get(why, {}))
    if why == "waiting":
        line.places(200)
    elif why == "called":
        assert line.join("v1").verdict == "called"
    elif why == "no token":
        line.set_limits(admit_per_minute=0)
    elif why == "no slot":
        line.enter("v1")
    elif why == "paused":
        line.control("pause")
    length = line.number("length")
    for number in range(60):
        assert line.join(f"bot{number}", direct=True, wants_in=True).verdict == "candidate"
        line.wait(0.02)
    assert line.number("length") == length


def test_a_candidate_never_overtakes_who_waits(line: Line) -> None:
    tickets = line.places(30)
    line.wait(1)
    assert line.join("newcomer", direct=True, wants_in=True).verdict == "candidate"
    came_back = line.place("newcomer")
    assert came_back.position == 31 > max(ticket.position for ticket in tickets)


def test_newcomers_are_sent_for_a_cookie_a_while_longer_and_then_no_more(line: Line) -> None:
    """A steady stream of newcomers must not keep the line alive by itself."""
    line.set_limits(burst=60, admit_per_minute=3600)
    line.control("pause")
    line.join("first", direct=True)
    line.control("resume")
    verdicts = []
    for number in range(20):
        line.wait(1)
        verdicts.append(line.join(f"n{number}", direct=True, wants_in=True).verdict)
    assert verdicts[0] == "candidate"
    assert verdicts[-1] == "inside"
    assert verdicts == sorted(verdicts), "candidates first, then nobody any more"


def test_who_comes_after_all_before_have_left_is_next(store: Store) -> None:
    line = Line(store, max_active=1, admit_per_minute=None)
    inside = line.enter("inside")
    tickets = line.places(120)
    assert line.number("horizon") < 121
    for ticket in tickets:
        line.end(ticket)
    line.end(inside)
    assert line.join("next", wants_in=True).verdict == "inside"


def test_a_place_far_behind_the_window_costs_no_write_but_itself(line: Line) -> None:
    line.places(300)
    line.snapshot()
    before = line.state()
    assert line.join("far").verdict == "waiting"
    changed = {name for name, value in line.state().items() if before[name] != value}
    assert changed == {"length"}


@pytest.mark.parametrize("old", [Ticket("v1", "an-old-one", 7), Ticket("v1", "", 0)])
def test_a_foreign_epoch_gives_a_new_place_at_the_end(line: Line, old: Ticket) -> None:
    line.places(3, "other")
    assert line.join("v1", old=old).number(0) == 4
