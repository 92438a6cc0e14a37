"""Carries out scheduled steps at their time. Any number of admin processes may run it on one database: a step is claimed first.

Who claims a step and dies loses it after CLAIM_S; the step's id is its request id, so doing it again changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from admin.access.actor import schedule as acting_for
from admin.deeds import changed, stepped
from admin.limits import BadValue
from admin.log import log
from admin.operate import schedule
from admin.operations import Operations, Refused, TooManySteps, UnknownQueue, request_id_of
from admin.recorder import Recorder
from admin.state import schedule as table
from admin.state.db import Database, StateUnavailable
from admin.state.schedule import Step
from admin.steps import Action
from admin.store import StoreUnavailable
from admin.watch import Watch

CLAIM_S = 20
# Steps done in one go, so that a long list does not keep others waiting for the database.
AT_ONCE = 50
AGAIN_S = 2.0
FORGET_EVERY_S = 3600
MISSED = "missed: no admin app ran at that time, or Redis was away, and it is too late now"


class Performer:
    """`unix_s` is the clock. `run` goes on until it is cancelled; `tick` does what is due."""

    def __init__(self, db: Database, operations: Operations, watch: Watch, unix_s: Callable[[], float]) -> None:
        self._db = db
        self._operations = operations
        self._watch = watch
        self._clock = unix_s
        self._forgot_s = 0.0

    async def run(self) -> None:
        """Carries out steps for ever."""
        while True:
            pause_s = 0.5
            try:
                await self.tick()
            except StateUnavailable as error:
                log("schedule waits", error=str(error))
                pause_s = AGAIN_S
            await asyncio.sleep(pause_s)

    async def tick(self) -> None:
        """Does what is due now. Raises StateUnavailable."""
        for _ in range(AT_ONCE):
            now_ms = self._now_ms()
            step = await self._db.run(lambda session, at=now_ms: table.claim(session, at, CLAIM_S * 1000))  # type: ignore[misc]
            if step is None:
                break
            if not await self._perform(step):
                break
        if self._clock() - self._forgot_s > FORGET_EVERY_S:
            self._forgot_s = self._clock()
            await self._db.run(lambda session: table.forget(session, self._now_ms()))

    async def _perform(self, step: Step) -> bool:
        """Whether it is over; one that is not is tried again."""
        if schedule.is_missed(step, self._now_ms()):
            await self._finish(step, MISSED)
            return True
        try:
            await self._do(step)
        except StoreUnavailable as error:
            log("scheduled step waits", step=step.id, queue=step.queue, error=str(error))
            return False
        except (Refused, TooManySteps, BadValue, UnknownQueue) as error:
            await self._finish(step, schedule.outcome(step, self._now_ms(), str(error)))
            return True
        await self._finish(step, schedule.outcome(step, self._now_ms()))
        return True

    async def _do(self, step: Step) -> None:
        recorder = Recorder(self._db, acting_for(step.by), self._now_ms())
        target, note = f"queue:{step.queue}", f"step {step.id} of the schedule"
        if step.changes is not None:
            request_id = request_id_of(step.queue, "limits", step.id)
            change = await self._operations.change_limits(step.queue, step.changes, request_id)
            self._watch.changed(change.after)
            await recorder.record("queue.limits", target, *changed(change, step.changes), note=note)
            return
        action: Action = step.action  # type: ignore[assignment]
        before = await self._operations.queue(step.queue)
        view = await self._operations.control(step.queue, action, request_id_of(step.queue, action, step.id))
        self._watch.changed(view)
        await recorder.record(f"queue.{action}", target, *stepped(action, before, view), note=note)

    async def _finish(self, step: Step, outcome: str) -> None:
        log("scheduled step", step=step.id, queue=step.queue, outcome=outcome)
        await self._db.run(lambda session: table.finish(session, step.id, self._now_ms(), outcome))

    def _now_ms(self) -> int:
        return int(self._clock() * 1000)
