"""The parts that operating a sale needs, made once for an app, and what runs by itself beside its requests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from admin.configuration import ConfigurationSource
from admin.console.events import Streams
from admin.log import log
from admin.operate.figures import FiguresDesk
from admin.operate.history import HistoryDesk
from admin.operate.performer import Performer
from admin.operate.rehearsal import Rehearsals
from admin.operate.sampler import Sampler
from admin.operations import Operations
from admin.state.db import Database
from admin.store import Store
from admin.watch import Watch

AGAIN_S = 5.0


@dataclass(frozen=True)
class OperateDesk:
    """`streams` counts the pages that are kept current."""

    watch: Watch
    figures: FiguresDesk
    history: HistoryDesk
    sampler: Sampler
    performer: Performer
    streams: Streams
    rehearsals: Rehearsals

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Samples and carries out the schedule until the block ends."""
        jobs = {"history": self.watch.keep_history, "samples": self.sampler.run, "schedule": self.performer.run}
        tasks = [asyncio.create_task(_for_ever(name, job)) for name, job in jobs.items()]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.rehearsals.stop()


def make(
    source: ConfigurationSource, operations: Operations, store: Store, watch: Watch, db: Database, unix_s: Callable[[], float]
) -> OperateDesk:
    """The parts. `unix_s` is the clock."""
    return OperateDesk(
        watch=watch,
        figures=FiguresDesk(store, unix_s),
        history=HistoryDesk(watch, db, unix_s),
        sampler=Sampler(source, watch, db, unix_s),
        performer=Performer(db, operations, watch, unix_s),
        streams=Streams(),
        rehearsals=Rehearsals(db, unix_s),
    )


async def _for_ever(name: str, job: Callable[[], Awaitable[None]]) -> None:
    """A fault of ours ends one round of a job, not the job."""
    while True:
        try:
            await job()
        except Exception as error:
            log("job failed", job=name, error=repr(error))
        await asyncio.sleep(AGAIN_S)
