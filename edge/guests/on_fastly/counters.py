"""What a point of presence counts, since a sandbox lives for one request: places, new visits, admissions without Redis."""

from __future__ import annotations

from collections.abc import Callable

from edge.core.node import NodeCounters
from edge.guests.on_fastly import memory
from edge.guests.on_fastly.api import Err, erl
from edge.guests.on_fastly.redis import Deadline

RATE_COUNTER = "STANCHION_RATE_COUNTER"
_WINDOW_S = 60
_MINUTE_MS = 60_000
_TICKET_BUDGET_MS = 50
_NODE, _NODE_KEPT_MS = "stanchion/node", 3_600_000


class PopCounters(NodeCounters):
    """Counts of one point of presence.

    Places and new visits are counted by the edge rate counter that `counter` names ("" for none); it may count up to a tenth too
    little: a shield in front of Redis, not an authority. Admissions without Redis need none: as many tickets as may be let in
    within a minute, one is on offer at a time, and one that was taken is worth nothing for a minute.
    """

    def __init__(self, counter: Callable[[], str], trouble: Callable[[str], None]) -> None:
        super().__init__()
        self._counter, self._trouble = counter, trouble

    def take_place(self, queue_id: str, network: str, limit_per_minute: int, now_ms: int, ticket: str) -> bool:
        """Whether this network may get another place. A repeated `ticket` is the same place, asked for again."""
        if self.has_ticket(ticket):
            return True
        if self._is_over(f"{queue_id} {network}", limit_per_minute):
            self.refused_places += 1
            return False
        return super().take_place(queue_id, network, limit_per_minute, now_ms, ticket)

    def _is_over(self, entry: str, limit: int) -> bool:
        return bool(self._counter()) and self._count(entry, 1) > limit

    def _count(self, entry: str, more: int) -> int:
        """How often the entry was counted in the last minute, with `more` now; 0 when nothing counts."""
        name = self._counter()
        try:
            with erl.RateCounter.open(name) as counter:
                if more:
                    counter.increment(entry, more)
                return int(counter.lookup_count(entry, _WINDOW_S))
        except Err as error:
            self._trouble(f"the rate counter {name} does not count: {type(error.value).__name__}")
            return 0

    def visit(self, scope: str, ticket: str, now_ms: int) -> None:
        """Counts a new visit of this point of presence, whose name the first one gives."""
        if not self._counter():
            self._trouble(f"{RATE_COUNTER} names no rate counter: new visits are not counted, start_queueing_above never begins")
            return
        self._count(f"visits {scope}", 1)
        try:
            if memory.recall(_NODE) is None:
                memory.remember(_NODE, ticket[40:56], _NODE_KEPT_MS)
        except Err as error:
            self._trouble(f"new visits are not told: {type(error.value).__name__}")

    def visits(self, scope: str, now_ms: int) -> tuple[str, int]:
        """The name of this point of presence, empty before its first visit, and its new visits of the last minute."""
        try:
            node = (self._counter() and memory.recall(_NODE)) or ""
        except Err:
            node = ""
        return node, self._count(f"visits {scope}", 0) if node else 0

    def take_store_error_admission(self, queue_id: str, per_minute: int, now_ms: int) -> bool:
        """One admission without Redis: never more than `per_minute` within a minute, spread over it."""
        ticket = now_ms * per_minute // _MINUTE_MS % per_minute
        try:
            with memory.Transaction(f"stanchion/let in/{queue_id}/{ticket}", Deadline(_TICKET_BUDGET_MS)) as taken:
                if not taken.is_obliged:
                    return False
                taken.bring("taken", _MINUTE_MS, 0)
        except (Err, memory.TooLate):
            return False
        self.store_error_admissions += 1
        return True
