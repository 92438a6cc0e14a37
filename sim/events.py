"""What happens to the queue at a moment: an operator's changes, and faults that are over at once."""

from __future__ import annotations

from typing import Literal

from edge.core import commands
from sim import raw
from sim.account import Account
from sim.sale import Change, Fault, Sale
from sim.server import Server
from sim.store import StoreFailed
from sim.wire import Wire

BATCH_AT_MOST = 500  # what one step of an operator calls (edge/core/scripts/admit.lua)


class Events:
    """Changes and faults of one sale. `server`: the redis-server that may be killed; None: one that is only spoken to."""

    def __init__(self, sale: Sale, wire: Wire, account: Account, server: Server | None) -> None:
        self._sale, self._wire, self._account, self._server = sale, wire, account, server
        self._marks: dict[int, int] = {}

    def change(self, change: Change, at_ms: int) -> None:
        """An operator's step."""
        wire, scope = self._wire, self._sale.queue.scope
        now_ms, request_id = wire.redis_ms(at_ms), wire.request_id()
        if change.action == "limits":
            limits = dict(change.limits)
            answer = wire.answer(commands.set_limits(scope, limits, wire.hex(), request_id=request_id, now_ms=now_ms))
            assert answer.snapshot is not None
            self._account.limits_are(answer.snapshot.clock_ms, limits)
        elif change.action == "admit":
            for left in range(change.count, 0, -BATCH_AT_MOST):
                count = min(left, BATCH_AT_MOST)
                wire.answer(commands.admit(scope, count, f"{request_id}-{left}", wire.hex(), now_ms=now_ms))
        elif change.queue:
            queue = next(each for each in self._sale.queues if each.id == change.queue)
            action: Literal["pause_lines", "open_lines"] = "pause_lines" if change.action == "pause" else "open_lines"
            wire.answer(commands.control_queue(queue, action, request_id, wire.hex(), now_ms=now_ms))
            lines = frozenset(range(queue.line, queue.line + queue.line_count))
            known = self._account.turns.paused
            self._account.turns.paused = known | lines if change.action == "pause" else known - lines
        else:
            if change.action == "resume":
                self._account.released()
            elif change.action == "reset":
                self._account.reset()
            wire.answer(commands.control(scope, change.action, request_id, wire.hex(), now_ms=now_ms))

    def mark(self, index: int) -> None:
        """How much of the append-only file there is, when a later kill loses what comes after."""
        if self._server is not None:
            self._marks[index] = self._server.aof_bytes()

    def fault(self, fault: Fault, index: int, at_ms: int) -> None:
        """A fault begins. Raises StoreFailed for a kill of a server that is not ours."""
        self._account.trouble_until(at_ms + fault.for_s * 1000)
        if fault.kind == "flush":
            self._wire.store.run([["FLUSHALL"]])
        elif fault.kind == "clock":
            self._wire.redis_off_ms += fault.clock_by_s * 1000
        elif fault.kind == "kill":
            self._kill(fault, index)

    def _kill(self, fault: Fault, index: int) -> None:
        if self._server is None:
            raise StoreFailed("only a Redis that the simulation started itself can be killed: leave --redis-url out")
        store = self._wire.store
        store.close()
        self._server.kill()
        if fault.lose_s:
            self._server.cut_aof(self._marks[index])
        self._server.start()
        store.reconnect()
        held = raw.read(store, self._sale.queue.scope)
        if held is not None and fault.lose_s:
            self._account.set_back(held)
