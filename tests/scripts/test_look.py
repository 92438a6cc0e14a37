"""`look` does what a snapshot and then a sign of life do: one sequence, in one step and in two."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket
from tests.scripts.test_fast_paths import SETTINGS


def _looks(line: Line, ticket: Ticket, *, wants_in: bool, in_one: bool, node: str) -> tuple[Any, ...]:
    """What the visitor was told, and what was said of the line then."""
    if in_one:
        answer = line.look(ticket, wants_in=wants_in, node=node, visits=3)
        assert answer.snapshot is not None
        own = answer.snapshot.line(ticket.line)
        seen = (own.length, own.cursor, own.horizon)
    else:
        randoms = line._randoms
        line.snapshot(node, 3)
        answer = line.touch(ticket, wants_in=wants_in)
        line._randoms = randoms + 1  # as one step
        assert answer.snapshot is not None
        seen = (answer.snapshot.length, answer.snapshot.cursor, answer.snapshot.horizon)
    told = answer.snapshot
    return answer.verdict, answer.details, seen, told.epoch, told.clock_ms, told.status, told.admit_per_minute, told.max_active


def _play(store: Store, name: str, seed: int, *, in_one: bool) -> tuple[list[Any], dict[str, str], list[str]]:
    store.command("FLUSHALL")
    line, draw = Line(store, **SETTINGS[name]), random.Random(seed)
    tickets: list[Ticket] = []
    said: list[Any] = []
    for step in range(400):
        line.now_ms += draw.choice((0, 1, 40, 250, 1_000, 4_000))
        dice = draw.random()
        if dice < 0.4:
            answer = line.join(f"v{step}", wants_in=draw.random() < 0.3, line=draw.randrange(2) if name == "lanes" else 0)
            if answer.verdict in ("waiting", "called", "inside"):
                tickets.append(line.ticket(answer.visitor or f"v{step}", answer))
        elif dice < 0.9 and tickets:
            near = tickets[-1].position if draw.random() < 0.1 else line.number("cursor")
            chosen = min(tickets, key=lambda ticket: (abs(ticket.position - near), draw.random()))
            if draw.random() < 0.05:
                chosen = Ticket(chosen.visitor, "gone", chosen.position, line=chosen.line)
            node = draw.choice(("", "n1", "n2"))
            told = _looks(line, chosen, wants_in=draw.random() < 0.7, in_one=in_one, node=node)
            said.append(told)
            if told[0] in ("inside", "ended", "lapsed"):
                tickets = [ticket for ticket in tickets if ticket != chosen]
            continue
        elif dice < 0.94:
            answer = line.admit(draw.randrange(4))
        elif dice < 0.98:
            answer = line.control(draw.choice(("pause", "resume", "resume", "drain")))
        else:
            answer = line.control("reset") if draw.random() < 0.2 else line.snapshot()
        said.append((answer.verdict, answer.details, answer.snapshot))
    return said, line.state(), sorted(line.members("seen"))


@pytest.mark.parametrize("name", SETTINGS)
def test_one_step_says_and_does_what_two_do(store: Store, name: str) -> None:
    one, two = (_play(store, name, 5, in_one=in_one) for in_one in (True, False))
    for index, (each, other) in enumerate(zip(one[0], two[0], strict=True)):
        assert each == other, f"step {index}"
    assert one[1:] == two[1:]
    assert {said[0] for said in one[0]} >= {"waiting", "epoch"}


def test_a_state_that_is_missing_is_said_to_be(store: Store) -> None:
    line = Line(store)
    ticket = line.place("v")
    store.command("FLUSHALL")
    answer = line.look(ticket)
    assert (answer.verdict, answer.snapshot) == ("missing", None)


def test_a_place_that_the_state_has_never_given_begins_a_recovery(store: Store) -> None:
    line = Line(store, admit_per_minute=0)
    ticket = line.place("v")
    answer = line.look(Ticket("w", ticket.epoch, 7))
    assert answer.verdict == "recovering"
    assert answer.snapshot is not None
    assert answer.snapshot.status == "recovering"
