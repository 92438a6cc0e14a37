"""A queue of a group that is paused by itself: nobody of it is called or passed over, a turn is kept, the others go on."""

from __future__ import annotations

from dataclasses import replace

from edge.core.lines import seen_from
from edge.core.model import Queue
from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket

SETTINGS = {"admit_per_minute": None, "max_active": 4, "claim_within_s": 60, "settle_s": 20, "presence_grace_s": 40,
            "idle_s": 900}  # fmt: skip


def group(store: Store, **settings: object) -> tuple[Line, Queue, Queue]:
    """Two queues: the first on line 0, the second with two lanes, lines 1 and 2."""
    lanes = [{"name": f"q{n}", "share": share} for n, share in enumerate((2, 1, 1))]
    line = Line(store, **{**SETTINGS, **settings}, lanes=lanes)
    store.command("HSET", "st:{q}:state", "is_group", "1")
    shares, (_, two, three) = (2, 1, 1), line.queue.lanes
    first = replace(line.queue, lanes=(), group="q", group_shares=shares)
    return line, first, replace(first, lanes=(two, three), line=1)


def ask(line: Line, tickets: list[Ticket], seconds: int) -> list[Ticket]:
    """Everybody asks every ten seconds; those who came in."""
    came = []
    for _ in range(seconds // 10):
        line.wait(10)
        for ticket in tickets:
            answer = line.touch(ticket, wants_in=True)
            if answer.verdict == "inside" and ticket not in came:
                came.append(ticket)
    return came


def test_only_the_others_are_called_and_presence_goes_on(store: Store) -> None:
    line, _, second = group(store)
    inside = [line.enter(f"in{n}") for n in range(4)]
    mine, others = line.places(5, "mine", line=1), line.places(2, "other")
    assert line.control_queue("pause_lines", second).verdict == "ok"
    for held in inside:
        line.end(held)
    assert ask(line, [*mine, *others], 300) == others, "slots are free, and only the other queue's people come in"
    assert (line.number("cursor1"), line.members("called")) == (0, []), "nobody was called, and nobody passed over"
    newcomer = line.join("late", line=2)
    assert (newcomer.verdict, newcomer.line) == ("waiting", 2), "newcomers line up"
    line.control_queue("open_lines", second)
    assert (ask(line, mine, 10), line.members("called")) == (mine[:1], ["2:1"]), "of each lane the first"


def test_whoever_has_a_turn_comes_in(store: Store) -> None:
    line, _, second = group(store, max_active=1)
    held = line.enter("in")
    called = line.place("mine", line=1)
    line.end(held)
    assert line.touch(called).verdict == "called"
    line.control_queue("pause_lines", second)
    assert line.touch(called, wants_in=True).verdict == "inside"


def test_a_turn_that_is_let_go_gives_its_slot_to_the_others(store: Store) -> None:
    line, _, second = group(store, max_active=1)
    held = line.enter("in")
    gone = line.place("gone", line=1)
    line.end(held)
    assert line.touch(gone).verdict == "called"
    mine, other = line.place("mine", line=1), line.place("other")
    line.control_queue("pause_lines", second)
    assert ask(line, [mine, other], 50) == [], "the turn is kept for as long as its lease"
    assert ask(line, [mine, other], 30) == [other]


def test_a_batch_passes_it_by(store: Store) -> None:
    line, _, second = group(store, manual=True, max_active=9)
    line.places(3, "mine", line=1)
    line.places(2, "other")
    line.control_queue("pause_lines", second)
    assert line.admit(5, line=1).verdict == "paused"
    assert line.admit(5).number(0) == 2
    assert sorted(line.members("called")) == ["1", "2"]
    line.control_queue("open_lines", second)
    assert line.admit(5).number(0) == 3


def test_it_lasts_over_a_publish_and_a_reset_until_it_is_opened(store: Store) -> None:
    line, first, second = group(store)
    line.control_queue("pause_lines", second)
    line.configure(max_active=7)
    store.command("HSET", "st:{q}:state", "is_group", "1")
    line.control("reset")
    assert [each.weight for each in line.seen().lines] == [2, 0, 0]
    line.control("pause")
    line.control("open")
    assert [each.weight for each in line.seen().lines] == [2, 0, 0], "opening the group opens no queue that is paused by itself"
    line.control_queue("open_lines", second)
    assert [each.weight for each in line.seen().lines] == [2, 1, 1]
    line.control_queue("pause_lines", first)
    assert [each.weight for each in line.seen().lines] == [0, 1, 1]


def test_a_repeat_does_nothing_and_a_queue_without_a_group_refuses(store: Store) -> None:
    line, _, second = group(store)
    line.control_queue("pause_lines", second, "r1")
    line.control_queue("open_lines", second, "r2")
    assert line.control_queue("pause_lines", second, "r1").verdict == "ok"
    assert line.seen().line(1).weight == 1
    store.command("HSET", "st:{q}:state", "is_group", "0")
    assert line.control_queue("pause_lines", second).verdict == "refused"


def test_everybody_lines_up_while_one_is_paused_and_each_line_sees_its_own_state(store: Store) -> None:
    line, _, second = group(store)
    line.wait(60)
    assert line.seen().queueing < 2
    line.control_queue("pause_lines", second)
    snapshot = line.seen()
    assert snapshot.queueing == 2
    assert [seen_from(snapshot, index).status for index in range(3)] == ["open", "paused", "paused"]
    assert line.join("new", direct=True, line=1).verdict == "candidate"
    line.control("close")
    assert seen_from(line.seen(), 1).status == "closed"
