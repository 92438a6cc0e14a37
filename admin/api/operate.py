"""What an operator sees of a queue beyond its state, and the two steps that look back: undo, and the end of one visit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.checks import check_revoke, only
from admin.api.models import QueueShape
from admin.api.operate_models import REVOKE_BODY, UNDO_BODY, FiguresShape, HistoryShape, LastShape
from admin.api.routes import described
from admin.audit import audit
from admin.bodies import read_json
from admin.desk import desk
from admin.limits import BadValue
from admin.operate import figures, history
from admin.operate.history import Span
from admin.operate.last_change import last_change, undo_of
from admin.operate.take_back import take_back
from admin.operations import request_id_of
from edge.core.moments import moment_text

router = api_router("figures")


@router.get("/queues/{queue_id}/figures", response_model=FiguresShape, responses=described(404, 422))
@needs(Permission.SEE)
async def get_figures(request: Request, queue_id: str) -> Mapping[str, Any]:
    """The funnel of its visitors, how long they waited and when those who gave up did, since this epoch began."""
    room = desk(request)
    view = await room.operations.queue(queue_id)
    return figures.public(view, await room.operate.figures.of(view), room.unix_s())


@router.get("/queues/{queue_id}/history", response_model=HistoryShape, responses=described(404, 422))
@needs(Permission.SEE)
async def get_history(request: Request, queue_id: str, span: Span = "quarter") -> Mapping[str, Any]:
    """Its line over time: of the last quarter of an hour every 5 s or so, of the last day every minute."""
    room = desk(request)
    queue = await room.operations.configured(queue_id)
    await room.watch.look([queue], queue)
    return history.public(queue_id, span, await room.operate.history.of(queue_id, span))


@router.get("/queues/{queue_id}/change", response_model=LastShape, responses=described(404, 422))
@needs(Permission.SEE)
async def get_change(request: Request, queue_id: str) -> Mapping[str, Any]:
    """The last change of what is in force, by whom, and whether it can be taken back."""
    room = desk(request)
    found = await last_change(room.db, await room.operations.queue(queue_id))
    if found is None:
        return {"last": None}
    return {"last": {
        "id": str(found.id), "at": moment_text(found.at_ms), "who": found.who, "action": found.action,
        "before": dict(found.before), "after": dict(found.after), "can_be_taken_back": undo_of(found) is not None,
    }}  # fmt: skip


_ANSWERS = described(404, 409, 413, 415, 422, 429)


@router.post("/queues/{queue_id}/undo", response_model=QueueShape, responses=_ANSWERS, openapi_extra=UNDO_BODY)
@needs(Permission.OPERATE)
async def undo(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Takes back the change with this id, if it is still the last one."""
    await desk(request).operations.configured(queue_id)
    change = only(await read_json(request), "change")
    if not isinstance(change, str):
        raise BadValue("change", "must be the id of a change, as text")
    request_id = request_id_of(queue_id, "undo", change)
    return (await take_back(desk(request), audit(request), queue_id, change, request_id)).view.public()


@router.post("/queues/{queue_id}/revoke", response_model=QueueShape, responses=_ANSWERS, openapi_extra=REVOKE_BODY)
@needs(Permission.OPERATE)
async def revoke(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Ends the visit of one person inside, by the visitor's id (`sub` of Stanchion-Pass) or the number of the place."""
    await desk(request).operations.configured(queue_id)
    who, lane = check_revoke(await read_json(request))
    view = await desk(request).operations.revoke(queue_id, who, lane)
    desk(request).watch.changed(view)
    await audit(request).record("queue.revoke", f"queue:{queue_id}", after={"visit": who, "lane": lane})
    return view.public()
