"""What the scripts do to a visitor, read from their events, is the table of moves (edge/core/states.py), no less and no more."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from edge.core.calls import Answer
from edge.core.commands import EndReason
from edge.core.states import MOVES, WAYS_OUT, may_move
from tests.scripts.backends import Embedded, Store
from tests.scripts.line import START_MS, Line, Ticket, queue

TIMERS: dict[str, Any] = {
    "claim_within_s": 20, "poll_s": 2, "settle_s": 20, "presence_grace_s": 40, "idle_s": 60, "renew_every_s": 20,
    "checkout_s": 60, "visit_max_s": 150, "late_claim_within_s": 60, "admit_per_minute": None, "max_active": 3, "events": True,
}  # fmt: skip
QUEUES: dict[str, dict[str, Any]] = {
    "late at the head": {"late_claim": "head"},
    "late at the end": {"late_claim": "back"},
    "late refused": {"late_claim": "refused"},
    "busy to the end": {"checkout_s": None, "visit_max_s": 70},
    "before an opening": {"prequeue_order": "arrival", "spread_s": 5},
}
STEPS = 130
SLEEPS_MS = 200_000
# Known to the edge alone: the cookie that has not come back yet, and whoever walks straight in.
OF_THE_EDGE = {(move.start, move.end) for move in MOVES if "nobody" in (move.start,) or move.end == "candidate"}
# One step of a script makes both: the place, and the turn at once.
IN_TWO = {("candidate", "inside")}
ENDS: tuple[EndReason, ...] = ("completed", "left", "revoked", "undelivered")


class Day:
    """Visitors of one queue, by chance, and what became of each by the events."""

    def __init__(self, store: Store, name: str) -> None:
        schedule = {}
        if name == "before an opening":
            moments = queue(prequeue_at="2027-01-15T07:00:00Z", opens_at="2027-01-15T08:05:00Z")
            assert moments.opens_at_ms is not None
            assert moments.opens_at_ms > START_MS
            schedule = {"prequeue_at": "2027-01-15T07:00:00Z", "opens_at": "2027-01-15T08:05:00Z"}
        self.line = Line(store, **TIMERS | QUEUES[name] | schedule)
        self.chance = random.Random(name)
        self.tickets: dict[str, Ticket] = {}
        self.holders: dict[str, str] = {}
        self.over: set[str] = set()
        self.since_ms: dict[str, int] = {}
        self._is_refused = QUEUES[name].get("late_claim") == "refused"

    def go(self) -> None:
        for _ in range(STEPS):
            self.line.wait(self.chance.choice((0.5, 2, 5, 5, 15)))
            kind = self.chance.choice(("join", "join", "poll", "poll", "poll", "use", "end", "pay", "leave"))
            getattr(self, f"_{kind}")()
        self.line.live(400)

    def _join(self) -> None:
        visitor = f"v{len(self.tickets)}"
        self.since_ms[visitor] = self.line.now_ms
        self._heard(visitor, visitor, self.line.join(visitor))

    def _heard(self, visitor: str, name: str, answer: Answer) -> None:
        """`name`: by which the scripts know the visitor now."""
        if answer.verdict in ("waiting", "called", "inside"):
            ticket = self.line.ticket(name, answer)
            self.tickets[visitor], self.holders[str(ticket.position)] = ticket, visitor
        elif answer.verdict == "lapsed" and answer.details[1] == "back":
            # As the edge does at the door: a new place at the end, under another name.
            self._heard(visitor, f"{name}-again", self.line.join(f"{name}-again"))
        elif answer.verdict in ("ended", "lapsed"):
            self.over.add(visitor)

    def _live(self) -> list[tuple[str, Ticket]]:
        return [(visitor, ticket) for visitor, ticket in self.tickets.items() if visitor not in self.over]

    def _poll(self) -> None:
        for visitor, ticket in self._live():
            # Every fifth one is away from the beginning, for longer than the right to come back late lasts.
            sleeps = visitor.endswith(("0", "5")) and self.line.now_ms < self.since_ms[visitor] + SLEEPS_MS
            if not ticket.expires_ms and not sleeps and self.chance.random() < 0.6:
                self._heard(visitor, ticket.visitor, self.line.touch(ticket, wants_in=self.chance.random() < 0.6))

    def _inside(self) -> list[tuple[str, Ticket]]:
        return [(visitor, ticket) for visitor, ticket in self._live() if ticket.expires_ms]

    def _use(self) -> None:
        for visitor, ticket in self._inside():
            if self.chance.random() < 0.7:
                self._heard(visitor, ticket.visitor, self.line.renew(ticket))

    def _end(self) -> None:
        if inside := self._inside():
            visitor, ticket = self.chance.choice(inside)
            self.line.end(ticket, self.chance.choice(ENDS))
            self.over.add(visitor)

    def _pay(self) -> None:
        if inside := self._inside():
            self.line.checkout(self.chance.choice(inside)[1])

    def _leave(self) -> None:
        waiting = [(visitor, ticket) for visitor, ticket in self._live() if not ticket.expires_ms]
        if waiting and self.chance.random() < 0.6:
            visitor, ticket = self.chance.choice(waiting)
            self.line.end(ticket, "left")
            self.over.add(visitor)

    def moves(self) -> Iterator[tuple[str, str]]:
        """Each step of each visitor, from the events."""
        states: dict[str, str] = {}
        for what, member in self._events():
            if what == "opened":
                early = [visitor for visitor, state in states.items() if state == "prequeue"]
                yield from (("prequeue", "waiting") for _ in early)
                states |= dict.fromkeys(early, "waiting")
            visitor = self.holders.get(member, "")
            before, after = states.get(visitor, "candidate"), self._state_after(what)
            # A purchase that is reported after the pass has run out is counted; the visit had ended, and stays so.
            is_late_report = what == "completed" and before in WAYS_OUT
            if visitor and after and after != before and not is_late_report:
                yield before, after
                states[visitor] = after

    def _state_after(self, what: str) -> str:
        if what == "lapsed":
            return "ended" if self._is_refused else "lapsed"
        words = {"arrived": "prequeue", "joined": "waiting", "called": "called", "admitted": "inside", "missed": "lapsed"}
        return words.get(what, what if what in WAYS_OUT else "")

    def _events(self) -> Iterator[tuple[str, str]]:
        for _, fields in self.line.store.command("XRANGE", "st:{q}:events", "-", "+"):
            for event in fields[3].split("\n"):
                what, _, member = event.partition(" ")
                yield what, member.split(" ")[0]


@pytest.fixture(scope="module")
def seen() -> dict[str, set[tuple[str, str]]]:
    found = {}
    for name in QUEUES:
        store = Embedded()
        day = Day(store, name)
        day.go()
        found[name] = set(day.moves())
        store.close()
    return found


@pytest.mark.parametrize("name", QUEUES)
def test_the_scripts_make_no_step_that_the_table_does_not_have(seen: dict[str, set[tuple[str, str]]], name: str) -> None:
    assert [move for move in sorted(seen[name]) if not may_move(*move)] == []


def test_the_scripts_make_every_step_of_the_table(seen: dict[str, set[tuple[str, str]]]) -> None:
    made = set().union(*seen.values())
    assert [(move.start, move.end) for move in MOVES if (move.start, move.end) not in made | OF_THE_EDGE | IN_TWO] == []
