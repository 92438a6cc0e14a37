"""Where a visitor stands: one shape of the status JSON for every state, every key always there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edge.core import pages, standing
from edge.core.admission import WaitRange
from edge.core.lines import gives_no_places, turned_away
from edge.core.snapshot import Snapshot
from edge.core.standing import STATES, Standing
from edge.core.states import QUEUE_STATES, VISITOR_STATES, QueueState
from tests.core.support import World

KEYS = ["queue", "state", "position", "ahead", "wait_s", "poll_s", "epoch", "now", "claim_left_s", "opens_at",
        "message", "arrival", "draw", "lane", "sign_in", "challenge"]  # fmt: skip
QUEUE = World(start=False).queue()


def snapshot(**values: Any) -> Snapshot:
    base: dict[str, Any] = {"epoch": "e1", "clock_ms": 0, "status": "open", "length": 100, "cursor": 3, "horizon": 50,
                            "config_version": 1, "admit_per_minute": 10, "max_active": None}  # fmt: skip
    return Snapshot(**base | values)


@pytest.mark.parametrize("state", STATES)
def test_every_key_is_always_there(state: str) -> None:
    for where in (
        Standing(QUEUE, state, 5),
        Standing(QUEUE, state, 5, "e1", 17, 3, WaitRange(60, 90), 7),
        Standing(QUEUE, state, 5, "e1", 17, 3, None, 7, 30, "", 1_900_000_000_000, 'Say "hi" <&>', 4, True, "/d", "vip"),
    ):
        assert list(where.status()) == KEYS
        assert json.loads(where.status_text()) == where.status()
        assert where.status()["queue"] == "launch"
        assert where.status()["now"] == 5


def test_what_few_have_is_said_too() -> None:
    where = Standing(QUEUE, "called", 5, claim_left_s=30, opens_at_ms=1_900_000_000_999, message="a", arrival=4, draw_url="/d")
    status = where.status()
    assert (status["claim_left_s"], status["opens_at"]) == (30, "2030-03-17T17:46:40Z")
    assert (status["message"], status["arrival"], status["draw"]) == ("a", 4, "/d")
    assert Standing(QUEUE, "waiting", 5, claim_left_s=30).status()["claim_left_s"] is None


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_a_page(state: str) -> None:
    assert pages.page_state(state) in pages.STATES


def test_what_is_not_known_is_null() -> None:
    status = Standing(QUEUE, "candidate", 5).status()
    assert [status[key] for key in ("position", "ahead", "wait_s", "epoch")] == [None] * 4
    assert Standing(QUEUE, "waiting", 5, "e1", 4, 0, WaitRange(0, 5)).status()["wait_s"] == {"low": 0, "high": 5}


def test_a_place_in_line() -> None:
    where = standing.in_line(QUEUE, snapshot(), 10, 99)
    assert (where.state, where.position, where.ahead, where.epoch, where.now_ms) == ("waiting", 10, 6, "e1", 99)


@pytest.mark.parametrize("status", ["paused", "closed", "sold_out", "not_open"])
def test_a_queue_that_does_not_move_keeps_the_position(status: str) -> None:
    where = standing.in_line(QUEUE, snapshot(status=status), 10, 99)
    assert (where.state, where.position, where.wait) == (status, 10, None)


def test_a_queue_that_recovers_keeps_its_people_waiting() -> None:
    assert standing.in_line(QUEUE, snapshot(status="recovering"), 10, 99).state == "waiting"


def test_a_turn_is_said_a_little_shorter_than_it_is() -> None:
    where = standing.called(QUEUE, snapshot(cursor=10), 10, 99, 60_000, 0)
    assert (where.state, where.ahead, where.claim_left_s, where.poll_s) == ("called", 0, 58, 5)
    assert standing.called(QUEUE, snapshot(cursor=10), 10, 99, 500, 0).claim_left_s == 1


def test_with_a_full_minute_the_turn_is_kept_and_poll_says_when() -> None:
    where = standing.called(QUEUE, snapshot(cursor=10), 10, 99, 60_000, 5_001)
    assert (where.state, where.poll_s, where.wait) == ("called", 6, WaitRange(0, 6))


def test_a_turn_in_a_paused_queue_is_a_pause() -> None:
    where = standing.called(QUEUE, snapshot(cursor=10, status="paused"), 10, 99, 60_000, 0)
    assert (where.state, where.position, where.ahead) == ("paused", 10, 0)


def test_nothing_can_be_said_but_the_place_is_named() -> None:
    status = standing.unavailable(QUEUE, 5, 17, "e1").status()
    assert [status[key] for key in KEYS] == ["launch", "unavailable", 17, None, None, 10, "e1", 5, *[None] * 8]


@pytest.mark.parametrize("state", QUEUE_STATES.values(), ids=lambda state: state.name)
def test_the_status_says_what_the_table_of_states_says(state: QueueState) -> None:
    assert standing.in_line(QUEUE, snapshot(status=state.name), 10, 99).state == state.waiting_sees
    called = standing.called(QUEUE, snapshot(status=state.name), 10, 99, 60_000, 0)
    assert called.state == ("called" if state.claims else state.waiting_sees)
    if not state.joins:
        assert turned_away(QUEUE, snapshot(status=state.name), state.name, 99).state == state.newcomer_sees
    assert gives_no_places(snapshot(status=state.name)) is not state.joins


def test_every_state_of_a_visitor_is_known_to_the_status() -> None:
    assert set(standing.STATES) == set(VISITOR_STATES)
