"""A visit: renewed while used, ended by itself, and its slot freed exactly once however it ends."""

from __future__ import annotations

import pytest

from edge.core.commands import EndReason
from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket


@pytest.fixture
def one_slot(store: Store) -> Line:
    return Line(store, admit_per_minute=None, max_active=1)


def test_a_renewal_gives_a_new_expiry_and_keeps_one_slot(one_slot: Line) -> None:
    held = one_slot.enter("v1")
    one_slot.wait(60)
    renewed = one_slot.ticket("v1", one_slot.renew(held))
    assert renewed.expires_ms == held.expires_ms + 60_000
    assert one_slot.renew(held).verdict == "inside", "a lost answer: the old pass is still good"
    assert one_slot.members("active") == ["1"]


def test_a_pass_that_is_not_used_ends_and_its_slot_goes_to_the_next(one_slot: Line) -> None:
    held, waiting = one_slot.enter("v1"), one_slot.place("v2")
    for _ in range(30):
        one_slot.wait(10)
        assert one_slot.touch(waiting, wants_in=True).verdict == "waiting"
    one_slot.wait(10)
    one_slot.claim(waiting)
    assert one_slot.renew(held).verdict == "ended"
    assert one_slot.end(held).verdict == "already"
    assert (one_slot.number("expired"), one_slot.members("active")) == (1, ["2"])


@pytest.mark.parametrize("reason", ["left", "completed", "revoked", "undelivered"])
def test_a_slot_is_freed_once_however_often_the_end_is_told(one_slot: Line, reason: EndReason) -> None:
    held, waiting = one_slot.enter("v1"), one_slot.place("v2")
    assert one_slot.end(held, reason).verdict == "freed"
    assert one_slot.number(reason) == 1
    one_slot.claim(waiting)
    for again in ("left", "revoked", reason):
        assert one_slot.end(held, again).verdict == "already"
    assert one_slot.members("active") == ["2"]
    assert one_slot.number(reason) == 1


def test_aws_214_an_ended_pass_is_refused_by_the_snapshot_and_at_renewal(one_slot: Line) -> None:
    held = one_slot.enter("v1")
    one_slot.end(held, "revoked")
    snapshot = one_slot.snapshot().snapshot
    assert snapshot is not None
    assert snapshot.ended == {1}
    assert one_slot.renew(held).verdict == "ended"
    one_slot.live(400)
    snapshot = one_slot.snapshot().snapshot
    assert snapshot is not None
    assert snapshot.ended == frozenset(), "no longer than its signature is good"


def test_a_place_that_is_given_up_never_comes_back(line: Line) -> None:
    line.set_limits(admit_per_minute=0)
    ticket = line.place("v1")
    assert [line.end(ticket).verdict, line.end(ticket).verdict] == ["left", "already"]
    assert line.touch(ticket, wants_in=True).verdict == "ended"
    assert line.join("v1").verdict == "ended"
    assert line.number("left") == 1


def test_a_called_visitor_who_leaves_gives_the_turn_to_the_next(one_slot: Line) -> None:
    called, waiting = one_slot.places(2)
    assert one_slot.positions("called") == [1]
    assert one_slot.end(called).verdict == "left"
    one_slot.claim(waiting)


def test_a_waiting_place_is_not_completed(line: Line) -> None:
    line.set_limits(admit_per_minute=0)
    ticket = line.place("v1")
    assert line.end(ticket, "completed").verdict == "already"
    assert line.touch(ticket).verdict in ("waiting", "called")


# --- inventory ------------------------------------------------


def test_sold_passes_and_called_never_exceed_the_inventory(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=3)
    tickets = line.places(6)
    inside = [line.claim(ticket) for ticket in tickets[:3]]
    assert line.touch(tickets[3], wants_in=True).verdict == "waiting"
    assert line.end(inside[0], "completed").verdict == "freed"
    assert line.touch(tickets[3], wants_in=True).verdict == "waiting", "the unit is sold"
    assert line.end(inside[1], "left").verdict == "freed"
    line.claim(tickets[3])
    line.end(inside[2], "completed")
    assert line.number("sold") == 2


def _sold_out_but_for(line: Line, free: int) -> tuple[Ticket, int]:
    held = line.enter("buyer")
    line.live(320)
    assert line.renew(held).verdict == "ended"
    others = 0
    while int(line.snapshot().snapshot.inventory_left or 0) > free:  # type: ignore[union-attr]
        others += 1
        line.end(line.enter(f"other{others}"), "completed")
    return held, others


def test_a_purchase_reported_after_the_pass_ran_out_counts_once(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=3)
    held, others = _sold_out_but_for(line, 1)
    assert [line.end(held, "completed").verdict for _ in range(3)] == ["late", "already", "already"]
    assert line.number("sold") == others + 1 == 3


def test_a_purchase_reported_late_with_nothing_left_is_a_conflict_and_sells_nothing(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=3)
    held, _ = _sold_out_but_for(line, 0)
    answer = line.end(held, "completed")
    assert (answer.verdict, answer.number(0)) == ("conflict", 0)
    assert line.number("sold") == 3


def test_more_units_than_are_free_are_a_conflict_and_change_nothing(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=5)
    held, _other = line.enter("v1"), line.enter("v2")
    answer = line.end(held, "completed", units=5)
    assert (answer.verdict, answer.number(0)) == ("conflict", 4), "one is kept for the other visit"
    assert line.renew(held).verdict == "inside"
    assert line.end(held, "completed", units=4).verdict == "freed"
    assert line.number("sold") == 4


def test_who_left_and_had_bought_is_counted_when_the_shop_says_so(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=5)
    held = line.enter("v1")
    assert [
        line.end(held, "left").verdict,
        line.end(held, "completed").verdict,
        line.end(held, "completed").verdict,
    ] == ["freed", "late", "already"]
    assert line.number("sold") == 1


def test_a_position_beyond_eight_digits_does_not_break_the_list_of_the_ended(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=5)
    line.end(line.enter("v1"))
    for field in ("length", "cursor", "horizon", "settled"):
        line.store.command("HSET", "st:{q}:state", field, "99999998")
    low, high = line.enter("v2"), line.enter("v3")
    assert (low.position, high.position) == (99_999_999, 100_000_000)
    assert [line.end(held, "revoked").verdict for held in (low, high)] == ["freed", "freed"]
    snapshot = line.snapshot().snapshot
    assert snapshot is not None
    assert snapshot.ended == {1, 99_999_999}
    assert line.renew(high).verdict == "ended"


def test_at_most_4096_ended_passes_ride_in_the_snapshot(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=5000)
    words = [word for n in range(1, 5001) for word in (str(line.now_ms + 100_000 + n), f"{n:010d}")]
    line.store.command("ZADD", "st:{q}:ended", *words)
    snapshot = line.snapshot().snapshot
    assert snapshot is not None
    assert len(snapshot.ended) == 4096
    assert snapshot.is_ended(5000), "the newest are those that are likelier still in use"
    assert not snapshot.is_ended(1)
