"""State lost or set back: places come back in order, passes are taken over, nobody new comes in before."""

from __future__ import annotations

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket


def flush(line: Line) -> None:
    """Redis loses everything; the next edge offers the configuration."""
    line.store.command("FLUSHALL")
    assert line.snapshot().verdict == "missing"
    assert line.configure().verdict == "recovering"


@pytest.fixture
def busy(store: Store) -> Line:
    return Line(store, admit_per_minute=None, max_active=3, settle_s=75)


def test_a_missing_state_answers_missing_and_lets_nobody_in(line: Line) -> None:
    ticket, held = line.place("v1"), line.enter("v2")
    line.store.command("FLUSHALL")
    answers = [
        line.join("v3", wants_in=True),
        line.touch(ticket, wants_in=True),
        line.renew(held),
        line.end(held),
        line.snapshot(),
        line.control("resume"),
        line.admit(5),
        line.set_limits(max_active=None),
    ]
    assert {answer.verdict for answer in answers} == {"missing"}
    assert line.store.command("DBSIZE") == 0


def test_lost_places_come_back_in_the_order_of_their_old_positions(busy: Line) -> None:
    tickets = busy.places(20)
    flush(busy)
    for ticket in reversed(tickets[5:15]):
        busy.wait(2)
        answer = busy.join(ticket.visitor, old=ticket)
        assert answer.verdict == "recovering"
        assert 0 < answer.number(0) <= 75_000
    busy.live(60)
    positions = [busy.join(ticket.visitor, old=ticket).number(0) for ticket in tickets[5:15]]
    assert positions == list(range(1, 11))
    assert busy.place("newcomer").position == 11


def test_a_place_that_came_back_is_the_same_on_every_retry_with_or_without_the_old_cookie(busy: Line) -> None:
    tickets = busy.places(3)
    flush(busy)
    for ticket in tickets:
        busy.join(ticket.visitor, old=ticket)
    assert busy.join("v2").verdict == "recovering"
    busy.live(80)
    assert [
        busy.join("v2", old=tickets[1]).number(0),
        busy.join("v2").number(0),
        busy.join("v2").number(0),
    ] == [2, 2, 2]
    assert busy.number("length") == 3


def test_who_comes_back_after_the_grace_stands_at_the_end(busy: Line) -> None:
    early, late = busy.places(2)
    flush(busy)
    busy.join(late.visitor, old=late)
    busy.live(80)
    assert busy.join(early.visitor, old=early).number(0) == 2


def test_nobody_new_comes_in_before_the_lost_passes_have_run_out(busy: Line) -> None:
    for number in range(3):
        busy.enter(f"in{number}")
    waiting = busy.place("v1")
    flush(busy)
    busy.join("v1", old=waiting)
    for _ in range(60):
        busy.wait(5)
        answer = busy.join("v1", old=waiting, wants_in=True)
        assert answer.verdict in ("recovering", "waiting")
    assert busy.join("new", direct=True, wants_in=True).verdict == "candidate"
    busy.wait(6)
    assert busy.join("v1", old=waiting, wants_in=True).verdict == "inside"


def test_lost_passes_are_taken_over_once_and_count(busy: Line) -> None:
    inside = [busy.enter(f"in{number}") for number in range(3)]
    flush(busy)
    for _ in range(2):
        taken = [busy.ticket(held.visitor, busy.renew(held)) for held in inside]
    assert [held.position for held in taken] == [0, 0, 0]
    assert len(busy.members("active")) == 3
    busy.live(100)
    taken = [busy.ticket(held.visitor, busy.renew(held)) for held in taken]
    busy.live(210)
    assert busy.state()["status"] == "open"
    assert busy.join("v1", wants_in=True).verdict == "waiting", "the three are still inside"
    assert busy.end(taken[0]).verdict == "freed"
    assert busy.join("v1", wants_in=True).verdict == "inside"


def test_a_pass_that_was_taken_over_and_ended_does_not_come_back_by_its_old_cookie(busy: Line) -> None:
    held = busy.enter("v1")
    flush(busy)
    taken = busy.ticket("v1", busy.renew(held))
    assert [busy.end(taken, "completed").verdict, busy.end(taken, "completed").verdict] == [
        "freed",
        "already",
    ]
    assert busy.renew(held).verdict == "ended"
    assert busy.renew(taken).verdict == "ended"
    assert (busy.members("active"), busy.number("sold")) == ([], 1)
    snapshot = busy.snapshot().snapshot
    assert snapshot is not None
    assert snapshot.ended == frozenset()


