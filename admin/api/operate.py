"""What an operator sees of a queue beyond its state: figures and history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.operate_models import FiguresShape, HistoryShape
from admin.api.routes import described
from admin.desk import desk
from admin.operate import figures, history
from admin.operate.history import Span

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
