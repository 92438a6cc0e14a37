"""Commands that no visitor waits for: delivered at once, and again a few times if there is no reply."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from host.edge.store import Log, Store

# The contract makes these commands safe to repeat.
ATTEMPT_DELAYS_S = (0.0, 0.25, 1.0, 4.0)
MAX_WAITING = 1_000
CLOSE_WAIT_S = 1.0


class Background:
    """Deliveries in progress, bounded in number; those beyond are dropped and logged."""

    def __init__(self, store: Store, log: Log, delays_s: Sequence[float] = ATTEMPT_DELAYS_S) -> None:
        self._store = store
        self._log = log
        self._delays_s = delays_s
        self._tasks: set[asyncio.Task[None]] = set()

    def deliver(self, commands: str) -> None:
        """Starts the delivery of one batch, given as JSON."""
        if len(self._tasks) >= MAX_WAITING:
            self._log("background.dropped", {"reason": f"{MAX_WAITING} batches are waiting already"})
            return
        task = asyncio.create_task(self._attempt(commands))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attempt(self, commands: str) -> None:
        for delay_s in self._delays_s:
            await asyncio.sleep(delay_s)
            if await self._store.deliver(commands):
                return
        self._log("background.undelivered", {"attempts": len(self._delays_s)})

    async def close(self) -> None:
        """Gives what is under way CLOSE_WAIT_S, then cancels it."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=CLOSE_WAIT_S)
        if late:
            self._log("background.cancelled", {"batches": len(late)})
        for task in late:
            task.cancel()
