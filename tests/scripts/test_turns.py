"""Turns: called in order, claimed with a token and a slot, kept while the wait is ours."""

from __future__ import annotations

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line


def test_a_called_visitor_comes_in_by_claiming(line: Line) -> None:
    ticket = line.place("v1")
    inside = line.claim(ticket)
    assert inside.expires_ms == line.now_ms + 300_000
    assert (line.positions("called"), line.positions("active")) == ([], [1])


def test_a_claim_whose_answer_was_lost_gives_the_same_pass_and_takes_one_token(line: Line) -> None:
    ticket = line.place("v1")
    inside = line.claim(ticket)
    units = line.number("units")
    for _ in range(3):
        assert line.claim(ticket) == inside
    assert line.number("units") == units
    line.live(1)
    assert line.number("admitted") == 1


def test_two_tabs_with_one_place_share_one_slot(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    ticket = line.place("v1")
    first_tab, second_tab = line.claim(ticket), line.claim(ticket)
    assert first_tab == second_tab
    assert line.positions("active") == [1]


def test_calls_run_in_order_whoever_asks_first(line: Line) -> None:
    tickets = line.places(60)
    had_turn: set[int] = set()
    for _ in range(40):
        line.wait(1)
        for ticket in reversed(tickets):
            line.touch(ticket, wants_in=True)
            now = {*line.positions("called"), *line.positions("active")}
            assert min(now - had_turn, default=61) > max(had_turn, default=0)
            had_turn |= now
    assert had_turn == set(range(1, len(had_turn) + 1))
    assert len(had_turn) >= 45


def test_when_the_minute_is_full_the_turn_is_kept_and_the_answer_says_when(store: Store) -> None:
    line = Line(store, burst=1, claim_within_s=10)
    tickets = line.places(3)
    line.claim(tickets[0])
    answer = line.touch(tickets[1], wants_in=True)
    assert (answer.verdict, answer.number(1), answer.number(2)) == ("called", 11_000, 1_000)
    answer = line.touch(tickets[2], wants_in=True)
    assert (answer.verdict, answer.number(1), answer.number(2)) == ("called", 12_000, 2_000), (
        "behind the one before"
    )
    line.wait(1)
    line.claim(tickets[1])
    line.wait(1)
    line.claim(tickets[2])


def test_a_token_waits_for_whom_it_was_promised_to(store: Store) -> None:
    """A late newcomer among the called does not take the token of one who was told when to come."""
    line = Line(store, burst=1)
    one, two, three = line.places(3)
    line.claim(one)
    assert line.touch(two, wants_in=True).number(2) == 1_000
    line.wait(0.999)
    assert line.touch(three, wants_in=True).number(2) == 1_001
    line.wait(0.001)
    line.claim(two)


def test_asking_too_early_changes_no_promise(store: Store) -> None:
    line = Line(store, burst=1)
    tickets = line.places(4)
    line.claim(tickets[0])
    for waited in (0.0, 0.25, 0.5):
        line.now_ms += 250 if waited else 0
        retries = [line.touch(ticket, wants_in=True).number(2) for ticket in tickets[1:]]
        assert retries == [round((1 - waited) * 1000) + extra for extra in (0, 1000, 2000)]


def test_a_token_that_nobody_fetches_goes_to_the_next(store: Store) -> None:
    line = Line(store, burst=1)
    one, two, three = line.places(3)
    line.claim(one)
    assert line.touch(two, wants_in=True).verdict == "called"
    line.wait(3)
    line.claim(three)


def test_calls_do_not_run_ahead_by_their_own_waiting_time(store: Store) -> None:
    """Measuring the wait for a token as the visitor's would call people up to a whole lease ahead."""
    line = Line(store, burst=1)
    waiting = line.places(150)
    most = 0
    for _ in range(120):
        line.wait(1)
        for ticket in list(waiting[:40]):
            if line.touch(ticket, wants_in=True).verdict == "inside":
                waiting.remove(ticket)
        most = max(most, len(line.positions("called")))
    assert len(waiting) <= 32
    assert most <= 15, "a lease is two minutes: 120 called would be two minutes of tokens"


def test_the_rate_holds_in_every_minute_and_idle_time_earns_no_more_than_the_burst(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=5)
    line.wait(3600)
    waiting, claims = line.places(120), []
    for _ in range(400):
        line.wait(0.25)
        for ticket in list(waiting[:12]):
            if line.touch(ticket, wants_in=True).verdict == "inside":
                claims.append(line.now_ms)
                waiting.remove(ticket)
    assert len(claims) >= 100
    assert sum(1 for claim in claims if claim <= claims[0] + 250) == 5
    for start in claims:
        assert sum(1 for claim in claims if start <= claim < start + 60_000) <= 65


def test_a_rate_of_zero_lets_nobody_in_not_even_the_first(store: Store) -> None:
    line = Line(store, admit_per_minute=0)
    ticket = line.place("v1")
    line.wait(120)
    assert line.touch(ticket, wants_in=True).verdict in ("waiting", "called")
    line.set_limits(admit_per_minute=60)
    line.wait(2)
    line.claim(ticket)
    line.set_limits(admit_per_minute=0)
    assert line.join("v2", wants_in=True).verdict in ("waiting", "called")


def test_no_limit_but_a_line_calls_everybody_at_once(store: Store) -> None:
    line = Line(store, admit_per_minute=None, always_queue=True)
    assert line.join("v1", direct=True, wants_in=True).verdict == "candidate"
    assert line.join("v1", wants_in=True).verdict == "inside"


def test_aws_208_capacity_is_counted_with_those_called(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=10)
    line.places(30)
    line.snapshot()
    assert line.positions("called") == list(range(1, 11))


@pytest.mark.parametrize("way", ["by the button", "by closing the tab"])
def test_aws_154_capacity_10_of_30_the_next_ten_leave_before_they_are_called_drains_to_21_30(
    store: Store, way: str
) -> None:
    line = Line(store, admit_per_minute=None, max_active=10)
    tickets = line.places(30)
    first, leavers, last = ([line.claim(t) for t in tickets[:10]], tickets[10:20], tickets[20:])
    if way == "by the button":
        for ticket in leavers:
            assert line.end(ticket).verdict == "left"
    for held in first:
        assert line.end(held).verdict == "freed"
    inside: list[int] = []
    for _ in range(120):  # ten minutes: one lease, if the leavers had shown life and just closed the tab
        line.wait(5)
        inside += [
            t.position
            for t in last
            if t.position not in inside and line.touch(t, wants_in=True).verdict == "inside"
        ]
    assert sorted(inside) == list(range(21, 31))


def test_aws_247_the_browser_closed_at_your_turn_costs_one_lease_and_then_the_next_is_called(
    store: Store,
) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, claim_within_s=60)
    gone, present = line.places(2)
    for _ in range(11):
        line.wait(5)
        assert line.touch(present, wants_in=True).verdict == "waiting"
    line.wait(5)
    line.claim(present)
    assert line.number("missed") == 1
    assert gone.position == 1


