"""The clock: never back, bounded forward while people wait, and no loss of what is not a matter of time."""

from __future__ import annotations

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import START_MS, Line


def clock(line: Line) -> int:
    snapshot = line.snapshot().snapshot
    assert snapshot is not None
    return snapshot.clock_ms


def test_the_clock_never_runs_back_and_agrees_with_the_server_again(line: Line) -> None:
    line.place("v1")
    before = clock(line)
    line.wait(-8)
    seen = [before]
    for _ in range(400):
        line.wait(0.5)
        seen.append(clock(line))
        assert seen[-1] >= seen[-2]
    assert seen[-1] == line.now_ms


def test_every_answer_carries_a_clock_that_never_runs_back(line: Line) -> None:
    line.places(210)
    seen = clock(line)
    for number, step_s in enumerate((0.1, 0.1, -5.0, 0.05, 0.1, 0.3, 0.1, -0.2, 0.1)):
        line.wait(step_s)
        answer = line.join(f"far{number}")
        assert answer.snapshot is not None
        assert answer.snapshot.clock_ms >= seen
        seen = answer.snapshot.clock_ms


def test_a_step_back_keeps_the_caps(store: Store) -> None:
    line = Line(store, burst=2)
    line.places(20)
    claims = 0
    for step in range(60):
        line.wait(-20 if step == 30 else 0.5)
        for position in range(1, 20):
            claims += (
                line.touch(line.place(f"v{position}"), wants_in=True).verdict == "inside"
                and position > claims
            )
    assert claims <= 2 + 30


@pytest.mark.parametrize("jump_s", [90, 3_600, 86_400 * 30])
def test_a_jump_forward_while_people_wait_ends_neither_leases_nor_presence(store: Store, jump_s: int) -> None:
    line = Line(store, admit_per_minute=None, max_active=2)
    inside, called, waiting = line.enter("v1"), line.place("v2"), line.place("v3")
    line.wait(10)
    line.touch(waiting)
    line.wait(jump_s)
    assert clock(line) <= START_MS + 10_000 + 75_000
    assert (line.positions("ready"), line.positions("called")) == ([3], [2])
    assert line.renew(inside).verdict == "inside"
    line.claim(called)
    assert line.number("missed") == 0


def test_a_jump_moves_no_timer_by_more_than_half(store: Store) -> None:
    line = Line(
        store,
        admit_per_minute=None,
        max_active=2,
        claim_within_s=10,
        poll_s=5,
        settle_s=10,
        presence_grace_s=10,
        idle_s=40,
        renew_every_s=10,
    )
    inside, called, waiting = line.enter("v1"), line.place("v2"), line.place("v3")
    line.wait(3_600)
    line.snapshot()
    assert (line.positions("ready"), line.positions("called")) == ([waiting.position], [called.position])
    assert line.renew(inside).verdict == "inside"


def test_a_jump_fills_the_bucket_by_no_more_than_the_clock_moves(store: Store) -> None:
    line = Line(store, admit_per_minute=6, burst=1000)
    line.store.command("HSET", "st:{q}:state", "units", "0")
    line.places(3)
    line.wait(3_600)
    line.snapshot()
    assert line.number("units") <= 6 * 75_000


def test_after_a_jump_the_clock_catches_up_and_no_one_present_notices(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    held, waiting = line.enter("v1"), line.place("v2")
    line.wait(600)
    for step in range(500):
        line.wait(5)
        if step % 6 == 0:
            held = line.ticket("v1", line.renew(held))
        assert line.touch(waiting).verdict == "waiting"
    assert clock(line) == line.now_ms
    assert line.number("missed") == 0
    line.end(held)
    line.claim(waiting)


def test_silence_is_no_jump_when_nobody_waits(line: Line) -> None:
    """A night without visitors: the clock must not lag behind the server's for days."""
    line.enter("v1")
    line.wait(8 * 3600)
    assert clock(line) == line.now_ms
    assert line.members("active") == []


def test_when_everybody_has_gone_the_clock_is_right_at_once(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    held, waiting = line.enter("v1"), line.place("v2")
    line.wait(8 * 3600)
    line.snapshot()
    assert clock(line) < line.now_ms
    line.end(held)
    line.end(waiting)
    line.wait(1)
    assert clock(line) == line.now_ms


def test_polls_of_one_hidden_tab_a_minute_are_no_jump(line: Line) -> None:
    line.set_limits(admit_per_minute=0)
    line.place("v1")
    for _ in range(10):
        line.wait(60)
        line.snapshot()
    assert clock(line) == line.now_ms


def test_without_an_explicit_time_the_server_clock_rules(line: Line) -> None:
    from edge.core import commands

    answer = line.store.script(commands.configure(line.queue, "ab" * 8))
    seconds = int(line.store.command("TIME")[0])
    line.store.command("FLUSHALL")
    line.store.script(commands.configure(line.queue, "ab" * 8, new=True))
    answer = line.store.script(commands.take_snapshot("q", "ab" * 8))
    assert answer.snapshot is not None
    assert 0 <= answer.snapshot.clock_ms // 1000 - seconds < 60
    assert len(answer.snapshot.epoch) == 16
