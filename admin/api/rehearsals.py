"""Rehearsals over the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from admin.access.actor import actor
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.models import json_body
from admin.api.problems import Problem
from admin.api.routes import described
from admin.audit import audit
from admin.bodies import read_json
from admin.desk import Desk, desk
from admin.limits import BadValue
from admin.operate.rehearsal_sale import NUMBERS, SHAPES, check
from admin.state import rehearsals as table
from admin.state.rehearsals import Rehearsal
from edge.core.moments import moment_text

router = api_router("rehearsals")
_BODY = json_body(
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            **{
                name: {"type": "integer", "minimum": low, "maximum": high, "default": default}
                for name, (low, high, default) in NUMBERS.items()
            },
            "shape": {"type": "string", "enum": list(SHAPES), "default": SHAPES[0]},
        },
    }
)


class RehearsalShape(BaseModel):
    """A simulated sale with the limits of a queue in force."""

    model_config = ConfigDict(extra="forbid")

    id: str
    queue: str
    by: str
    at: str
    status: str = Field(description="running, done, failed or cancelled.")
    done_percent: int = Field(description="Of a running one that this app holds.")
    sale: str = Field(description="The file of the sale, as `stanchion simulate` takes it.")
    report: dict[str, Any] | None = Field(description="text and data of one that is done, problem of one that failed.")


class RehearsalList(BaseModel):
    """The latest first, without their reports."""

    rehearsals: list[RehearsalShape]


def _public(room: Desk, one: Rehearsal) -> dict[str, Any]:
    return {
        "id": one.id, "queue": one.queue, "by": one.by, "at": moment_text(one.at_ms), "status": one.status,
        "done_percent": 100 if one.status == table.DONE else room.operate.rehearsals.progress(one.id) // 10, "sale": one.sale,
        "report": None if one.report is None else dict(one.report),
    }  # fmt: skip


@router.get("/queues/{queue_id}/rehearsals", response_model=RehearsalList, responses=described(404, 422))
@needs(Permission.SEE)
async def list_rehearsals(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Those of a queue; the last twenty are kept."""
    room = desk(request)
    await room.operations.configured(queue_id)
    found = await room.db.read(lambda session: table.of(session, queue_id))
    return {"rehearsals": [_public(room, one) for one in found]}


@router.post(
    "/queues/{queue_id}/rehearsals", response_model=RehearsalShape, status_code=201,
    responses=described(404, 409, 413, 415, 422), openapi_extra=_BODY,
)  # fmt: skip
@needs(Permission.OPERATE)
async def start_rehearsal(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Begins one; 409 while another one runs, or for a queue that has no state."""
    room = desk(request)
    view = await room.operations.queue(queue_id)
    body = await read_json(request)
    if not isinstance(body, dict):
        raise BadValue("body", f"must be an object with any of {', '.join((*NUMBERS, 'shape'))}")
    asked = check(body)
    rehearsal_id = await room.operate.rehearsals.start(view, asked, actor(request).name)
    await audit(request).record("rehearsal.start", f"queue:{queue_id}", after={"id": rehearsal_id, **asked.values()})
    return _public(room, await _find(room, queue_id, rehearsal_id))


@router.get("/queues/{queue_id}/rehearsals/{rehearsal_id}", response_model=RehearsalShape, responses=described(404, 422))
@needs(Permission.SEE)
async def get_rehearsal(request: Request, queue_id: str, rehearsal_id: str) -> Mapping[str, Any]:
    """One with its report."""
    await desk(request).operations.configured(queue_id)
    return _public(desk(request), await _find(desk(request), queue_id, rehearsal_id))


@router.delete("/queues/{queue_id}/rehearsals/{rehearsal_id}", status_code=204, responses=described(404, 409, 422))
@needs(Permission.OPERATE)
async def cancel_rehearsal(request: Request, queue_id: str, rehearsal_id: str) -> Response:
    """Ends one that runs; 409 for one that has ended."""
    await desk(request).operations.configured(queue_id)
    await _find(desk(request), queue_id, rehearsal_id)
    await desk(request).operate.rehearsals.cancel(rehearsal_id)
    await audit(request).record("rehearsal.cancel", f"queue:{queue_id}", after={"id": rehearsal_id})
    return Response(status_code=204)


async def _find(room: Desk, queue_id: str, rehearsal_id: str) -> Rehearsal:
    found = await room.db.read(lambda session: table.find(session, queue_id, rehearsal_id[:64]))
    if found is None:
        raise Problem(404, "There is no such rehearsal: it was forgotten, or never held.")
    return found
