"""What the steps of visitors may ask of the run that they happen in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from edge.core.calls import Answer, Call
from edge.core.snapshot import Snapshot
from sim.ledger import Tally
from sim.node import Node
from sim.people import Crowd, Person, State

# What happens to a person at a moment.
POLL, TAB, CLAIM, INSIDE, AFTER = range(5)

# Makes a call for a moment of the clock of Redis.
CallAt = Callable[[int], Call]
# Hears an answer, or None: person, answer, true time in ms, tab.
Then = Callable[[Person, Answer | None, int, int], None]


class Stage(Protocol):
    """The run, as the steps of visitors see it."""

    tally: Tally
    crowd: Crowd

    def at(self, at_ms: int, kind: int, person: Person) -> None:
        """Something happens later."""

    def ask(self, call_at: CallAt, person: Person, op: str, then: Then, at_ms: int, units: int = 0, tab: int = POLL) -> None:
        """A step goes to Redis; `then` hears the answer, or None when none came."""

    def node(self) -> Node:
        """The edge node that the next request reaches."""

    def look(self, node: Node, at_ms: int) -> Snapshot | None:
        """What that node sees of the queue."""

    def passed_door(self, person: Person, listed: int, at_ms: int) -> None:
        """A pass that was ended opened the door of a node whose snapshot lists so many."""


def finish(stage: Stage, person: Person, state: State, ended_ms: int, at_ms: int) -> None:
    """It is over for this person."""
    if person.state in (State.WAITING, State.CALLED):
        stage.tally.presence.change(-1, at_ms)
    person.state, person.ended_ms, person.held = state, ended_ms, None


def random_of(person: Person) -> str:
    """What a script takes as randomness, the same in each run."""
    return f"{person.index:016x}"
