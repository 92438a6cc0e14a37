"""Batches by an operator: the present first, in order, never above the caps, and once for a request id."""

from __future__ import annotations

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line


@pytest.fixture
def manual(store: Store) -> Line:
    return Line(store, admit_per_minute=None, manual=True)


def test_nobody_is_called_by_itself(manual: Line) -> None:
    tickets = manual.places(3)
    manual.live(120)
    assert all(manual.touch(ticket, wants_in=True).verdict == "waiting" for ticket in tickets)


def test_a_batch_calls_the_next_in_order_and_leaves_no_credit(manual: Line) -> None:
    tickets = manual.places(5)
    answer = manual.admit(3)
    assert (answer.verdict, answer.number(0)) == ("ok", 3)
    assert manual.positions("called") == [1, 2, 3]
    assert manual.admit(10).number(0) == 2, "never more than wait"
    assert [manual.touch(ticket, wants_in=True).verdict for ticket in tickets] == ["inside"] * 5
    assert manual.join("v6", wants_in=True).verdict == "waiting"


def test_a_repeated_request_calls_nobody_twice_for_an_hour(manual: Line) -> None:
    manual.places(30)
    first = manual.admit(4, "batch")
    for _ in range(6):
        manual.live(590, every_s=30)
        for number in range(50):
            manual.admit(0, f"other-{manual.now_ms}-{number}")
        again = manual.admit(4, "batch")
        assert (again.verdict, again.details) == (first.verdict, first.details)
    assert manual.number("cursor") == 4


def test_an_id_that_came_with_another_print_is_refused_and_changes_nothing(manual: Line) -> None:
    manual.places(9)
    assert manual.admit(4, "batch.a1").number(0) == 4
    assert [manual.admit(6, each).verdict for each in ("batch.b2", "batch")] == ["reused"] * 2
    assert (manual.admit(4, "batch.a1").number(0), manual.number("cursor")) == (4, 4)
    assert manual.set_limits("one.a", max_active=5).verdict == "ok"
    assert manual.set_limits("one.b", max_active=6).verdict == "reused"
    assert manual.number("max_active") == 5
    assert manual.control("pause", "same.x").verdict == "ok"
    assert manual.control("pause", "same.y").verdict == "reused"


def test_request_ids_of_different_steps_do_not_meet(manual: Line) -> None:
    manual.places(3)
    assert manual.control("pause", "same").details[0] == "paused"
    assert manual.control("resume", "same").details[0] == "open"
    assert manual.admit(2, "same").number(0) == 2


def test_remembered_requests_are_bounded_and_old_ones_make_room(manual: Line) -> None:
    verdicts = [manual.admit(0, f"r{number}").verdict for number in range(5_010)]
    assert verdicts == ["ok"] * 5_000 + ["busy"] * 10
    assert manual.control("pause", "one more").verdict == "busy"
    assert manual.set_limits("one more", max_active=5).verdict == "busy"
    assert manual.admit(0, "r17").verdict == "ok", "a repeat is no new one"
    manual.live(3_700, every_s=60)
    assert manual.admit(0, "later").verdict == "ok"
    assert manual.store.command("HLEN", "st:{q}:requests") == 1


def test_the_present_come_first_and_the_absent_who_had_their_time_are_passed(manual: Line) -> None:
    tickets = manual.places(10)
    present = [tickets[number] for number in (1, 4, 8)]
    for _ in range(20):
        manual.wait(10)
        for ticket in present:
            manual.touch(ticket)
    assert manual.admit(2).number(0) == 2
    assert manual.positions("called") == [2, 5]
    assert manual.admit(5).number(0) == 1
    assert manual.positions("called") == [2, 5, 9]


def test_behind_the_window_people_are_called_without_a_sign_of_life(manual: Line) -> None:
    manual.places(400)
    assert manual.number("horizon") < 300
    answer = manual.admit(300)
    assert answer.number(0) == 300
    assert manual.positions("called") == list(range(1, 301))


def test_who_left_is_not_called_and_a_thousand_of_them_stop_no_batch(manual: Line) -> None:
    tickets = manual.places(1_300)
    for ticket in tickets[100:1_250]:
        manual.end(ticket)
    called = [manual.admit(100).number(0) for _ in range(4)]
    assert sum(called) == 150
    assert manual.positions("called") == [*range(1, 101), *range(1_251, 1_301)]


def test_a_batch_is_never_above_max_active(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=4, manual=True)
    line.places(10)
    assert line.admit(500).number(0) == 4
    assert line.admit(500).number(0) == 0


def test_a_batch_is_never_above_the_inventory(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=4, manual=True)
    line.places(10)
    assert [line.admit(3).number(0), line.admit(3).number(0)] == [3, 1]


def test_a_batch_obeys_the_rate_at_the_claim(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=2, manual=True)
    tickets = line.places(6)
    assert line.admit(6).number(0) == 6
    retries = [
        answer.number(2)
        for ticket in tickets
        if (answer := line.touch(ticket, wants_in=True)).verdict == "called"
    ]
    assert retries == [1000, 2000, 3000, 4000]
    for ticket in tickets[2:]:
        line.wait(1)
        line.claim(ticket)


def test_a_batch_while_paused_says_so_and_may_be_repeated_afterwards(manual: Line) -> None:
    manual.places(3)
    manual.control("pause")
    assert manual.admit(2, "batch").verdict == "paused"
    manual.control("resume")
    assert manual.admit(2, "batch").number(0) == 2


@pytest.mark.parametrize("count", [0, -3])
def test_a_batch_of_nobody_calls_nobody(manual: Line, count: int) -> None:
    manual.places(3)
    assert manual.admit(count).number(0) == 0


def test_one_step_is_bounded_whatever_is_asked(manual: Line) -> None:
    manual.places(700)
    assert manual.admit(10**9).number(0) == 500


def test_absent_people_whom_a_batch_called_cost_one_lease(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=2, manual=True, claim_within_s=60)
    tickets = line.places(300)
    line.admit(2)
    line.live(61)
    assert line.positions("called") == []
    assert line.admit(2).number(0) == 2
    assert line.touch(tickets[0], wants_in=True).verdict == "waiting", "the late one waits for the next batch"
    line.live(61)
    line.admit(2)
    assert line.touch(tickets[0], wants_in=True).verdict == "inside"
