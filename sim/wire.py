"""The way from the edges to Redis: steps of many people in one packet, snapshots of the nodes, and what trouble does to both."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, replace

from edge.core import commands
from edge.core.calls import Answer, Call
from edge.core.keyring import Keyring
from edge.core.opening import opening
from sim.account import Account
from sim.ledger import Tally
from sim.node import Node
from sim.people import Person
from sim.sale import Sale
from sim.stage import CallAt, Then
from sim.store import Store
from sim.trouble import Trouble

START_MS = 1_800_000_000_000
# Steps of people within this much time go to Redis in one packet, in their order: nobody acts again that soon.
WINDOW_MS = 200
PACKET_AT_MOST = 128
# So many are sent at once, before their packet is full: Redis works on them while the sale goes on, on the other core.
POSTED_AT_ONCE = 4
_RING = Keyring.parse("sim:" + "c2ltdWxhdGlvbi1hbmQtbm90aGluZy1lbHNlLTMyLWI")  # seeds of simulated draws; it guards nothing


@dataclass(slots=True)
class _Step:
    call: Call
    person: Person
    op: str
    asked: tuple[str, int]
    units: int
    at_ms: int
    heard: bool
    then: Then
    tab: int


def _purpose(answer: Answer) -> str:
    """What a sign of life was for: the turn, the head window, or the sample of those far back."""
    if answer.verdict != "waiting" or answer.snapshot is None:
        return "turns asked for"
    return "presence" if answer.number(0) <= answer.snapshot.horizon else "sampled far back"


class Wire:
    """Sends steps and tells the account of every answer. `redis_off_ms`: how far the clock of Redis was set."""

    def __init__(self, sale: Sale, store: Store, account: Account, tally: Tally, chance: random.Random) -> None:
        self._sale, self.store, self._account, self._tally, self._random = sale, store, account, tally, chance
        self._trouble = Trouble(sale.faults, sale.seed + 3)
        self.redis_off_ms = 0
        self.now_ms = 0
        self.window_ends_ms = 0
        self._waiting: list[_Step] = []
        self._posted = 0  # of these, so many are on their way
        self._is_hearing = False
        self._requests = itertools.count(1)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be sent."""
        return not self._waiting

    def redis_ms(self, at_ms: int) -> int:
        """The clock of Redis at a true time."""
        return START_MS + at_ms + self.redis_off_ms

    def hex(self) -> str:
        """Randomness for a script."""
        return f"{self._random.getrandbits(64):016x}"

    def request_id(self) -> str:
        """A name for an operator's step."""
        return f"change-{next(self._requests)}"

    def is_there(self, at_ms: int) -> bool:
        """Whether Redis can be looked into now."""
        return self._trouble.fate(at_ms).sent

    def ask(self, call_at: CallAt, person: Person, op: str, then: Then, at_ms: int, units: int, tab: int) -> None:
        """Puts a step into the packet; a fault decides whether it is sent and heard."""
        fate = self._trouble.fate(at_ms)
        if not fate.sent:
            self._tally.counts["steps not sent"] += 1
            then(person, None, at_ms, tab)
            return
        if not self._waiting:
            self.window_ends_ms = at_ms + WINDOW_MS
        call = call_at(self.redis_ms(fate.at_ms))
        asked = (person.held.epoch, person.held.position) if person.held else (person.epoch, person.position)
        self._waiting.append(_Step(call, person, op, asked, units, at_ms, fate.heard, then, tab))
        if len(self._waiting) >= PACKET_AT_MOST:
            self.flush()
        elif not self._is_hearing and len(self._waiting) - self._posted >= POSTED_AT_ONCE:
            self._post()

    def _post(self, last: Call | None = None) -> None:
        calls = [step.call for step in self._waiting[self._posted :]]
        self.store.post([*calls, last] if last else calls)
        self._posted = len(self._waiting)

    def flush(self, last: Call | None = None) -> Answer | None:
        """Sends the packet, and `last` behind it; answers that one."""
        if not self._waiting and not last:
            return None
        self._post(last)
        steps, self._waiting, self._posted = self._waiting, [], 0
        answers, was_hearing = self.store.collect(), self._is_hearing
        # What is asked in reply is sent with the next packet, after what a missing state needs.
        self._is_hearing = True
        for step, answer in zip(steps, answers, strict=False):
            self._hear(step, answer)
        self._is_hearing = was_hearing
        return answers[-1] if last else None

    def _hear(self, step: _Step, answer: Answer) -> None:
        if answer.verdict == "missing":
            answer = self.answer(step.call)
        self._account.heard(step.person, step.op, answer, step.at_ms, step.asked, step.units)
        if step.op == "touch":
            self._tally.counts[_purpose(answer)] += 1
        if not step.heard:
            self._tally.counts["answers lost"] += 1
        step.then(step.person, answer if step.heard else None, step.at_ms, step.tab)

    def answer(self, call: Call) -> Answer:
        """As an edge asks: a state that is missing is begun, in recovery."""
        answer = self.store.call(call)
        if answer.verdict == "missing":
            self.store.call(commands.configure(self._sale.queue, self.hex(), now_ms=self.redis_ms(self.now_ms)))
            answer = self.store.call(call)
        return answer

    def take_snapshot(self, node: Node, at_ms: int) -> None:
        """The node's snapshot anew; whoever sees first that it is due opens the doors."""
        fate = self._trouble.fate(at_ms)
        if not fate.sent:
            node.failed(at_ms, away=fate.away)
            return
        queue, (name, visits) = self._sale.queue, node.counters.visits(self._sale.queue.scope, at_ms)
        now_ms = self.redis_ms(fate.at_ms)
        call = commands.take_snapshot(queue.scope, self.hex(), node=name, visits=visits, now_ms=now_ms)
        answer = self.flush(call)
        if answer is None or answer.verdict == "missing":
            answer = self.answer(call)
        if answer.snapshot is not None and (draw := opening(queue, answer.snapshot, _RING, self.hex())) is not None:
            self.answer(replace(draw, args=(str(now_ms), *draw.args[1:])))
            answer = self.answer(call)
        if fate.heard and answer.snapshot is not None:
            node.took(answer.snapshot, at_ms)
        else:
            node.failed(at_ms, away=False)