def test_the_old_cookie_ends_the_visit_that_was_taken_over(busy: Line) -> None:
    held, never_renewed = busy.enter("v1"), busy.enter("v2")
    flush(busy)
    busy.renew(held)
    assert busy.end(held).verdict == "freed"
    assert busy.end(never_renewed, "revoked").verdict == "epoch"
    assert busy.renew(never_renewed).verdict == "ended"
    assert busy.members("active") == []


def test_a_purchase_with_a_lost_pass_is_counted_once(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=5)
    held = line.enter("v1")
    flush(line)
    assert [line.end(held, "completed").verdict for _ in range(2)] == ["late", "already"]
    assert line.number("sold") == 1
    assert line.renew(held).verdict == "ended"


def test_an_expired_pass_is_not_taken_over(busy: Line) -> None:
    held = busy.enter("v1")
    busy.wait(301)
    flush(busy)
    assert busy.renew(held).verdict == "ended"


def test_with_an_inventory_the_operator_releases_it(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=5)
    waiting = line.place("v1")
    flush(line)
    line.join("v1", old=waiting)
    line.live(3_600)
    assert line.join("v1", old=waiting, wants_in=True).verdict == "waiting"
    assert line.control("resume").details[0] == "open"
    assert line.join("v1", old=waiting, wants_in=True).verdict == "inside"


def test_a_pause_during_the_recovery_and_its_end_do_not_cut_it_short(busy: Line) -> None:
    busy.enter("in")
    waiting = busy.place("v1")
    flush(busy)
    busy.join("v1", old=waiting)
    busy.live(30)
    busy.control("pause")
    busy.live(90)
    assert busy.join("v1", old=waiting, wants_in=True).number(0) == 1, (
        "the order is complete though it is paused"
    )
    assert busy.control("resume").details[0] == "recovering"
    busy.live(170)
    assert busy.touch(busy.place("v1"), wants_in=True).verdict == "waiting"
    busy.live(30)
    assert busy.join("v1", wants_in=True).verdict == "inside"


def test_a_pause_longer_than_the_recovery_ends_in_an_open_queue(busy: Line) -> None:
    flush(busy)
    busy.control("pause")
    busy.live(400)
    assert busy.state()["status"] == "paused"
    assert busy.control("resume").details[0] == "open"


def test_a_release_by_the_operator_puts_those_who_are_back_in_order(busy: Line) -> None:
    one, two = busy.places(2)
    flush(busy)
    for ticket in (two, one):
        busy.join(ticket.visitor, old=ticket)
    assert busy.control("resume").details[0] == "open"
    assert [busy.join(t.visitor, old=t).number(0) for t in (two, one)] == [2, 1]


def test_a_jump_of_the_clock_does_not_cut_the_recovery_short(busy: Line) -> None:
    held = busy.enter("in")
    flush(busy)
    busy.live(20)
    busy.wait(3_600)
    assert busy.join("new", wants_in=True).verdict == "recovering"
    assert busy.renew(held).verdict == "inside"


# --- set back behind what was signed ------------------------------------------------


def set_back(line: Line, dump: dict[str, str]) -> None:
    """A lagging replica takes over, or a backup is restored."""
    line.store.restore(dump)


@pytest.mark.parametrize("way", ["touch", "join", "renew"])
def test_a_token_above_the_length_begins_a_recovery(busy: Line, way: str) -> None:
    busy.places(2, "early")
    dump = busy.store.dump()
    held, ticket = busy.enter("in"), busy.place("v1")
    epoch = ticket.epoch
    set_back(busy, dump)
    if way == "touch":
        assert busy.touch(ticket).verdict == "recovering"
    elif way == "join":
        assert busy.join("v1", old=ticket).verdict == "recovering"
    else:
        assert busy.renew(held).number(0) == 0
        assert busy.members("active") == ["vin"]
    assert busy.state()["status"] == "recovering"
    assert busy.state()["epoch"] != epoch


