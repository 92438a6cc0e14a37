"""Opening, the pre-queue with its draw, closing, and the operator's modes: what each state gives to whom."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from edge.core import draw
from edge.core.calls import read_member
from edge.core.states import MODES, QUEUE_STATES, effective_state, opening_is_due
from tests.scripts.backends import Store
from tests.scripts.line import START_MS, Line, Ticket

ACTIONS: dict[str, Any] = {
    "open": "open", "paused": "pause", "draining": "drain", "closed": "close", "maintenance": "maintenance",
}  # fmt: skip


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(START_MS / 1000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def prequeue(store: Store, **settings: object) -> Line:
    times = {"prequeue_at": moment(0), "opens_at": moment(600), "spread_s": 20}
    return Line(store, **{**times, "admit_per_minute": None, "max_active": 5, **settings})


def test_nobody_gets_a_place_before_a_queue_without_a_pre_queue_opens(store: Store) -> None:
    line = Line(store, opens_at=moment(600))
    assert line.seen().status == "not_open"
    assert line.join("v1", wants_in=True).details == ("not_open",)
    line.wait(600)
    assert line.join("v1", wants_in=True).verdict == "inside", "the first request after opens_at opens it"


def test_before_the_pre_queue_begins_nobody_gets_a_number(store: Store) -> None:
    line = prequeue(store, prequeue_at=moment(100))
    assert line.join("v1").details == ("not_open",)
    line.wait(100)
    assert line.join("v1").is_arrival


def test_arrivals_get_numbers_and_nobody_is_called_before_the_opening(store: Store) -> None:
    line = prequeue(store)
    tickets = line.places(30)
    assert [ticket.position for ticket in tickets] == list(range(1, 31))
    assert all(ticket.is_arrival for ticket in tickets)
    assert line.place("v7") == tickets[6]
    line.wait(599)
    assert line.touch(tickets[0], wants_in=True).verdict == "waiting"
    assert (line.seen().status, line.members("called"), line.members("ready")) == ("prequeue", [], [])


def test_the_order_is_drawn_once_and_anyone_can_recompute_it(store: Store) -> None:
    line = prequeue(store)
    tickets = line.places(40)
    line.wait(600)
    seed = draw.seed(b"k" * 32, "q", line.state()["epoch"], START_MS + 600_000)
    key = draw.key(seed)
    assert line.open_queue(seed, key).details == ("40",)
    assert line.open_queue("other", "other").verdict == "kept"
    snapshot = line.seen()
    assert (snapshot.status, snapshot.drawn, snapshot.draw_key, snapshot.draw_seed) == ("open", 40, key, seed)
    places = [line.touch(ticket).number(0) for ticket in tickets]
    assert places == [draw.place(key, 0, number, 40) for number in range(1, 41)]
    assert sorted(places) == list(range(1, 41))
    arrivals = [(0, ticket.position, draw.visitor_hash(ticket.visitor)) for ticket in tickets]
    assert snapshot.chain == draw.chain_head(arrivals)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 70_000])
def test_the_scripts_draw_as_python_does(store: Store, count: int) -> None:
    line = prequeue(store)
    line.place("v1")
    line.store.command("HSET", "st:{q}:state", "length", str(count))
    line.wait(600)
    line.open_queue(key="ab" * 32)
    for number in {1, count, (count + 1) // 2}:
        ticket = Ticket("someone", line.state()["epoch"], number, is_arrival=True)
        line.store.command("HSET", "st:{q}:places", "someone", str(number))
        assert line.touch(ticket).number(0) == draw.place("ab" * 32, 0, number, count)


def test_after_the_opening_the_drawn_order_is_the_order_of_the_calls(store: Store) -> None:
    line = prequeue(store)
    tickets = line.places(20)
    line.wait(600)
    line.open_queue()
    line.snapshot()
    late = line.place("after")
    assert (late.position, late.is_arrival) == (21, False), "arrivals after the opening line up behind"
    for _ in range(5):
        for ticket in tickets:
            line.touch(ticket, wants_in=True)
        line.wait(5)
    inside = [line.touch(ticket).number(0) for ticket in tickets if line.touch(ticket).verdict == "inside"]
    assert sorted(inside) == [1, 2, 3, 4, 5]


def test_without_a_spread_the_drawn_order_holds_too(store: Store) -> None:
    line = prequeue(store, spread_s=0, admit_per_minute=1, max_active=1)
    tickets = line.places(5)
    line.wait(600)
    line.open_queue()
    by_place = {draw.place("ce1", 0, ticket.position, 5): ticket for ticket in tickets}
    # Whoever happens to ask first after the opening is not the first for that.
    for place in (3, 2, 4, 5, 1):
        line.wait(0.3)
        line.touch(by_place[place])
    for _ in range(6):
        line.wait(2)
        for place in (3, 2, 4, 5, 1):
            line.touch(by_place[place])
        if line.members("called"):
            break
    assert line.members("called") == ["1"]


def test_a_drawn_place_and_the_number_it_came_from_are_one_visitor(store: Store) -> None:
    line = prequeue(store)
    (ticket,) = [line.place("v1")]
    line.places(9, "other")
    line.wait(600)
    line.open_queue()
    by_number = line.touch(ticket)
    by_place = line.touch(line.ticket("v1", by_number))
    again = line.join("v1")
    assert by_number.details[0] == by_place.details[0] == again.details[0]
    assert not by_number.is_arrival
    line.end(line.ticket("v1", by_number))
    assert line.touch(ticket).verdict == "ended"


def test_who_leaves_the_pre_queue_is_out_of_it(store: Store) -> None:
    line = prequeue(store)
    ticket = line.place("v1")
    assert line.end(ticket).verdict == "left"
    assert line.end(ticket).verdict == "already"
    assert line.touch(ticket).verdict == "waiting" or line.touch(ticket).verdict == "ended"
    assert line.join("v1").verdict == "ended"
    line.wait(600)
    line.open_queue()
    assert line.touch(ticket, wants_in=True).verdict == "ended"


def test_the_event_stream_carries_the_arrivals_of_the_chain(store: Store) -> None:
    line = prequeue(store, events=True)
    tickets = line.places(5)
    found = store.command("XRANGE", "st:{q}:events", "-", "+")
    told = [what.split() for _, fields in found for what in fields[3].split("\n")]
    arrivals = [(*read_member(member), sha1) for kind, member, *rest in told if kind == "arrived" for sha1 in rest]
    assert [(line_, number) for line_, number, _ in arrivals] == [(0, ticket.position) for ticket in tickets]
    assert draw.chain_head(arrivals) == line.seen().chain


def test_the_window_follows_the_outflow_while_every_slot_is_taken(store: Store) -> None:
    """A high rate asks nobody far back for a sign of life when it is the slots that hold people."""
    line = Line(store, admit_per_minute=6_000, max_active=1)
    line.enter("in")
    tickets = line.places(1_500)
    for _ in range(8):
        line.wait(20)
        for ticket in tickets[: line.number("horizon")]:
            line.touch(ticket)
    assert line.number("horizon") <= 300


def test_the_draw_waits_for_a_public_random_value_that_was_named(store: Store) -> None:
    line = prequeue(store, draw_beacon="round 7 of the public beacon")
    line.place("v1")
    assert line.control("beacon", text="too early").verdict == "refused"
    line.wait(600)
    assert line.open_queue().verdict == "kept"
    late = line.place("late")
    assert line.control("beacon", text="c0ffee").verdict == "ok"
    assert line.control("beacon", text="other").verdict == "refused", "the first one told counts"
    assert line.open_queue().verdict == "kept", "the key must be of this value"
    assert line.open_queue(beacon="c0ffee").verdict == "opened"
    assert (line.seen().drawn, line.touch(late).number(0)) == (1, 2), "who came when N was fixed stands behind the draw"


def test_n_is_fixed_at_the_opening_time_whoever_opens_later(store: Store) -> None:
    line = prequeue(store)
    tickets = line.places(3)
    line.wait(600)
    after = line.places(4, "after")
    assert [ticket.is_arrival for ticket in after] == [True] * 4
    line.wait(30)
    line.open_queue(key="ab" * 32)
    snapshot = line.seen()
    assert snapshot.drawn == 3
    assert sorted(line.touch(ticket).number(0) for ticket in tickets) == [1, 2, 3]
    assert [line.touch(ticket).number(0) for ticket in after] == [4, 5, 6, 7]
    assert snapshot.chain == draw.chain_head((0, t.position, draw.visitor_hash(t.visitor)) for t in tickets)


def test_in_order_of_arrival_a_pre_queue_opens_by_itself(store: Store) -> None:
    line = prequeue(store, prequeue_order="arrival", max_active=2)
    tickets = line.places(6)
    line.wait(600)
    for ticket in reversed(tickets):
        line.touch(ticket, wants_in=True)
    line.wait(20)
    came = [ticket.position for ticket in tickets if line.touch(ticket, wants_in=True).verdict == "inside"]
    assert came == [1, 2]


def test_the_first_turns_last_longer_by_the_spread(store: Store) -> None:
    line = prequeue(store, claim_within_s=60)
    ticket = line.place("v1")
    line.wait(600)
    line.open_queue()
    line.touch(ticket)
    line.wait(20)
    answer = line.touch(ticket)
    assert (answer.verdict, answer.number(1)) == ("called", 80_000)


def test_an_operator_opens_before_the_time(store: Store) -> None:
    line = prequeue(store)
    ticket = line.place("v1")
    line.control("open")
    seen = line.seen()
    assert opening_is_due(seen.status, seen.clock_ms, seen.opens_at_ms)
    line.open_queue()
    line.touch(ticket)
    line.wait(20)
    line.claim(ticket)


def test_a_reset_after_the_opening_is_open_at_once(store: Store) -> None:
    line = prequeue(store)
    line.place("v1")
    line.wait(600)
    line.open_queue()
    line.control("reset")
    assert line.join("v2", wants_in=True).verdict == "inside"


def test_lost_state_after_the_opening_is_not_drawn_again(store: Store) -> None:
    line = prequeue(store, idle_s=60, renew_every_s=20)
    tickets = line.places(10)
    line.wait(600)
    line.open_queue()
    drawn = sorted((line.ticket(t.visitor, line.touch(t)) for t in tickets), key=lambda t: t.position)
    store.command("FLUSHALL")
    line.configure()
    for ticket in reversed(drawn):
        line.join(ticket.visitor, old=ticket)
    line.live(100, every_s=5)
    assert line.seen().status == "open"
    back = [line.join(ticket.visitor, old=ticket).number(0) for ticket in drawn]
    assert back == list(range(1, 11))


def test_closing_by_the_clock(store: Store) -> None:
    line = Line(store, closes_at=moment(60), admit_per_minute=None, max_active=1)
    held = line.enter("in")
    ticket = line.place("v1")
    line.wait(60)
    assert line.seen().status == "closed"
    assert line.join("v2").details == ("closed",)
    assert line.renew(held).verdict == "inside", "those inside are left alone"
    line.end(held)
    assert line.touch(ticket, wants_in=True).verdict == "waiting"


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_gives_what_the_table_says(store: Store, mode: str) -> None:
    line = Line(store, admit_per_minute=None, max_active=2, claim_within_s=60)
    held = line.enter("in")
    called, waiting = line.place("called"), line.place("waiting")
    assert line.control(ACTIONS[mode]).details[0] == mode
    row = QUEUE_STATES[mode]
    newcomer = line.join("new")
    assert (newcomer.verdict == "waiting") == row.joins, newcomer
    line.live(30, every_s=5)
    assert line.renew(held).verdict == "inside"
    line.live(60, every_s=5)
    assert line.renew(line.ticket("in", line.renew(held))).verdict == "inside"
    assert (line.number("missed") > 0) == row.lease_clock, "a turn ends only where its clock runs"
    line.control("open")
    if not row.lease_clock:
        line.claim(called)
    line.end(held)
    assert line.touch(waiting, wants_in=True).verdict == "inside"


def test_draining_serves_those_in_line_and_takes_no_others(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    held, ticket = line.enter("in"), line.place("v1")
    line.control("drain")
    assert line.join("v2", direct=True, wants_in=True).details == ("draining",)
    line.end(held)
    line.claim(ticket)


def test_sold_out_ends_when_units_come_back(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=1)
    line.end(line.enter("buyer"), "completed")
    assert line.seen().status == "sold_out"
    assert line.join("late").details == ("sold_out",)
    line.set_limits(inventory=2)
    assert line.join("late", wants_in=True).verdict == "inside"


def test_the_effective_state_is_that_of_the_table(store: Store) -> None:
    """Every mode crossed with the schedule, the stock and the clock."""
    for mode, action in ACTIONS.items():
        for opens, sold in ((None, 0), (600, 0), (None, 1)):
            store.command("FLUSHALL")
            line = Line(store, admit_per_minute=None, inventory=1, opens_at=moment(opens) if opens else None)
            if sold:
                line.end(line.enter("b"), "completed")
            if action != "open":
                line.control(action)
            expected = effective_state(
                mode,  # type: ignore[arg-type]
                line.now_ms,
                opens_at_ms=START_MS + 600_000 if opens else None,
                has_opened=False,
                is_sold_out=bool(sold),
            )
            assert line.seen().status == expected, (mode, opens, sold)
