"""Adds steps to the schedule and takes them back. Console and API do it through here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from admin.desk import Desk
from admin.operate import schedule
from admin.operate.schedule import Wanted
from admin.operations import KeyReused, Refused
from admin.recorder import Recorder
from admin.state import audit as audit_table
from admin.state import schedule as table
from admin.state.schedule import Step
from edge.core.model import Queue
from edge.core.moments import moment_text


async def scope_of(room: Desk, queue_id: str) -> tuple[Queue, list[str]]:
    """A queue and the ids of all that share its line-up: a step on one is a step on all. Raises UnknownQueue."""
    queue = await room.operations.configured(queue_id)
    config = (await room.source.published()).config
    return queue, [each.id for each in config.scope(queue.scope)] or [queue.id]


async def add(room: Desk, recorder: Recorder, queue_id: str, wanted: Wanted, by: str, step_id: str) -> Step:
    """Adds a step; the same `step_id` adds it once. Raises Clash, BadValue, UnknownQueue, KeyReused for another of that id."""
    queue, ids = await scope_of(room, queue_id)
    now_ms = int(room.unix_s() * 1000)
    step = Step(step_id, queue_id, wanted.at_ms, wanted.changes, wanted.action, by, now_ms)
    entry = recorder.entry("schedule.add", f"queue:{queue_id}", after=_values(step), note=f"step {step_id}")

    def work(session: Any) -> Step:
        before = table.find(session, step_id)
        if before is not None:
            if _values(before) != _values(step):
                raise KeyReused
            return before
        schedule.check_against(wanted, queue, table.to_come(session, ids))
        table.add(session, step)
        audit_table.add(session, entry)
        return step

    return await room.db.run(work)


async def taken_at_ms(room: Desk, step_id: str) -> int | None:
    """When a step was added, Unix ms; None if there is none of this id."""
    step = await room.db.read(lambda session: table.find(session, step_id))
    return None if step is None else step.created_at_ms


async def remove(room: Desk, recorder: Recorder, queue_id: str, step_id: str) -> None:
    """Takes a step back. Raises Refused when it is not to come any more (or never was), UnknownQueue."""
    _queue, ids = await scope_of(room, queue_id)

    def work(session: Any) -> bool:
        step = table.find(session, step_id)
        if step is None or step.queue not in ids or not table.remove(session, step_id):
            return False
        entry = recorder.entry("schedule.remove", f"queue:{step.queue}", before=_values(step), note=f"step {step_id}")
        audit_table.add(session, entry)
        return True

    if not await room.db.run(work):
        raise Refused("there is no such step to come: it was done, taken back, or never there")


async def steps_of(room: Desk, queue_ids: Sequence[str] | None, done: int = 20) -> tuple[list[Step], list[Step]]:
    """What is to come and the last `done` steps that are over."""
    return await room.db.read(lambda session: (table.to_come(session, queue_ids), table.done(session, queue_ids, done)))


def _values(step: Step) -> Mapping[str, Any]:
    what = {"changes": dict(step.changes)} if step.changes is not None else {"action": step.action}
    return {"at": moment_text(step.at_ms), **what}