@pytest.mark.parametrize("way", ["touch", "claim", "join", "renew"])
def test_a_number_that_was_given_again_after_a_set_back_is_seen_and_begins_a_recovery(
    busy: Line, way: str
) -> None:
    busy.places(3, "early")
    dump = busy.store.dump()
    busy.set_limits(max_active=10)
    first = busy.enter("first")
    set_back(busy, dump)
    busy.set_limits(max_active=10)
    second = busy.place("second")
    assert second.position == first.position
    if way in ("touch", "claim"):
        place = Ticket("first", first.epoch, first.position)
        assert busy.touch(place, wants_in=way == "claim").verdict == "recovering"
        assert busy.members("active") == []
    elif way == "join":
        assert busy.join("first", old=first).verdict == "recovering"
    else:
        assert (busy.renew(first).verdict, busy.members("active")) == ("inside", ["vfirst"])
    assert busy.touch(second, wants_in=True).verdict == "epoch"


def test_a_claim_that_was_lost_with_the_last_moments_is_taken_over(busy: Line) -> None:
    ticket = busy.place("v1")
    dump = busy.store.dump()
    held = busy.claim(ticket)
    set_back(busy, dump)
    assert busy.renew(held).number(0) == ticket.position
    assert (busy.members("active"), busy.positions("called")) == (["1"], [])
    assert busy.touch(ticket, wants_in=True).verdict == "inside"


def test_an_end_from_ahead_of_the_state_spoils_no_later_place(busy: Line) -> None:
    dump = busy.store.dump()
    ticket = busy.place("v1")
    set_back(busy, dump)
    assert busy.end(ticket).verdict == "epoch"
    assert busy.join("v2", wants_in=True).verdict == "inside"


def test_a_pause_survives_a_set_back(busy: Line) -> None:
    busy.control("pause")
    dump = busy.store.dump()
    ticket = busy.place("v1")
    set_back(busy, dump)
    assert busy.touch(ticket).verdict == "recovering"
    assert busy.state()["status"] == "paused"
    busy.live(400)
    assert busy.join("v1", old=ticket, wants_in=True).verdict == "waiting"
    assert busy.control("resume").details[0] == "open"


def test_a_state_set_back_to_before_a_reset_sees_it_by_the_newer_epoch(busy: Line) -> None:
    busy.enter("killed")
    dump = busy.store.dump()
    busy.wait(1)
    busy.control("reset")
    held, ticket = busy.enter("in"), busy.place("v1")
    set_back(busy, dump)
    busy.wait(1)
    assert busy.renew(held).number(0) == 0
    assert busy.state()["status"] == "recovering"
    assert busy.join("v1", old=ticket).verdict == "recovering"


def test_a_set_back_clock_does_not_end_the_recovery_before_the_passes_it_must_outlast(busy: Line) -> None:
    busy.place("v0")
    dump = busy.store.dump()
    busy.live(1_000)
    held, ticket = busy.enter("in"), busy.place("v1")
    set_back(busy, dump)
    assert busy.touch(ticket).verdict == "recovering"
    busy.live(294)
    assert busy.state()["status"] == "recovering"
    assert busy.renew(held).verdict == "inside"


def test_two_losses_in_a_row_take_a_pass_over_twice(busy: Line) -> None:
    held = busy.enter("v1")
    flush(busy)
    taken = busy.ticket("v1", busy.renew(held))
    busy.wait(10)
    flush(busy)
    again = busy.renew(taken)
    assert (again.verdict, busy.members("active")) == ("inside", ["vv1"])


def test_a_taken_over_pass_that_a_set_back_forgot_is_taken_over_again(busy: Line) -> None:
    held = busy.enter("v1")
    flush(busy)
    dump = busy.store.dump()
    taken = busy.ticket("v1", busy.renew(held))
    set_back(busy, dump)
    assert busy.renew(taken).verdict == "inside"
    assert busy.members("active") == ["vv1"]


def test_a_reset_after_a_loss_makes_strangers_of_the_lost_too(busy: Line) -> None:
    held, ticket = busy.enter("v1"), busy.place("v2")
    flush(busy)
    busy.control("reset")
    assert busy.renew(held).verdict == "ended"
    assert busy.join("v2", old=ticket).number(0) == 1
