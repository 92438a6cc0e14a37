"""One person of a sale as a compact record, and how a crowd is drawn from shares and a seed."""

from __future__ import annotations

import random
from enum import IntEnum

from edge.core.model import Queue
from edge.core.tokens import Pass
from sim.sale import Arrivals, Sale
from sim.sale_checks import second_lane

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
    UNPAID = 14
    TOO_LONG = 15


class Payment(IntEnum):
    """How a buyer pays where the checkout has a timer."""

    NONE = 0
    IN_TIME = 1
    EXTENDS = 2
    RUNS_OUT = 3
    EXTENDS_AND_RUNS_OUT = 4


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
        "checkout_ms",
        "closes_ms",
        "ended_ms",
        "epoch",
        "held",
        "hidden",
        "index",
        "invite",
        "is_bot",
        "joined_ms",
        "leaves",
        "line",
        "name",
        "network",
        "payment",
        "pays_from_ms",
        "position",
        "queue",
        "returns_ms",
        "sleep_from_ms",
        "slow",
        "state",
        "touched_ms",
        "two_tabs",
        "vanishes",
        "visit_ends_ms",
    )  # fmt: skip

    def __init__(self, index: int, now_ms: int, queue: Queue) -> None:
        self.index, self.name, self.arrived_ms, self.queue = index, f"v{index}", now_ms, queue
        # `line`: where the person stands, or is going to stand if the invitation is good.
        self.state, self.line, self.position, self.epoch = State.COMING, queue.line, 0, ""
        self.network = self.invite = ""
        self.payment = Payment.NONE
        # When the payment begins (true time), and when its time is over by the clock of Redis; 0: not, or not yet.
        self.pays_from_ms = self.checkout_ms = 0
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

    def __init__(self, sale: Sale, seed: int) -> None:
        self._people, self._bots, self._queues = sale.people, sale.bots, sale.queues
        self._random = random.Random(seed)
        self._links: list[tuple[Queue, str]] = []  # invitations that were handed on and not used yet

    def _chance(self, percent: int) -> bool:
        return percent > 0 and self._random.random() * 100 < percent

    def _about_ms(self, mean_s: int) -> int:
        """Exponential around a mean, at least a second."""
        return 1000 + round(self._random.expovariate(1 / max(1, mean_s)) * 1000)

    def person(self, index: int, now_ms: int, queue: Queue) -> Person:
        """Someone who comes to this queue now."""
        traits, one = self._people, Person(index, now_ms, queue)
        one.network = f"10.{index >> 16 & 255}.{index >> 8 & 255}"
        self._goes(one)
        self._stands(one)
        one.two_tabs = self._chance(traits.two_tabs_percent)
        if self._chance(traits.sleepers_percent):
            one.sleep_from_ms = now_ms + self._about_ms(300)
        one.hidden = self._chance(traits.hidden_percent)
        one.absent = self._chance(traits.absent_when_called_percent)
        one.slow = self._chance(traits.slow_payers_percent)
        one.vanishes = self._chance(traits.vanish_inside_percent)
        one.buys = self._chance(traits.buyers_percent)
        if one.buys and not one.vanishes and queue.checkout_s is not None and self._chance(traits.checkout_percent):
            is_extended, runs_out = self._chance(traits.checkout_extends_percent), self._chance(traits.checkout_runs_out_percent)
            one.payment = Payment(1 + is_extended + 2 * runs_out)
        return one

    def _goes(self, one: Person) -> None:
        """Who closes the tab, to come back or not, and who gives up the place: nobody does both."""
        traits = self._people
        both = traits.closers_percent + traits.leavers_percent
        part = self._random.random() * 100 if both else 100.0
        if part >= both:
            return
        one.closes_ms = one.arrived_ms + self._about_ms(traits.closers_after_s)
        one.leaves = part >= traits.closers_percent
        if not one.leaves and self._chance(traits.returners_percent):
            one.returns_ms = one.closes_ms + self._about_ms(traits.returners_after_s)

    def _stands(self, one: Person) -> None:
        """Which lane, and by whose invitation."""
        lane = second_lane(one.queue)
        if lane is not None and self._chance(self._people.vip_percent):
            one.line = lane
            if one.queue.lanes[1].invite:
                one.invite = f"i{one.index}"
                if self._chance(self._people.invites_shared_percent):
                    self._links.append((one.queue, one.invite))
        elif self._links and self._links[0][0] is one.queue:
            _, one.invite = self._links.pop(0)
            one.line = lane if lane is not None else one.line

    def bot(self, index: int, now_ms: int) -> Person:
        """A bot that sends its cookie back and polls; it never comes in."""
        one = Person(index, now_ms, self._queues[0])
        one.is_bot = one.absent = True
        one.network = f"192.0.{self._random.randrange(self._bots.networks)}"
        return one

    def visit_ms(self, one: Person) -> int:
        """How long the visit of someone who comes in now lasts."""
        return self._about_ms(self._people.slow_visit_s if one.slow else self._people.visit_s)


def arrivals_of(pieces: tuple[Arrivals, ...], seed: int) -> list[tuple[int, str]]:
    """When people come, ms, in order, and to which queue."""
    chance = random.Random(seed)
    out: list[tuple[int, str]] = []
    for piece in pieces:
        span = (piece.to_s - piece.from_s) * 1000
        for _ in range(piece.people):
            part = chance.random()
            if piece.shape == "rush":
                part = part**3
            elif piece.shape == "ramp":
                part = part**0.5
            out.append((piece.from_s * 1000 + int(part * span), piece.queue))
    out.sort()
    return out


def spread_times(count: int, from_s: int, to_s: int, seed: int) -> list[int]:
    """`count` moments between two seconds, ms, in order."""
    return [at_ms for at_ms, _ in arrivals_of((Arrivals(from_s, to_s, count, "even"),), seed)]