def test_a_turn_lasts_to_the_last_moment_of_its_lease(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, claim_within_s=60)
    ticket = line.place("v1")
    line.live(59.9, every_s=5)
    assert line.number("missed") == 0
    line.claim(ticket)


def test_aws_247_the_late_one_comes_back_to_the_head_twice_and_then_no_more(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, claim_within_s=60)
    late = line.place("late")
    for missed in (1, 2):
        line.live(70)
        assert line.number("missed") == missed
        assert line.touch(late).verdict == "called", "back at the head, with a new lease"
    line.live(70)
    assert line.touch(late).verdict == "lapsed"
    assert line.number("lapsed") == 1
    assert line.join("next", wants_in=True).verdict == "inside"


def test_the_late_get_at_most_half_of_the_calls_while_others_are_present(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=6, claim_within_s=10)
    late = line.places(6, "late")
    line.live(30, every_s=5)
    assert line.number("missed") == 6
    line.set_limits(max_active=0)
    timely = line.places(6, "timely")
    for ticket in (*late, *timely):
        line.touch(ticket)
    line.set_limits(max_active=6)
    line.snapshot()
    assert line.positions("called") == [1, 2, 3, 7, 8, 9]


def test_single_calls_to_the_late_and_to_others_alternate(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=4, claim_within_s=10)
    late = line.places(4, "late")
    line.live(30, every_s=5)
    line.set_limits(max_active=0)
    timely = line.places(4, "timely")
    everyone, entered = (*late, *timely), []
    for room in range(1, 9):
        for ticket in everyone:
            if ticket.position not in entered:
                line.touch(ticket)
        line.set_limits(max_active=room)
        (called,) = line.positions("called")
        line.claim(everyone[called - 1])
        entered.append(called)
    assert entered == [5, 1, 6, 2, 7, 3, 8, 4]


def test_claims_of_called_visitors_come_in_any_order(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=3)
    tickets = line.places(3)
    for ticket in reversed(tickets):
        line.claim(ticket)
    assert line.positions("active") == [1, 2, 3]


def test_many_freed_slots_are_filled_at_once(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=150)
    first = [line.enter(f"a{n}") for n in range(150)]
    tickets = line.places(180, "b")
    for held in first:
        line.end(held)
    assert len(line.positions("called")) == 150
    assert line.positions("called")[0] == tickets[0].position
