"""A sale as a value. sim/sale_fields.py has its keys, sim/sale_file.py reads it from TOML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edge.core.model import Queue

Shape = Literal["even", "rush", "ramp"]
FaultKind = Literal["away", "errors", "lost_answers", "stall", "flush", "clock", "kill"]
ChangeKind = Literal["limits", "pause", "resume", "reset", "admit"]


@dataclass(frozen=True)
class Arrivals:
    """A piece of the arrival curve. `queue`: the id of the queue of the group that they come to; empty: the first."""

    from_s: int
    to_s: int
    people: int
    shape: Shape
    queue: str = ""


@dataclass(frozen=True)
class People:
    """Who they are: shares in percent of all, times in seconds."""

    closers_percent: int
    closers_after_s: int
    returners_percent: int
    returners_after_s: int
    leavers_percent: int
    vip_percent: int
    invites_shared_percent: int
    two_tabs_percent: int
    sleepers_percent: int
    sleep_s: int
    hidden_percent: int
    absent_when_called_percent: int
    claim_after_s: int
    visit_s: int
    request_every_s: int
    buyers_percent: int
    checkout_percent: int
    checkout_extends_percent: int
    checkout_runs_out_percent: int
    slow_payers_percent: int
    slow_visit_s: int
    vanish_inside_percent: int


@dataclass(frozen=True)
class Bots:
    """Hits without a cookie, and bots that send it back and so take places, from few networks."""

    hits: int
    from_s: int
    to_s: int
    with_cookies: int
    networks: int


@dataclass(frozen=True)
class Change:
    """What an operator does at a moment."""

    at_s: int
    action: ChangeKind
    count: int
    limits: tuple[tuple[str, int | None], ...]
    queue: str = ""  # pause and resume: of this queue of the group only


@dataclass(frozen=True)
class Fault:
    """Trouble of the store for a while."""

    at_s: int
    for_s: int
    kind: FaultKind
    percent: int
    clock_by_s: int
    lose_s: int


@dataclass(frozen=True)
class Sale:
    """One sale. Times are seconds after it begins.

    `queue`: the queue, or the first one of the group: limits, timers and schedule are the same in all. `others`: the rest.
    """

    name: str
    seed: int
    lasts_s: int
    nodes: int
    clocks_off_ms: int
    aof: Literal["no", "always", "everysec"]
    check_every_s: int
    queue: Queue
    others: tuple[Queue, ...]
    arrivals: tuple[Arrivals, ...]
    people: People
    bots: Bots
    changes: tuple[Change, ...]
    faults: tuple[Fault, ...]

    @property
    def queues(self) -> tuple[Queue, ...]:
        """Every queue, in the order of their lines."""
        return (self.queue, *self.others)

    @property
    def persons(self) -> int:
        """How many people come, bots apart."""
        return sum(piece.people for piece in self.arrivals)
