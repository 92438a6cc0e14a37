"""Takes back the last change of a queue, as long as it is the last one. Console and API do it through here."""

from __future__ import annotations

from dataclasses import dataclass

from admin.deeds import changed, stepped
from admin.desk import Desk
from admin.operate.last_change import Change, Undo, last_change, undo_of
from admin.operations import LimitsChange, Refused
from admin.queue_view import QueueView
from admin.recorder import Recorder

NOT_THE_LAST = "that is not the last change any more, or it cannot be taken back; nothing was done"


@dataclass(frozen=True)
class TakenBack:
    """The queue afterwards, and what of its limits changed."""

    view: QueueView
    change: LimitsChange | None = None


async def take_back(room: Desk, recorder: Recorder, queue_id: str, change_id: str, request_id: str) -> TakenBack:
    """Raises Refused when `change_id` is not the last change, and what the operations raise."""
    last = await last_change(room.db, await room.operations.queue(queue_id))
    way = undo_of(last) if last is not None else None
    if last is None or way is None or str(last.id) != change_id:
        raise Refused(NOT_THE_LAST)
    done = await _do(room, recorder, queue_id, last, way, request_id)
    room.watch.changed(done.view)
    return done


async def _do(room: Desk, recorder: Recorder, queue_id: str, last: Change, way: Undo, request_id: str) -> TakenBack:
    target, note = f"queue:{queue_id}", f"takes back entry {last.id}"
    if way.changes is not None:
        change = await room.operations.change_limits(queue_id, way.changes, request_id)
        await recorder.record("queue.limits", target, *changed(change, way.changes), note=note)
        return TakenBack(change.after, change)
    assert way.step is not None
    before = await room.operations.queue(queue_id)
    view = await room.operations.control(queue_id, way.step, request_id, way.text)
    await recorder.record(f"queue.{way.step}", target, *stepped(way.step, before, view), note=note)
    return TakenBack(view)
