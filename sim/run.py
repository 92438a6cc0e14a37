"""A sale in virtual time: a heap of moments, the real scripts, an account that looks on."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from edge.core import commands
from edge.core.commands import Answer, Call
from edge.core.opening import opening
from edge.core.snapshot import Snapshot
from edge.core.tokens import Keyring
from sim import raw
from sim.account import Account
from sim.ledger import Tally
from sim.node import Node
from sim.people import Crowd, Person, arrival_times, spread_times
from sim.sale import Change, Fault, Sale
from sim.server import Server
from sim.store import Store, StoreFailed
from sim.trouble import Trouble
from sim.visits import AFTER, CLAIM, INSIDE, POLL, TAB, CallAt, Then, Visits

START_MS = 1_800_000_000_000
# Steps of people within this much time go to Redis in one packet, in their order: nobody acts again that soon.
WINDOW_MS = 200
PACKET_AT_MOST = 128
_PERSON, _BOT, _HIT, _CHANGE, _FAULT, _CHECK, _MARK, _NODE = range(10, 18)
_RING = Keyring.parse("sim:" + "c2ltdWxhdGlvbi1hbmQtbm90aGluZy1lbHNlLTMyLWI")  # seeds of simulated draws; it guards nothing
_SAMPLE = 5_000  # people whose told waits are kept


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


class Run:
    """One sale. `server`: the redis-server that may be killed; None: one that is only spoken to."""

    def __init__(self, sale: Sale, store: Store, server: Server | None = None) -> None:
        self.sale, self.store, self._server = sale, store, server
        self.tally = Tally(max(1, sale.persons // _SAMPLE))
        self.crowd = Crowd(sale.people, sale.bots, sale.seed, has_lanes=len(sale.queue.lanes) > 1)
        self.persons: list[Person] = []
        self.account = Account(sale.queue, self.persons, 0)
        self.now_ms = 0
        self.redis_off_ms = 0
        self._random = random.Random(sale.seed + 2)
        self._trouble = Trouble(sale.faults, sale.seed + 3)
        offs = [round(sale.clocks_off_ms * (2 * n / max(1, sale.nodes - 1) - 1)) for n in range(sale.nodes)]
        self.nodes = [Node(off) for off in offs]
        self.visits = Visits(sale, self)
        self._due: list[tuple[int, int, int, int]] = []
        self._numbers = itertools.count()
        self._waiting: list[_Step] = []
        self._window_ends_ms = 0
        self._marks: dict[int, int] = {}
        self._requests = itertools.count(1)

    # --- what visits ask of the run ---------------------------------------------------------------------------------------

    def at(self, at_ms: int, kind: int, person: Person) -> None:
        """Something happens later, never before the packet that is being made is sent."""
        heapq.heappush(self._due, (max(at_ms, self._window_ends_ms), next(self._numbers), kind, person.index))

    def node(self) -> Node:
        """Any node: requests of one visitor are spread over all."""
        return self.nodes[int(self._random.random() * len(self.nodes))]

    def look(self, node: Node, at_ms: int) -> Snapshot | None:
        """The node's snapshot; it is taken anew when it is too old. None if there never was one."""
        if not node.is_fresh(at_ms) and node.may_ask(at_ms):
            self._take(node, at_ms)
        return node.snapshot

    def passed_door(self, person: Person, listed: int, at_ms: int) -> None:
        """A pass that was ended opened the door: the account says whether that may be."""
        self.account.passed_door(person, listed, at_ms)

    def _take(self, node: Node, at_ms: int) -> None:
        fate = self._trouble.fate(at_ms)
        if not fate.sent:
            node.failed(at_ms, away=fate.away)
            return
        queue, (name, visits) = self.sale.queue, node.counters.visits(self.sale.queue.scope)
        now_ms = self._redis_ms(fate.at_ms)
        call = commands.take_snapshot(queue.scope, self._hex(), node=name, visits=visits, now_ms=now_ms)
        answer = self._flush(call)
        if answer is None or answer.verdict == "missing":
            answer = self._answer(call)
        if answer.snapshot is not None and (draw := opening(queue, answer.snapshot, _RING, self._hex())) is not None:
            # Whoever sees first that it is due opens the doors.
            self._answer(replace(draw, args=(str(now_ms), *draw.args[1:])))
            answer = self._answer(call)
        if fate.heard and answer.snapshot is not None:
            node.took(answer.snapshot, at_ms)
        else:
            node.failed(at_ms, away=False)

    def ask(self, call_at: CallAt, person: Person, op: str, then: Then, at_ms: int, units: int = 0) -> None:
        """Puts a step into the packet; a fault decides whether it is sent and heard."""
        fate = self._trouble.fate(at_ms)
        tab = self.visits.tab
        if not fate.sent:
            self.tally.counts["steps not sent"] += 1
            then(person, None, at_ms, tab)
            return
        if not self._waiting:
            self._window_ends_ms = at_ms + WINDOW_MS
        call = call_at(self._redis_ms(fate.at_ms))
        asked = (person.held.epoch, person.held.position) if person.held else (person.epoch, person.position)
        self._waiting.append(_Step(call, person, op, asked, units, at_ms, fate.heard, then, tab))
        if len(self._waiting) >= PACKET_AT_MOST:
            self._flush()

    def _redis_ms(self, at_ms: int) -> int:
        return START_MS + at_ms + self.redis_off_ms

    def _hex(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def _flush(self, last: Call | None = None) -> Answer | None:
        """Sends the packet, and `last` behind it; answers that one."""
        steps, self._waiting = self._waiting, []
        calls = [step.call for step in steps]
        answers = self.store.calls([*calls, last] if last else calls) if calls or last else []
        for step, answer in zip(steps, answers, strict=False):
            if answer.verdict == "missing":
                answer = self._answer(step.call)
            self.account.heard(step.person, step.op, answer, step.at_ms, step.asked, step.units)
            if step.op == "touch":
                self.tally.counts[_purpose(answer)] += 1
            if not step.heard:
                self.tally.counts["answers lost"] += 1
            step.then(step.person, answer if step.heard else None, step.at_ms, step.tab)
        return answers[-1] if last else None

    def _answer(self, call: Call) -> Answer:
        """As an edge asks: a state that is missing is begun, in recovery."""
        answer = self.store.call(call)
        if answer.verdict == "missing":
            self.store.call(commands.configure(self.sale.queue, self._hex(), now_ms=self._redis_ms(self.now_ms)))
            answer = self.store.call(call)
        return answer

    # --- the run ----------------------------------------------------------------------------------------------------------

    def go(self, progress: Callable[[int], None] = lambda ms: None) -> None:
        """Runs the sale. Raises Violated when a law is broken, StoreFailed when Redis is lost for good."""
        self.store.call(commands.configure(self.sale.queue, self._hex(), new=True, now_ms=self._redis_ms(0)))
        self._sources: dict[int, Iterator[int]] = {
            _PERSON: iter(arrival_times(self.sale.arrivals, self.sale.seed + 4)),
            _HIT: iter(spread_times(self.sale.bots.hits, self.sale.bots.from_s, self.sale.bots.to_s, self.sale.seed + 5)),
            _BOT: iter(spread_times(self.sale.bots.with_cookies, self.sale.bots.from_s, self.sale.bots.to_s, self.sale.seed + 6)),
        }
        for kind in self._sources:
            self._draw(kind)
        for index, change in enumerate(self.sale.changes):
            self._push(change.at_s * 1000, _CHANGE, index)
        for index, fault in enumerate(self.sale.faults):
            self._push(fault.at_s * 1000, _FAULT, index)
            if fault.kind == "kill" and fault.lose_s:
                self._push(max(0, fault.at_s - fault.lose_s) * 1000, _MARK, index)
        self._push(self._next_check(0), _CHECK, 0)
        end_ms, told_ms = self.sale.lasts_s * 1000, 0
        while self._due and self._due[0][0] <= end_ms and not self._is_done():
            at_ms, _, kind, index = heapq.heappop(self._due)
            if at_ms >= self._window_ends_ms:
                self._flush()
            self.now_ms = max(self.now_ms, at_ms)
            self._happen(kind, index, self.now_ms)
            if self.now_ms - told_ms >= 1000:
                progress(self.now_ms - told_ms)
                told_ms = self.now_ms
        self._flush()
        progress(max(0, end_ms - told_ms))
        self._run_out()

    def _is_done(self) -> bool:
        """Whether only the checks are left."""
        return len(self._due) == 1 and self._due[0][2] == _CHECK and not self._waiting

    def _push(self, at_ms: int, kind: int, index: int) -> None:
        heapq.heappush(self._due, (at_ms, next(self._numbers), kind, index))

    def _draw(self, kind: int) -> None:
        at_ms = next(self._sources[kind], None)
        if at_ms is not None:
            self._push(at_ms, kind, 0)

    def _next_check(self, at_ms: int) -> int:
        return at_ms + 1 + round(self._random.uniform(0.2, 1.8) * self.sale.check_every_s * 1000)

    def _happen(self, kind: int, index: int, at_ms: int) -> None:
        if kind <= TAB:
            self.visits.poll(self.persons[index], at_ms, kind)
        elif kind == CLAIM:
            self.visits.poll(self.persons[index], at_ms, POLL, wants_in=True)
        elif kind == INSIDE:
            self.visits.request(self.persons[index], at_ms)
        elif kind == AFTER:
            self.visits.request_after(self.persons[index], at_ms)
        elif kind in self._sources:
            self._draw(kind)
            self._comes(kind, at_ms)
        else:
            self._flush()
            self._rarely(kind, index, at_ms)

    def _comes(self, kind: int, at_ms: int) -> None:
        if kind == _HIT:
            self.visits.hit(at_ms)
            return
        number = len(self.persons)
        person = self.crowd.bot(number, at_ms) if kind == _BOT else self.crowd.person(number, at_ms)
        self.persons.append(person)
        self.visits.arrive(person, at_ms)

    def _rarely(self, kind: int, index: int, at_ms: int) -> None:
        if kind == _CHECK:
            self._check(at_ms)
            self._push(self._next_check(at_ms), _CHECK, 0)
        elif kind == _CHANGE:
            self._change(self.sale.changes[index], at_ms)
        elif kind == _FAULT:
            self._fault(self.sale.faults[index], index, at_ms)
        elif kind == _MARK and self._server is not None:
            self._marks[index] = self._server.aof_bytes()

    def _check(self, at_ms: int) -> None:
        if not self._trouble.fate(at_ms).sent:
            return
        held = raw.read(self.store, self.sale.queue.scope)
        if held is not None:
            self.account.check(held, at_ms)

    def _change(self, change: Change, at_ms: int) -> None:
        scope, now_ms, request_id = self.sale.queue.scope, self._redis_ms(at_ms), f"change-{next(self._requests)}"
        if change.action == "limits":
            limits = dict(change.limits)
            answer = self._answer(commands.set_limits(scope, limits, self._hex(), request_id=request_id, now_ms=now_ms))
            assert answer.snapshot is not None
            self.account.limits_are(answer.snapshot.clock_ms, limits)
        elif change.action == "admit":
            left = change.count
            while left > 0:
                self._answer(commands.admit(scope, min(left, 500), f"{request_id}-{left}", self._hex(), now_ms=now_ms))
                left -= 500
        else:
            if change.action == "resume":
                self.account.released()
            elif change.action == "reset":
                self.account.reset()
            self._answer(commands.control(scope, change.action, request_id, self._hex(), now_ms=now_ms))

    def _fault(self, fault: Fault, index: int, at_ms: int) -> None:
        self.account.trouble_until(at_ms + fault.for_s * 1000)
        if fault.kind == "flush":
            self.store.run([["FLUSHALL"]])
        elif fault.kind == "clock":
            self.redis_off_ms += fault.clock_by_s * 1000
        elif fault.kind == "kill":
            self._kill(fault, index)

    def _kill(self, fault: Fault, index: int) -> None:
        if self._server is None:
            raise StoreFailed("only a Redis that the simulation started itself can be killed: leave --redis-url out")
        self.store.close()
        self._server.kill()
        if fault.lose_s:
            self._server.cut_aof(self._marks[index])
        self._server.start()
        self.store.reconnect()
        held = raw.read(self.store, self.sale.queue.scope)
        if held is not None and fault.lose_s:
            self.account.set_back(held)

    def _run_out(self) -> None:
        """Every lease and pass runs out; then nothing may be left."""
        queue, at_ms = self.sale.queue, self.now_ms
        self.account.everybody_goes()
        longest_s = queue.idle_s + 2 * queue.claim_within_s + queue.presence_grace_s + 120
        status = "open"
        for _ in range(-(-longest_s // 10)):
            at_ms += 10_000
            answer = self._answer(commands.take_snapshot(queue.scope, self._hex(), now_ms=self._redis_ms(at_ms)))
            status = answer.snapshot.status if answer.snapshot else status
        self.tally.presence.change(0, self.now_ms)
        held = raw.read(self.store, queue.scope)
        if held is not None and status == "open":
            self.account.check_end(held, at_ms)
