"""The last look at each queue. Consoles share it: what it costs Redis depends on the queues shown, not on who looks.

A queue that is being worked on is looked at every second, a list at LIST_READS_PER_S queues a second, and in the background
IDLE_QUEUES_AT_MOST queues every IDLE_SAMPLE_EVERY_S for their history. When Redis is away the last look stays, with its age.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from admin.configuration import ConfigurationSource
from admin.history import IDLE_SAMPLE_EVERY_S, History
from admin.operations import Operations
from admin.queue_view import QueueView
from admin.store import StoreUnavailable
from edge.core.model import Queue

FRESH_S = 0.9
LIST_READS_PER_S = 10
IDLE_QUEUES_AT_MOST = 25
# What a step elsewhere in its group made old is asked again, also in the longest list.
OLD_BY_S = 5.0
# Numbers this much older than they should be are shown as old.
STALE_AFTER_S = 2.1


@dataclass(frozen=True)
class Look:
    """What is known of a queue: its configuration, the last view (None: never seen since the start) and its age."""

    queue: Queue
    view: QueueView | None
    age_s: float | None


@dataclass(frozen=True)
class Picture:
    """A look at some queues. `problem`: why the store could not be asked just now, or empty.

    `age_s` is the age of the numbers that count (those of the chosen queue, or the oldest), None when they were never seen.
    """

    looks: tuple[Look, ...]
    problem: str
    age_s: float | None
    is_stale: bool


class Watch:
    """`unix_s` is the clock."""

    def __init__(self, source: ConfigurationSource, operations: Operations, unix_s: Callable[[], float]) -> None:
        self.history = History()
        self._source = source
        self._operations = operations
        self._clock = unix_s
        self._seen: dict[str, tuple[QueueView, float]] = {}
        # Ids that a console has shown, the latest last: these have a history first.
        self._shown: OrderedDict[str, None] = OrderedDict()
        self._problem = ""
        self._failed_at_s = float("-inf")
        self._lock = asyncio.Lock()

    async def look(self, queues: Sequence[Queue], chosen: Queue | None = None) -> Picture:
        """Looks at these queues, again at those whose last look is too old. Never raises for the store."""
        self._note_shown(queues)
        return await self._look(queues, chosen)

    async def _look(self, queues: Sequence[Queue], chosen: Queue | None) -> Picture:
        list_s = max(FRESH_S, len(queues) / LIST_READS_PER_S)
        async with self._lock:
            now_s = self._clock()
            old = [queue for queue in queues if not self._is_fresh(queue, now_s, FRESH_S if queue == chosen else list_s)]
            # One that just failed is not asked again by everybody who waited for the lock.
            if old and not 0 <= now_s - self._failed_at_s < FRESH_S:
                await self._refresh(old)
        return self._picture(queues, chosen, list_s)

    async def look_unseen(self, queues: Sequence[Queue], for_s: float) -> None:
        """Looks at those of these queues that nobody has looked at for `for_s`. Never raises for the store."""
        async with self._lock:
            now_s = self._clock()
            old = [queue for queue in queues if not self._is_fresh(queue, now_s, for_s)]
            if old and not 0 <= now_s - self._failed_at_s < FRESH_S:
                await self._refresh(old)

    def seen(self, queue_id: str) -> tuple[QueueView, float] | None:
        """The last view of a queue, and when that was; None if it was never seen."""
        return self._seen.get(queue_id)

    @property
    def problem(self) -> str:
        """Why the store could not be asked the last time, or empty."""
        return self._problem

    def remember(self, view: QueueView) -> None:
        """Takes over what an operation has just read."""
        now_s = self._clock()
        self._seen[view.id] = (view, now_s)
        self.history.add(view, now_s)

    def changed(self, view: QueueView) -> None:
        """Takes over what a step has just read; what was seen of other queues of its group is old now."""
        self.remember(view)
        for queue_id, (other, at_s) in self._seen.items():
            if queue_id != view.id and other.queue.scope == view.queue.scope:
                self._seen[queue_id] = (other, at_s - OLD_BY_S)

    async def keep_history(self) -> None:
        """Samples queues every IDLE_SAMPLE_EVERY_S until cancelled: those shown latest, then in the configuration's order."""
        while True:
            by_id = {queue.id: queue for queue in (await self._source.published()).config.queues}
            self._seen = {queue_id: seen for queue_id, seen in self._seen.items() if queue_id in by_id}
            wanted = dict.fromkeys([*reversed(self._shown), *by_id])
            chosen = [by_id[queue_id] for queue_id in wanted if queue_id in by_id][:IDLE_QUEUES_AT_MOST]
            await self._look(chosen, None)
            await asyncio.sleep(IDLE_SAMPLE_EVERY_S)

    def _note_shown(self, queues: Sequence[Queue]) -> None:
        for queue in queues:
            self._shown[queue.id] = None
            self._shown.move_to_end(queue.id)
        while len(self._shown) > IDLE_QUEUES_AT_MOST:
            self._shown.popitem(last=False)

    def _is_fresh(self, queue: Queue, now_s: float, for_s: float) -> bool:
        seen = self._seen.get(queue.id)
        return seen is not None and seen[0].queue == queue and 0 <= now_s - seen[1] < for_s

    async def _refresh(self, queues: Sequence[Queue]) -> None:
        try:
            views = await self._operations.look(queues)
        except StoreUnavailable as error:
            self._problem, self._failed_at_s = str(error), self._clock()
            return
        self._problem = ""
        for view in views:
            self.remember(view)

    def _picture(self, queues: Sequence[Queue], chosen: Queue | None, list_s: float) -> Picture:
        now_s = self._clock()
        looks = []
        for queue in queues:
            view, at_s = self._seen.get(queue.id, (None, 0.0))
            looks.append(Look(queue, view, None if view is None else max(0.0, now_s - at_s)))
        ages = [look.age_s for look in looks if chosen is None or look.queue == chosen]
        age_s = None if None in ages else max((age for age in ages if age is not None), default=0.0)
        allowed_s = STALE_AFTER_S + (FRESH_S if chosen else list_s)
        return Picture(tuple(looks), self._problem, age_s, age_s is None or age_s > allowed_s)
