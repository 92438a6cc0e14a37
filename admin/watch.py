"""The last look at each queue. However many consoles are open, Redis is asked at most once a second for each queue shown.

When Redis is away the last look stays, with its age; the history is kept going in the background.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from admin.configuration import ConfigurationSource
from admin.history import IDLE_SAMPLE_EVERY_S, QUEUES_AT_MOST, History
from admin.operations import Operations
from admin.queue_view import QueueView
from admin.store import READ_AT_MOST, StoreUnavailable
from edge.core.model import Queue

FRESH_S = 0.9


@dataclass(frozen=True)
class Look:
    """What is known of a queue: its configuration, the last view (None: never seen since the start) and its age."""

    queue: Queue
    view: QueueView | None
    age_s: float | None


@dataclass(frozen=True)
class Picture:
    """A look at some queues. `problem`: why the store could not be asked just now, or empty."""

    looks: tuple[Look, ...]
    problem: str

    @property
    def age_s(self) -> float | None:
        """Age of the oldest look; None when something was never seen."""
        ages = [look.age_s for look in self.looks]
        return None if None in ages else max((age for age in ages if age is not None), default=0.0)


class Watch:
    """`unix_s` is the clock."""

    def __init__(self, source: ConfigurationSource, operations: Operations, unix_s: Callable[[], float]) -> None:
        self.history = History()
        self._source = source
        self._operations = operations
        self._clock = unix_s
        self._seen: dict[str, tuple[QueueView, float]] = {}
        self._problem = ""
        self._failed_at_s = float("-inf")
        self._lock = asyncio.Lock()

    async def look(self, queues: Sequence[Queue]) -> Picture:
        """Looks at these queues, at those again that were last seen more than FRESH_S ago. Never raises for the store."""
        async with self._lock:
            now_s = self._clock()
            old = [queue for queue in queues if not self._is_fresh(queue, now_s)]
            # One that just failed is not asked again by everybody who waited for the lock.
            if old and not 0 <= now_s - self._failed_at_s < FRESH_S:
                await self._refresh(old)
        return self._picture(queues)

    @property
    def problem(self) -> str:
        """Why the store could not be asked the last time, or empty."""
        return self._problem

    def remember(self, view: QueueView) -> None:
        """Takes over what an operation has just read."""
        now_s = self._clock()
        self._seen[view.id] = (view, now_s)
        self.history.add(view, now_s)

    async def keep_history(self) -> None:
        """Samples the first QUEUES_AT_MOST queues every IDLE_SAMPLE_EVERY_S until cancelled."""
        while True:
            queues = (await self._source.published()).config.queues
            ids = {queue.id for queue in queues}
            self._seen = {queue_id: seen for queue_id, seen in self._seen.items() if queue_id in ids}
            for start in range(0, min(len(queues), QUEUES_AT_MOST), READ_AT_MOST):
                await self.look(queues[start : min(start + READ_AT_MOST, QUEUES_AT_MOST)])
            await asyncio.sleep(IDLE_SAMPLE_EVERY_S)

    def _is_fresh(self, queue: Queue, now_s: float) -> bool:
        seen = self._seen.get(queue.id)
        return seen is not None and seen[0].queue == queue and 0 <= now_s - seen[1] < FRESH_S

    async def _refresh(self, queues: Sequence[Queue]) -> None:
        try:
            views = await self._operations.look(queues)
        except StoreUnavailable as error:
            self._problem, self._failed_at_s = str(error), self._clock()
            return
        self._problem = ""
        for view in views:
            self.remember(view)

    def _picture(self, queues: Sequence[Queue]) -> Picture:
        now_s = self._clock()
        looks = []
        for queue in queues:
            view, at_s = self._seen.get(queue.id, (None, 0.0))
            looks.append(Look(queue, view, None if view is None else max(0.0, now_s - at_s)))
        return Picture(tuple(looks), self._problem)
