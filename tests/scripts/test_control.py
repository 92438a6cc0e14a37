"""Pause, resume and reset, in every order."""

from __future__ import annotations

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line


def test_a_pause_freezes_turns_and_presence_and_touches_no_one_inside(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=2, claim_within_s=60)
    inside, called, waiting = line.enter("v1"), line.place("v2"), line.place("v3")
    line.wait(50)
    line.control("pause")
    for _ in range(20):
        line.live(100)
        inside = line.ticket("v1", line.renew(inside))
    answer = line.touch(called, wants_in=True)
    assert (answer.verdict, answer.number(1)) == ("called", 30_000), (
        "no more than half a lease by one look, then still"
    )
    line.control("resume")
    line.claim(called)
    assert (line.number("missed"), line.positions("ready")) == (0, [waiting.position])


def test_nobody_is_called_or_let_in_during_a_pause(line: Line) -> None:
    called = line.place("v1")
    line.control("pause")
    line.live(600)
    assert line.touch(called, wants_in=True).verdict == "called"
    assert line.join("v2", wants_in=True).verdict == "waiting"
    assert line.join("v3", direct=True, wants_in=True).verdict == "candidate"
    assert line.members("active") == []


def test_the_step_that_pauses_calls_nobody_any_more(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    line.places(2)
    line.end(line.claim(line.place("v1")))
    line.live(5)
    called = line.positions("called")
    line.live(115, every_s=5)
    line.wait(10)
    line.control("pause")
    assert set(line.positions("called")) <= set(called)


def test_a_pass_may_end_by_itself_in_a_pause(line: Line) -> None:
    held = line.enter("v1")
    line.control("pause")
    line.live(400)
    assert line.renew(held).verdict == "ended"
    assert line.members("active") == []


@pytest.mark.parametrize("action", ["pause", "resume", "reset"])
def test_a_repeated_request_gets_the_first_answer_and_does_nothing(line: Line, action: str) -> None:
    line.places(3)
    first = line.control(action, "once")  # type: ignore[arg-type]
    line.control("resume" if action == "pause" else "pause", "between")
    epoch, status = line.state()["epoch"], line.state()["status"]
    again = line.control(action, "once")  # type: ignore[arg-type]
    assert again.details == first.details
    assert (line.state()["epoch"], line.state()["status"]) == (epoch, status)


def test_aws_214_after_a_reset_an_old_place_answers_no_old_number(line: Line) -> None:
    tickets = line.places(20)
    line.control("reset")
    newcomer = line.place("newcomer")
    assert newcomer.position == 1
    for ticket in tickets[10:12]:
        assert line.touch(ticket, wants_in=True).verdict == "epoch"
        assert line.join(ticket.visitor, old=ticket).number(0) > 1
    assert line.number("length") == 3


def test_aws_214_after_a_reset_an_old_pass_is_refused_at_once(line: Line) -> None:
    held = line.enter("v1")
    line.control("reset")
    assert line.renew(held).verdict == "ended"
    assert line.end(held).verdict == "epoch"
    assert line.members("active") == []


def test_many_resets_bring_no_old_pass_back(line: Line) -> None:
    held = line.enter("v1")
    for number in range(60):
        line.wait(1)
        line.control("reset", f"reset-{number}")
        assert line.renew(held).verdict == "ended"


def test_a_reset_frees_every_slot_and_takes_the_limits_over(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=2)
    for number in range(2):
        line.enter(f"v{number}")
    line.set_limits(max_active=1)
    line.control("reset")
    assert line.join("n1", wants_in=True).verdict == "inside"
    assert line.join("n2", wants_in=True).verdict == "waiting"


def test_a_reset_fills_no_bucket(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=3)
    for number in range(3):
        line.enter(f"v{number}")
    line.control("reset")
    assert line.join("n1", wants_in=True).verdict != "inside", "six in one second would be twice the burst"


def test_a_reset_during_a_pause_stays_paused(line: Line) -> None:
    line.control("pause")
    assert line.control("reset").details[0] == "paused"
    assert line.join("v1", wants_in=True).verdict == "waiting"


def test_nothing_but_the_new_state_is_left_after_a_reset(line: Line) -> None:
    line.end(line.enter("one"))
    line.places(150)
    line.control("reset")
    keys = set(line.store.command("KEYS", "*"))
    assert keys == {"st:{q}:state", "st:{q}:requests"}


def test_resuming_an_open_queue_changes_nothing(line: Line) -> None:
    line.places(3)
    assert line.control("resume").details[0] == "open"
