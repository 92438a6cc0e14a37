"""The history of every queue that runs: one row a minute in the database, for two days.

Each queue is looked at once a minute, a sixtieth of them every second, one of each group; those that somebody has just looked at
are not asked again. So 1,000 queues cost Redis 17 looks a second, each of three commands at most, whoever watches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from admin.configuration import ConfigurationSource
from admin.log import log
from admin.queue_view import MISSING, QueueView
from admin.state import samples
from admin.state.db import Database, StateUnavailable
from admin.watch import Watch
from edge.core.model import Queue

MINUTE_S = 60
FORGET_EVERY_MINUTES = 30


def minute_figures(view: QueueView) -> dict[str, Any]:
    """What is kept of a queue for one minute. `admitted` is of the last 60 s; `total` counts since the epoch began."""
    return {
        "status": view.status,
        "waiting": view.waiting,
        "present": view.present,
        "called": view.called,
        "inside": view.inside,
        "admitted": view.admitted_last_minute,
        "rate": view.limits.admit_per_minute,
        "cap": view.limits.max_active,
        "arrived": view.arrived,
        "total": view.counts.get("admitted", 0),
    }


class Sampler:
    """`unix_s` is the clock. `run` goes on until it is cancelled; `tick` is one second of it."""

    def __init__(self, source: ConfigurationSource, watch: Watch, db: Database, unix_s: Callable[[], float]) -> None:
        self._source = source
        self._watch = watch
        self._db = db
        self._clock = unix_s
        self._minute = int(unix_s() // MINUTE_S)
        self._done_s = int(unix_s())
        self._forgot_at = 0
        self._waits: dict[int, Mapping[str, Mapping[str, Any]]] = {}

    async def run(self) -> None:
        """Samples for ever."""
        while True:
            now_s = self._clock()
            await asyncio.sleep(max(0.05, 1 - now_s % 1))
            await self.tick()

    async def tick(self) -> None:
        """Looks at the queues whose second it is, and keeps the minute that is over."""
        now_s = self._clock()
        queues = (await self._source.published()).config.queues
        minute, since_s = int(now_s // MINUTE_S), max(self._done_s, int(now_s) - MINUTE_S)
        # A late tick makes up for the seconds that it missed.
        seconds = {at_s % MINUTE_S for at_s in range(since_s + 1, int(now_s) + 1)}
        self._done_s = int(now_s)
        await self._watch.look_unseen([queue for second in sorted(seconds) for queue in due(queues, second)], MINUTE_S / 2)
        if minute != self._minute:
            self._keep(self._minute, queues)
            self._minute = minute
        await self._write(minute)

    def _keep(self, minute: int, queues: Sequence[Queue]) -> None:
        """Takes what was seen in the minute that is over; of a group every queue has the same numbers."""
        by_scope: dict[str, QueueView] = {}
        for queue in queues:
            found = self._watch.seen(queue.id)
            if found is not None and found[1] >= minute * MINUTE_S and found[0].status != MISSING:
                by_scope[queue.scope] = found[0]
        figures = {queue.id: minute_figures(by_scope[queue.scope]) for queue in queues if queue.scope in by_scope}
        # While the database is away the last minutes wait for it, not all of a long night.
        self._waits = dict(list({**self._waits, minute: figures}.items())[-10:])

    async def _write(self, minute: int) -> None:
        if not self._waits:
            return
        waits = dict(self._waits)
        try:
            await self._db.run(lambda session: samples.add(session, waits))
            self._waits = {at: figures for at, figures in self._waits.items() if at not in waits}
            if minute - self._forgot_at >= FORGET_EVERY_MINUTES:
                self._forgot_at = minute
                await self._db.run(lambda session: samples.forget(session, minute))
        except StateUnavailable as error:
            log("samples wait", minutes=len(self._waits), error=str(error))


def due(queues: Iterable[Queue], second: int) -> list[Queue]:
    """Those that are looked at in this second of the minute; one queue of each group."""
    scopes: dict[str, Queue] = {}
    for queue in queues:
        scopes.setdefault(queue.scope, queue)
    return [queue for index, queue in enumerate(scopes.values()) if index % MINUTE_S == second]
