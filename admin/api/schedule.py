"""The schedule of live steps over the API."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.responses import Response

from admin.access.actor import actor
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.checks import keys
from admin.api.models import IDEMPOTENT
from admin.api.problems import Problem
from admin.api.routes import described, idempotency_key
from admin.api.schedule_models import STEP_BODY, ScheduleShape, StepShape
from admin.audit import audit
from admin.bodies import read_json
from admin.desk import desk
from admin.limits import BadValue
from admin.operate import schedule, timetable
from admin.operate.moments import moment_from_rfc3339, moment_of, zone_named
from admin.operate.schedule import Clash

router = api_router("schedule")
DONE_AT_MOST = 200


@router.get("/schedule", response_model=ScheduleShape, responses=described(422))
@needs(Permission.SEE)
async def all_steps(request: Request, done: Annotated[int, Query(ge=0, le=DONE_AT_MOST)] = 20) -> Mapping[str, Any]:
    """The steps of all queues that are to come, and the last ones that are over."""
    to_come, over = await timetable.steps_of(desk(request), None, done)
    return {"to_come": [schedule.public(step) for step in to_come], "over": [schedule.public(step) for step in over]}


@router.get("/queues/{queue_id}/schedule", response_model=ScheduleShape, responses=described(404, 422))
@needs(Permission.SEE)
async def queue_steps(
    request: Request, queue_id: str, done: Annotated[int, Query(ge=0, le=DONE_AT_MOST)] = 20
) -> Mapping[str, Any]:
    """The steps of one queue, in a group those of all its queues."""
    _queue, ids = await timetable.scope_of(desk(request), queue_id)
    to_come, over = await timetable.steps_of(desk(request), ids, done)
    return {"to_come": [schedule.public(step) for step in to_come], "over": [schedule.public(step) for step in over]}


@router.post(
    "/queues/{queue_id}/schedule", response_model=StepShape, status_code=201, responses=described(404, 409, 413, 415, 422),
    openapi_extra=IDEMPOTENT | STEP_BODY,
)  # fmt: skip
@needs(Permission.OPERATE)
async def add_step(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Adds a step: limits or an action at a moment. 409 for one that clashes with another, or with the configuration."""
    room = desk(request)
    await room.operations.configured(queue_id)
    body = keys(await read_json(request), ("at",), ("zone", "fold", "changes", "action"))
    step_id = _id(request, queue_id)
    # A repeat is judged by the time at which the step was taken, or it would be refused once that is past.
    now_ms = await timetable.taken_at_ms(room, step_id) or int(room.unix_s() * 1000)
    wanted = schedule.check(_moment(body), body.get("changes"), body.get("action"), now_ms)
    try:
        step = await timetable.add(room, audit(request), queue_id, wanted, actor(request).name, step_id)
    except Clash as error:
        raise Problem(409, f"{str(error)[:1].upper()}{str(error)[1:]}.", clashes_with=error.with_id) from error
    return schedule.public(step)


@router.delete("/queues/{queue_id}/schedule/{step_id}", status_code=204, responses=described(404, 409, 422))
@needs(Permission.OPERATE)
async def remove_step(request: Request, queue_id: str, step_id: str) -> Response:
    """Takes back a step that is to come."""
    await timetable.remove(desk(request), audit(request), queue_id, step_id[:64])
    return Response(status_code=204)


def _moment(body: Mapping[str, Any]) -> int:
    at, zone, fold = body["at"], body.get("zone"), body.get("fold", "")
    for name, value in (("at", at), ("zone", zone or ""), ("fold", fold)):
        if not isinstance(value, str):
            raise BadValue(name, "must be text")
    return moment_from_rfc3339(at) if zone is None else moment_of(at, zone_named(zone), fold)


def _id(request: Request, queue_id: str) -> str:
    key = idempotency_key(request)
    return secrets.token_hex(8) if key is None else hashlib.sha256(f"{queue_id}\nschedule\n{key}".encode()).hexdigest()[:16]
