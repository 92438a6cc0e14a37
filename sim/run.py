"""A sale in virtual time: a heap of moments, the real scripts, an account that looks on."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Iterator

from edge.core import commands
from edge.core.snapshot import Snapshot
from sim import raw
from sim.account import Account
from sim.events import Events
from sim.ledger import Tally
from sim.node import Node
from sim.people import Crowd, Person, arrivals_of, spread_times
from sim.sale import Sale
from sim.server import Server
from sim.stage import AFTER, CLAIM, INSIDE, POLL, TAB, CallAt, Then
from sim.store import Store
from sim.visits import Visits
from sim.wire import Wire

_PERSON, _BOT, _HIT, _CHANGE, _FAULT, _CHECK, _MARK = range(10, 17)
_SWEEPS_AT_MOST = 10_000
_SAMPLE = 5_000  # people whose told waits are kept


class Run:
    """One sale. `server`: the redis-server that may be killed; None: one that is only spoken to."""

    def __init__(self, sale: Sale, store: Store, server: Server | None = None) -> None:
        self.sale, self.store = sale, store
        self.tally = Tally(max(1, sale.persons // _SAMPLE))
        self.crowd = Crowd(sale, sale.seed)
        self.persons: list[Person] = []
        self.account = Account(sale.queue, self.persons, 0)
        self.now_ms = 0
        self._random = random.Random(sale.seed + 2)
        offs = [round(sale.clocks_off_ms * (2 * n / max(1, sale.nodes - 1) - 1)) for n in range(sale.nodes)]
        self.nodes = [Node(off) for off in offs]
        self.wire = Wire(sale, store, self.account, self.tally, self._random)
        self.visits, self._events = Visits(sale, self), Events(sale, self.wire, self.account, server)
        self._due: list[tuple[int, int, int, int]] = []
        self._numbers = itertools.count()
        by_id = {queue.id: queue for queue in sale.queues}
        arrivals = arrivals_of(sale.arrivals, sale.seed + 4)
        self._goes_to = (by_id.get(queue_id, sale.queue) for _, queue_id in arrivals)
        self._sources: dict[int, Iterator[int]] = {
            _PERSON: iter([at_ms for at_ms, _ in arrivals]),
            _HIT: iter(spread_times(sale.bots.hits, sale.bots.from_s, sale.bots.to_s, sale.seed + 5)),
            _BOT: iter(spread_times(sale.bots.with_cookies, sale.bots.from_s, sale.bots.to_s, sale.seed + 6)),
        }

    # --- what visits ask of the run ---------------------------------------------------------------------------------------

    def at(self, at_ms: int, kind: int, person: Person) -> None:
        """Something happens later, never before the packet that is being made is sent."""
        heapq.heappush(self._due, (max(at_ms, self.wire.window_ends_ms), next(self._numbers), kind, person.index))

    def node(self) -> Node:
        """Any node: requests of one visitor are spread over all."""
        return self.nodes[int(self._random.random() * len(self.nodes))]

    def look(self, node: Node, at_ms: int) -> Snapshot | None:
        """The node's snapshot; it is taken anew when it is too old. None if there never was one."""
        if not node.is_fresh(at_ms) and node.may_ask(at_ms):
            self.wire.take_snapshot(node, at_ms)
        return node.snapshot

    def passed_door(self, person: Person, listed: int, at_ms: int) -> None:
        """A pass that was ended opened the door: the account says whether that may be."""
        self.account.passed_door(person, listed, at_ms)

    def ask(self, call_at: CallAt, person: Person, op: str, then: Then, at_ms: int, units: int = 0, tab: int = POLL) -> None:
        """A step of a person goes to Redis."""
        self.wire.ask(call_at, person, op, then, at_ms, units, tab)

    # --- the run ----------------------------------------------------------------------------------------------------------

    def go(self, progress: Callable[[int], None] = lambda ms: None) -> None:
        """Runs the sale. Raises Violated when a law is broken, StoreFailed when Redis is lost for good."""
        self.store.call(commands.configure(self.sale.queue, self.wire.hex(), new=True, now_ms=self.wire.redis_ms(0)))
        self._plan()
        end_ms, told_ms = self.sale.lasts_s * 1000, 0
        while self._due and self._due[0][0] <= end_ms and not self._is_done():
            at_ms, _, kind, index = heapq.heappop(self._due)
            if at_ms >= self.wire.window_ends_ms:
                self.wire.flush()
            self.now_ms = self.wire.now_ms = max(self.now_ms, at_ms)
            self._happen(kind, index, self.now_ms)
            if self.now_ms - told_ms >= 1000:
                progress(self.now_ms - told_ms)
                told_ms = self.now_ms
        self.wire.flush()
        progress(max(0, end_ms - told_ms))
        self._run_out()

    def _plan(self) -> None:
        """What is known beforehand."""
        for kind in self._sources:
            self._draw(kind)
        for index, change in enumerate(self.sale.changes):
            self._push(change.at_s * 1000, _CHANGE, index)
        for index, fault in enumerate(self.sale.faults):
            self._push(fault.at_s * 1000, _FAULT, index)
            if fault.kind == "kill" and fault.lose_s:
                self._push(max(0, fault.at_s - fault.lose_s) * 1000, _MARK, index)
        self._push(self._next_check(0), _CHECK, 0)

    def _is_done(self) -> bool:
        """Whether only the checks are left."""
        return len(self._due) == 1 and self._due[0][2] == _CHECK and self.wire.is_idle

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
            self.visits.inside.request(self.persons[index], at_ms)
        elif kind == AFTER:
            self.visits.inside.request_after(self.persons[index], at_ms)
        elif kind in self._sources:
            self._draw(kind)
            self._comes(kind, at_ms)
        else:
            self.wire.flush()
            self._rarely(kind, index, at_ms)

    def _comes(self, kind: int, at_ms: int) -> None:
        if kind == _HIT:
            self.visits.hit(at_ms)
            return
        number = len(self.persons)
        person = self.crowd.bot(number, at_ms) if kind == _BOT else self.crowd.person(number, at_ms, next(self._goes_to))
        self.persons.append(person)
        self.visits.arrive(person, at_ms)

    def _rarely(self, kind: int, index: int, at_ms: int) -> None:
        if kind == _CHECK:
            self._check(at_ms)
            self._push(self._next_check(at_ms), _CHECK, 0)
        elif kind == _CHANGE:
            self._events.change(self.sale.changes[index], at_ms)
        elif kind == _FAULT:
            self._events.fault(self.sale.faults[index], index, at_ms)
        else:
            self._events.mark(index)

    def _check(self, at_ms: int) -> None:
        queue, is_there = self.sale.queue, self.wire.is_there(at_ms)
        held = raw.read(self.store, queue.scope, with_ready=len(self.sale.queues) > 1 or bool(queue.lanes)) if is_there else None
        if held is not None:
            self.account.check(held, at_ms)

    def _run_out(self) -> None:
        """Every lease and pass runs out; then nothing may be left."""
        queue, at_ms = self.sale.queue, self.now_ms
        self.account.everybody_goes()
        longest_s = max(queue.idle_s, queue.checkout_s or 0) + 2 * queue.claim_within_s + queue.presence_grace_s + 120
        status = "open"
        for _ in range(-(-longest_s // 10)):
            at_ms += 10_000
            status = self._sweep(at_ms) or status
        self.tally.presence.change(0, self.now_ms)
        held = raw.read(self.store, queue.scope)
        if held is not None and status == "open":
            self.account.check(held, at_ms, is_over=True)

    def _sweep(self, at_ms: int) -> str:
        """Snapshots at one moment until nothing more is due: one sweep does a bounded part. Answers the status, '' if unknown."""
        scope, status, before = self.sale.queue.scope, "", None
        for _ in range(_SWEEPS_AT_MOST):
            seen = self.wire.answer(commands.take_snapshot(scope, self.wire.hex(), now_ms=self.wire.redis_ms(at_ms))).snapshot
            if seen is None or before == (seen.ready, seen.called, seen.inside):
                break
            status, before = seen.status, (seen.ready, seen.called, seen.inside)
        return status
