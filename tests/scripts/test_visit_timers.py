"""How a visit ends: silence, the longest visit, the payment's time, a sale, a word of the site; each frees one slot once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket

REASONS = ("idle_expired", "pass_expired", "checkout_expired", "completed", "left", "revoked", "undelivered")


def counts(line: Line) -> dict[str, int]:
    state = line.state()
    return {name: int(state[name]) for name in REASONS if int(state[name])}


def keep_busy(line: Line, held: Ticket, seconds: int) -> Ticket:
    """Renews twice a minute for as long as the pass is good."""
    for _ in range(seconds // 30):
        line.wait(30)
        answer = line.renew(held)
        if answer.verdict != "inside":
            break
        held = line.ticket(held.visitor, answer)
    return held


def test_a_silent_visit_ends_by_itself(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, idle_s=60, renew_every_s=20)
    line.enter("v1")
    line.wait(66)
    line.snapshot()
    assert counts(line) == {"idle_expired": 1}


def test_a_visit_has_a_hard_end_however_busy(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, idle_s=60, renew_every_s=20, visit_max_s=150)
    held = keep_busy(line, line.enter("v1"), 600)
    assert held.expires_ms == line.now_ms or held.expires_ms - 150_000 <= line.now_ms
    line.wait(40)
    line.snapshot()
    assert counts(line) == {"pass_expired": 1}
    assert line.join("v2", wants_in=True).verdict == "inside"


@pytest.mark.parametrize("way", ["fast", "general"])
def test_the_hard_end_begins_at_the_claim_by_any_way(store: Store, way: str) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, idle_s=300, visit_max_s=60)
    if way == "fast":
        ticket = line.place("v1")
        line.snapshot()
        held = line.claim(ticket)
    else:
        held = line.enter("v1")
    assert held.expires_ms == line.now_ms + 60_000


def test_the_payment_has_its_own_time_and_silence_does_not_end_it(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, idle_s=60, renew_every_s=20, checkout_s=200)
    held = line.enter("v1")
    begun = line.checkout(held)
    assert (begun.verdict, begun.number(0), begun.number(1)) == ("checkout", line.now_ms + 200_000, line.now_ms + 200_000)
    assert line.checkout(held).details[0] == begun.details[0], "begun again it is the same payment"
    held = replace(held, expires_ms=begun.number(1))
    line.wait(150)
    assert line.renew(held).number(1) == begun.number(0)
    line.wait(60)
    line.snapshot()
    assert counts(line) == {"checkout_expired": 1}
    assert line.checkout(held).verdict == "ended"


def test_the_payment_gets_its_time_once_more_and_no_third_time(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, checkout_s=100)
    held = line.enter("v1")
    assert line.checkout(held, "extend").details == ("not_started",)
    line.checkout(held)
    line.wait(90)
    assert line.checkout(held, "extend").number(0) == line.now_ms + 100_000
    assert line.checkout(held, "extend").details == ("extended",)
    line.wait(99)
    line.snapshot()
    assert counts(line) == {}
    line.wait(7)
    line.snapshot()
    assert counts(line) == {"checkout_expired": 1}


def test_a_queue_without_a_checkout_says_so(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    assert line.checkout(line.enter("v1")).details == ("no_checkout",)


def test_a_purchase_ends_the_payment_and_nothing_of_it_is_left(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, checkout_s=100, visit_max_s=1000, inventory=3)
    held = line.enter("v1")
    line.checkout(held)
    assert line.end(held, "completed", units=2).verdict == "freed"
    assert line.store.command("HLEN", "st:{q}:visits") == 0
    assert (counts(line), line.number("sold")) == ({"completed": 1}, 2)


def test_a_payment_that_succeeds_just_after_its_time_takes_free_stock_or_is_refused(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=9, checkout_s=60, inventory=2)
    one, other = line.enter("v1"), line.enter("v2")
    line.checkout(one)
    line.checkout(other)
    line.wait(70)
    line.snapshot()
    assert line.end(one, "completed").verdict == "late"
    line.enter("v3")
    refused = line.end(other, "completed")
    assert (refused.verdict, refused.details) == ("conflict", ("0",))
    reported = line.end(other, "completed", is_report=True)
    assert (reported.verdict, reported.details) == ("overrun", ("1",))
    assert line.end(other, "completed", is_report=True).verdict == "already"
    assert (line.number("sold"), line.number("overrun")) == (1, 1)


def test_more_units_reported_than_there_are_end_the_visit_and_are_counted_apart(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=3)
    held = line.enter("v1")
    assert line.end(held, "completed", units=5).verdict == "conflict"
    reported = line.end(held, "completed", units=5, is_report=True)
    assert (reported.verdict, reported.details) == ("overrun", ("2",))
    assert (line.number("sold"), line.number("overrun"), line.members("active")) == (3, 2, [])
    assert line.seen().status == "sold_out", "what was sold is not sold again"
    assert line.join("v2", wants_in=True).details == ("sold_out",)


def test_a_late_report_of_more_than_there_is_takes_what_is_free(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=5, checkout_s=60)
    held, other = line.enter("v1"), line.enter("v2")
    line.checkout(held)
    line.wait(70)
    line.snapshot()
    reported = line.end(held, "completed", units=9, is_report=True)
    # One unit is held for the other, who is still inside.
    assert (reported.verdict, reported.details) == ("overrun", ("5",))
    assert (line.number("sold"), line.number("overrun")) == (4, 5)
    assert line.end(other, "completed").verdict in ("freed", "late")
    assert line.number("sold") == 5


@pytest.mark.parametrize("reason", ["left", "revoked", "completed", "undelivered"])
def test_every_unsold_ending_returns_its_unit(store: Store, reason: str) -> None:
    line = Line(store, admit_per_minute=None, inventory=1, checkout_s=60)
    held = line.enter("v1")
    line.checkout(held)
    assert line.seen().inventory_left == 0
    line.end(held, reason)  # type: ignore[arg-type]
    assert line.seen().inventory_left == (0 if reason == "completed" else 1)
    assert counts(line) == {reason: 1}


def test_a_slot_is_freed_once_whoever_comes_first(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=2, idle_s=60, renew_every_s=20)
    held, other = line.enter("v1"), line.enter("v2")
    assert line.end(held, "completed").verdict == "freed"
    for reason in ("left", "revoked", "completed", "undelivered"):
        assert line.end(held, reason).verdict == "already"  # type: ignore[arg-type]
    line.wait(70)
    line.snapshot()
    assert line.end(other, "left").verdict == "already"
    assert counts(line) == {"completed": 1, "idle_expired": 1}
    assert line.seen().inside == 0
