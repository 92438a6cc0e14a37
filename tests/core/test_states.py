"""The tables of states: whole, in order of precedence, and one with the diagram and the keys of the configuration."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.model import QUEUE_FIELDS
from edge.core.states import (
    MODES,
    MOVES,
    QUEUE_STATES,
    STARTS,
    VISITOR_STATES,
    WAYS_OUT,
    Mode,
    effective_state,
    may_move,
    opening_is_due,
)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "states.md").read_text(encoding="utf-8")
PRE, OPENS, CLOSES = 1000, 2000, 3000
# Which states an operator's mode and the time lead to, without sales and losses: at 500, 1500, 2500 and 3500.
DAY: dict[Mode, tuple[str, str, str, str]] = {
    "open": ("not_open", "prequeue", "open", "closed"),
    "paused": ("paused", "paused", "paused", "closed"),
    "draining": ("not_open", "prequeue", "draining", "closed"),
    "closed": ("closed", "closed", "closed", "closed"),
    "maintenance": ("maintenance",) * 4,
}


@pytest.mark.parametrize("mode", MODES)
def test_a_day_of_a_queue_in_each_mode(mode: Mode) -> None:
    def at(now_ms: int) -> str:
        has_opened = now_ms >= OPENS
        return effective_state(mode, now_ms, prequeue_at_ms=PRE, opens_at_ms=OPENS, closes_at_ms=CLOSES, has_opened=has_opened)

    assert (at(500), at(1500), at(2500), at(3500)) == DAY[mode]


def test_without_a_pre_queue_it_opens_by_the_clock_and_with_one_by_the_draw() -> None:
    assert [effective_state("open", now, opens_at_ms=OPENS) for now in (1999, 2000)] == ["not_open", "open"]
    late = effective_state("open", 9999, prequeue_at_ms=PRE, opens_at_ms=OPENS)
    assert late == "prequeue"
    assert opening_is_due(late, 9999, OPENS)
    assert not opening_is_due("prequeue", 1999, OPENS)
    assert not opening_is_due("open", 9999, OPENS)
    assert not opening_is_due("paused", 9999, OPENS)


def test_sold_out_and_recovering_have_their_places_in_the_order() -> None:
    assert effective_state("draining", 5, is_sold_out=True) == "sold_out"
    assert effective_state("open", 5, is_sold_out=True, is_recovering=True) == "recovering"
    assert effective_state("paused", 5, is_sold_out=True, is_recovering=True) == "paused"
    assert effective_state("open", 1500, prequeue_at_ms=PRE, opens_at_ms=OPENS, is_sold_out=True) == "prequeue"


@given(st.sampled_from(MODES), st.integers(0, 4000), st.booleans(), st.booleans(), st.booleans(), st.data())
def test_the_first_state_of_the_table_that_applies_is_the_state(
    mode: Mode, now_ms: int, has_opened: bool, is_recovering: bool, is_sold_out: bool, data: st.DataObject
) -> None:
    pre, opens, closes = (data.draw(st.sampled_from([None, at])) for at in (PRE, OPENS, CLOSES))
    pre = pre if opens is not None else None
    waits_for_opening = opens is not None and not has_opened
    applies = {
        "maintenance": mode == "maintenance",
        "closed": mode == "closed" or (closes is not None and now_ms >= closes),
        "paused": mode == "paused",
        "recovering": is_recovering,
        "not_open": waits_for_opening and now_ms < (pre if pre is not None else opens or 0),
        "prequeue": waits_for_opening and pre is not None and now_ms >= pre,
        "sold_out": is_sold_out,
        "draining": mode == "draining",
        "open": True,
    }
    expected = next(name for name in QUEUE_STATES if applies[name])
    found = effective_state(mode, now_ms, prequeue_at_ms=pre, opens_at_ms=opens, closes_at_ms=closes, has_opened=has_opened,
                            is_recovering=is_recovering, is_sold_out=is_sold_out)  # fmt: skip
    assert found == expected


def test_the_table_of_queues_is_consistent() -> None:
    assert set(MODES) <= set(QUEUE_STATES)
    for state in QUEUE_STATES.values():
        assert {state.newcomer_sees, state.waiting_sees} <= set(VISITOR_STATES)
        assert state.calls == state.claims, "whoever is called has to be able to come in"
        assert not state.calls or state.lease_clock, "a turn of which the time stands still would never end"
        assert state.joins == (state.newcomer_sees in ("candidate", "unavailable"))


def test_a_visit_can_end_from_everywhere_and_only_once() -> None:
    states = {move.start for move in MOVES} | {move.end for move in MOVES}
    assert {move.start for move in MOVES} & set(WAYS_OUT) == set(), "nothing leads out of an end"
    reaches = set(WAYS_OUT)
    while more := {move.start for move in MOVES if move.end in reaches} - reaches:
        reaches |= more
    assert states - {move.end for move in MOVES} == set(STARTS)
    assert states <= reaches
    assert may_move("called", "inside")
    assert not may_move("waiting", "inside"), "whoever comes in was called"
    assert not may_move("inside", "waiting")


def test_timers_are_keys_of_the_configuration_each_used() -> None:
    keys = {field.name for field in QUEUE_FIELDS}
    timers = {move.timer for move in MOVES} - {""}
    assert timers <= keys
    assert {"presence_grace_s", "claim_within_s", "late_claim_within_s", "idle_s", "visit_max_s", "checkout_s"} == timers


def test_the_diagram_in_the_docs_is_the_table() -> None:
    mermaid = PAGE.partition("```mermaid\n")[2].partition("```")[0]
    arrows = re.findall(r"^ +(\S+) --> (\w+): ", mermaid, re.MULTILINE)
    assert [(start.replace("[*]", "nobody"), end) for start, end in arrows] == [(move.start, move.end) for move in MOVES]
    assert set(re.findall(r"^ +(\w+) --> \[\*\]$", mermaid, re.MULTILINE)) == set(WAYS_OUT)
    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert rows == list(QUEUE_STATES)
