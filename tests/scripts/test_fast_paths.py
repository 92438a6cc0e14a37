"""The short ways through join and touch do what the long ways do: one sequence, run with and without them."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import pytest

from edge.core import scripts
from edge.core.scripts import Script
from tests.scripts.backends import Store
from tests.scripts.line import START_MS, Line, Ticket

_SHORT_WAYS = {
    "join": ("if ARGV[4] == '' and ARGV[6] == '' and", "if false and"),
    "touch": ("if f[10] ~= '0' and string.sub(member", "if false and string.sub(member"),
    "renew": ("if f[1] == ARGV[3] and f[10] ~= '0' and", "if false and"),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "rate": {"admit_per_minute": 120, "burst": 3},
    "slots": {"admit_per_minute": None, "max_active": 12},
    "all": {"admit_per_minute": 300, "max_active": 30, "inventory": 90},
    "a rate of zero": {"admit_per_minute": 0},
    "always": {"admit_per_minute": 240, "always_queue": True},
    "manual": {"admit_per_minute": 60, "manual": True},
    "lanes": {"admit_per_minute": 240, "lanes": [{"name": "a", "share": 2}, {"name": "b"}]},
    "a longest visit": {"admit_per_minute": 240, "visit_max_s": 60},
    "a threshold": {"admit_per_minute": 60, "start_queueing_above": 100},
}


def _without_short_way(script: Script) -> Script:
    old, new = _SHORT_WAYS[script.name]
    text = script.text["redis"]
    assert text.count(old) == 1
    changed = text.replace(old, new)
    return Script(script.name, {"redis": changed}, {"redis": hashlib.sha1(changed.encode()).hexdigest()})


def _play(store: Store, name: str, seed: int) -> tuple[list[Any], dict[str, str]]:
    store.command("FLUSHALL")
    line, draw = Line(store, **SETTINGS[name]), random.Random(seed)
    tickets: list[Ticket] = []
    passes: list[Ticket] = []
    said: list[Any] = []
    for step in range(700):
        line.now_ms += draw.choice((0, 1, 10, 40, 90, 250, 1_000))
        dice = draw.random()
        if dice < 0.45:
            visitor = f"v{draw.randrange(step + 1)}" if dice < 0.05 else f"v{step}"
            if step % 3 == 0:
                visitor = f"key{draw.randrange(step + 1)}.{draw.choice((0, 0, 0, 1, 2))}"
            wants_in, direct = draw.random() < 0.5, draw.random() < 0.1
            answer = line.join(visitor, wants_in=wants_in, direct=direct, line=draw.randrange(2) if name == "lanes" else 0)
            if answer.verdict in ("waiting", "called", "inside"):
                tickets.append(line.ticket(answer.visitor or visitor, answer))
        elif dice < 0.55 and passes:
            answer = line.renew(passes[draw.randrange(len(passes))])
        elif dice < 0.9 and tickets:
            near = tickets[-1].position if draw.random() < 0.1 else line.number("cursor")
            chosen = min(tickets, key=lambda ticket: (abs(ticket.position - near), draw.random()))
            answer = line.touch(chosen, wants_in=draw.random() < 0.8)
            if answer.verdict in ("inside", "ended"):
                tickets = [ticket for ticket in tickets if ticket != chosen]
            if answer.verdict == "inside":
                passes.append(line.ticket(chosen.visitor, answer))
        elif dice < 0.93:
            answer = line.admit(draw.randrange(4))
        elif dice < 0.96:
            answer = line.control(draw.choice(("pause", "resume", "resume")))
        elif dice < 0.98:
            answer = line.set_limits(admit_per_minute=draw.choice((None, 0, 60, "=")))
        else:
            answer = line.snapshot()
        said.append((answer.verdict, answer.details, answer.snapshot and answer.snapshot.length, answer.visitor))
    line.snapshot()
    return said, line.state()


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_sequence_gives_the_same_answers_and_the_same_state(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(2):
        short = _play(store, name, seed)
        with monkeypatch.context() as patch:
            patch.setattr(scripts, "JOIN", _without_short_way(scripts.JOIN))
            patch.setattr(scripts, "TOUCH", _without_short_way(scripts.TOUCH))
            patch.setattr(scripts, "RENEW", _without_short_way(scripts.RENEW))
            long = _play(store, name, seed)
        for index, (one, other) in enumerate(zip(short[0], long[0], strict=True)):
            assert one == other, f"step {index}"
        assert short[1] == long[1]


@pytest.mark.parametrize("script", ["join", "touch", "a sign of life", "renew"])
def test_the_short_way_is_taken(store: Store, script: str) -> None:
    """Without this the comparison could compare the long way with itself: the long way reads all fields."""
    line = Line(store, admit_per_minute=60 if script in ("join", "a sign of life") else 6_000, burst=100)
    tickets = line.places(400)
    line.snapshot()
    line.wait(0.1)
    before = line.state()
    if script == "renew":
        held = line.claim(tickets[0])
        line.wait(0.1)
        line.renew(held)
        assert int(line.state()["clock"]) == START_MS + 100, "the long way moves the clock"
    elif script == "join":
        for visitor in ("far", "key.0"):
            line.join(visitor)
            assert line.state()["clock"] == before["clock"], "the long way moves the clock"
    elif script == "a sign of life":
        near, asked = tickets[int(before["settled"]) - 1], tickets[int(before["horizon"]) - 1]
        line.touch(near, wants_in=False)
        line.snapshot()
        line.wait(0.1)
        before = line.state()
        for ticket in (near, asked, tickets[-1]):
            assert line.touch(ticket, wants_in=False).verdict == "waiting"
        assert line.state() == before, "the long way moves the clock"
        assert {str(near.position), str(asked.position)} <= set(line.members("ready"))
    else:
        line.claim(next(ticket for ticket in tickets if str(ticket.position) in line.members("called")))
        assert int(line.state()["clock"]) == START_MS + 100
        # The long way would pump; the short way leaves calling to the next sweep.
        assert line.state()["cursor"] == before["cursor"]
