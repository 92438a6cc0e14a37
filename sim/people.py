"""One person of a sale as a compact record, and how a crowd is drawn from shares and a seed."""

from __future__ import annotations

import random
from enum import IntEnum

from edge.core.tokens import Pass
from sim.sale import Arrivals, Bots, People

NEVER_MS = 2**62


class State(IntEnum):
    """Where a person is. From CLOSED on, it is over."""

    COMING = 0
    CANDIDATE = 1
    WAITING = 2
    CALLED = 3
    INSIDE = 4
    CLOSED = 5
    GAVE_UP = 6
    LAPSED = 7
    BOUGHT = 8
    LEFT = 9
    VANISHED = 10
    EXPIRED = 11
    CONFLICT = 12
    SOLD_OUT = 13


class Person:
    """Traits drawn at the arrival, what the cookie holds, and when things happened (ms of the sale's true time)."""

    __slots__ = (
        "absent",
        "admitted_ms",
        "alert_ms",
        "arrival",
        "arrived_ms",
        "buys",
        "called_ms",
        "closes_ms",
        "ended_ms",
        "epoch",
        "held",
        "hidden",
        "index",
        "is_bot",
        "joined_ms",
        "leaves",
        "line",
        "name",
        "network",
        "position",
        "returns_ms",
        "sleep_from_ms",
        "slow",
        "state",
        "touched_ms",
        "two_tabs",
        "vanishes",
        "visit_ends_ms",
    )  # fmt: skip

    def __init__(self, index: int, now_ms: int) -> None:
        self.index, self.name, self.arrived_ms = index, f"v{index}", now_ms
        self.state, self.line, self.position, self.epoch = State.COMING, 0, 0, ""
        self.network = ""
        self.held: Pass | None = None
        # By the clock of Redis, as the place token carries it.
        self.touched_ms = 0
        # Polls as told since then: only such a person may count on not being passed over.
        self.alert_ms = now_ms
        self.joined_ms = self.called_ms = self.admitted_ms = self.ended_ms = self.visit_ends_ms = -1
        self.closes_ms = self.sleep_from_ms = NEVER_MS
        self.returns_ms = 0
        self.is_bot = self.arrival = self.absent = self.hidden = self.leaves = False
        self.slow = self.two_tabs = self.vanishes = self.buys = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of this person."""
        return self.state >= State.CLOSED


class Crowd:
    """Draws people. The same seed draws the same people in the same order."""

    def __init__(self, people: People, bots: Bots, seed: int, has_lanes: bool) -> None:
        self._people, self._bots, self._has_lanes = people, bots, has_lanes
        self._random = random.Random(seed)

    def _chance(self, percent: int) -> bool:
        return percent > 0 and self._random.random() * 100 < percent

    def _about_ms(self, mean_s: int) -> int:
        """Exponential around a mean, at least a second."""
        return 1000 + round(self._random.expovariate(1 / max(1, mean_s)) * 1000)

    def person(self, index: int, now_ms: int) -> Person:
        """Someone who comes now."""
        traits, one = self._people, Person(index, now_ms)
        one.network = f"10.{index >> 16 & 255}.{index >> 8 & 255}"
        if self._chance(traits.closers_percent):
            one.closes_ms = now_ms + self._about_ms(traits.closers_after_s)
            if self._chance(traits.returners_percent):
                one.returns_ms = one.closes_ms + self._about_ms(traits.returners_after_s)
        elif self._chance(traits.leavers_percent):
            one.closes_ms, one.leaves = now_ms + self._about_ms(traits.closers_after_s), True
        one.line = 1 if self._has_lanes and self._chance(traits.vip_percent) else 0
        one.two_tabs = self._chance(traits.two_tabs_percent)
        if self._chance(traits.sleepers_percent):
            one.sleep_from_ms = now_ms + self._about_ms(300)
        one.hidden = self._chance(traits.hidden_percent)
        one.absent = self._chance(traits.absent_when_called_percent)
        one.slow = self._chance(traits.slow_payers_percent)
        one.vanishes = self._chance(traits.vanish_inside_percent)
        one.buys = self._chance(traits.buyers_percent)
        return one

    def bot(self, index: int, now_ms: int) -> Person:
        """A bot that sends its cookie back and polls; it never comes in."""
        one = Person(index, now_ms)
        one.is_bot = one.absent = True
        one.network = f"192.0.{self._random.randrange(self._bots.networks)}"
        return one

    def visit_ms(self, one: Person) -> int:
        """How long the visit of someone who comes in now lasts."""
        return self._about_ms(self._people.slow_visit_s if one.slow else self._people.visit_s)


def arrival_times(pieces: tuple[Arrivals, ...], seed: int) -> list[int]:
    """When people come, ms, in order."""
    chance = random.Random(seed)
    out: list[int] = []
    for piece in pieces:
        span = (piece.to_s - piece.from_s) * 1000
        for _ in range(piece.people):
            part = chance.random()
            if piece.shape == "rush":
                part = part**3
            elif piece.shape == "ramp":
                part = part**0.5
            out.append(piece.from_s * 1000 + int(part * span))
    out.sort()
    return out


def spread_times(count: int, from_s: int, to_s: int, seed: int) -> list[int]:
    """`count` moments between two seconds, ms, in order."""
    return arrival_times((Arrivals(from_s, to_s, count, "even"),), seed)
