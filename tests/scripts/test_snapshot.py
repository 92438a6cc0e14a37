"""The snapshot: what every waiting visitor's answer is computed from."""

from __future__ import annotations

from edge.core.snapshot import Snapshot
from tests.scripts.backends import Store
from tests.scripts.line import Line


def full(line: Line) -> Snapshot:
    snapshot = line.snapshot().snapshot
    assert snapshot is not None
    assert snapshot.full
    return snapshot


def test_aws_208_ahead_leaves_out_who_left_and_who_was_passed_over(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    line.enter("in")
    tickets = line.places(300)
    before = full(line)
    assert before.ahead(301) == 299
    for ticket in tickets[100:150]:
        line.end(ticket)
    after = full(line)
    assert after.ahead(301) == 249
    assert after.ahead(101) == 99
    assert after.waiting == 250


def test_ahead_is_exact_enough_with_many_gone_and_never_negative(store: Store) -> None:
    line = Line(store, admit_per_minute=0)
    tickets = line.places(900)
    gone = [ticket for ticket in tickets[5:] if ticket.position % 7]
    for ticket in gone:
        line.end(ticket)
    snapshot, gone_places = full(line), set(gone)
    assert len(snapshot.gone) <= 64
    true = 0
    for position in range(1, 901):
        told = snapshot.ahead(position)
        assert told >= 0
        assert true <= told <= true + snapshot.gone_every, position
        true += tickets[position - 1] not in gone_places


def test_ahead_counts_nobody_twice_when_the_cursor_is_newer_than_the_list_of_the_gone() -> None:
    base = ("e", 0, "open", 100, 0, 100, 1, None, None)
    exact = Snapshot(*base[:4], 50, *base[5:], full=True, gone_every=1, gone=(10, 20, 60, 70))
    assert exact.ahead(80) == 80 - 1 - 50 - 2
    coarse = Snapshot(*base[:4], 50, *base[5:], full=True, gone_every=10, gone=(40, 60, 80))
    assert coarse.ahead(90) == 90 - 1 - 50 - 10
    assert coarse.ahead(55) == 4
    assert Snapshot(*base[:4], 99, *base[5:], full=True, gone=(3,)).ahead(50) == 0


def test_the_list_of_the_gone_starts_behind_the_cursor_at_any_moment(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    held = line.enter("in")
    tickets = line.places(5)
    line.end(tickets[1])
    line.snapshot()
    line.end(held)
    for ticket in tickets[:1] + tickets[2:3]:
        line.end(line.claim(ticket))
    snapshot = full(line)
    assert snapshot.cursor >= 4
    assert snapshot.gone == ()
    assert snapshot.ahead(6) == 6 - 1 - snapshot.cursor


def test_aws_206_the_outflow_of_the_last_minute_is_measured(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=100)
    for number in range(30):
        line.wait(1)
        line.enter(f"v{number}")
    assert full(line).admitted_last_minute == 30
    line.live(45)
    assert full(line).admitted_last_minute == 15


def test_counts_of_all_kinds(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=1, max_active=10, inventory=8)
    line.end(line.enter("sold"), "completed", units=2)
    line.wait(1)
    line.enter("in")
    line.places(20)
    snapshot = full(line)
    assert (snapshot.length, snapshot.inside, snapshot.called) == (22, 1, 5)
    assert snapshot.inventory_left == 8 - 2 - 1 - 5
    assert snapshot.waiting == snapshot.ready == 15
    assert (snapshot.queueing, snapshot.next_token_ms) == (2, 1_000)


def test_queueing_ends_when_nobody_waits_and_candidates_had_their_time(line: Line) -> None:
    line.control("pause")
    assert full(line).queueing == 2
    line.control("resume")
    assert full(line).queueing == 1
    line.wait(5)
    assert full(line).queueing == 0


def test_the_heartbeat_calls_the_next_though_nobody_near_the_head_asks(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, idle_s=60, renew_every_s=30)
    held = line.enter("in")
    line.places(2)
    for expected in (0, 0, 0, 1):
        line.wait(20)
        assert full(line).called == expected, "the pass that nobody uses ends, and the turn goes on"
    assert line.renew(held).verdict == "ended"
