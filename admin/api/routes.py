"""The REST API, `/api/v1`. Every route wants a token with the scope that it names; errors are problem details."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query, Request

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.checks import check_batch, only
from admin.api.models import (
    ADMIT_BODY,
    BEACON_BODY,
    IDEMPOTENT,
    LIMITS_BODY,
    MESSAGE_BODY,
    AdmittedShape,
    ProblemShape,
    QueueList,
    QueueShape,
)
from admin.api.problems import MEDIA_TYPE, Problem
from admin.audit import audit
from admin.bodies import read_json, read_nothing
from admin.deeds import admitted, changed, stepped
from admin.desk import desk
from admin.limits import BadValue, check_changes
from admin.operations import new_request_id, request_id_of
from admin.steps import PLAIN, Action, check_text

LIST_AT_MOST = 500
# RFC 9110 field values, without blanks; long enough for any UUID or hash.
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def described(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Which problems a route may answer, for its description."""
    content = {MEDIA_TYPE: {"schema": ProblemShape.model_json_schema()}}
    return {status: {"description": "Problem details", "content": content} for status in (401, 403, *statuses, 429, 503)}


router = api_router("queues")


@router.get("/queues", response_model=QueueList, responses=described(422))
@needs(Permission.SEE)
async def list_queues(
    request: Request, after: str = "", limit: Annotated[int, Query(ge=1, le=LIST_AT_MOST)] = 100
) -> Mapping[str, Any]:
    """Published queues with their state."""
    room = desk(request)
    published = await room.source.published()
    queues = published.config.queues
    if not queues and published.problem:
        raise Problem(503, published.problem, {"Retry-After": "5"})
    start = 0
    if after:
        places = [index for index, queue in enumerate(queues) if queue.id == after]
        if not places:
            raise Problem(422, f"after: no published queue has the id {after[:60]!r}.")
        start = places[0] + 1
    shown = queues[start : start + limit]
    views = await room.operations.look(shown)
    more = start + limit < len(queues)
    return {"queues": [view.public() for view in views], "next": shown[-1].id if more else None}


@router.get("/queues/{queue_id}", response_model=QueueShape, responses=described(404, 422))
@needs(Permission.SEE)
async def get_queue(request: Request, queue_id: str) -> Mapping[str, Any]:
    """One queue with its state."""
    return (await desk(request).operations.queue(queue_id)).public()


def _add_step(action: Action, says: str) -> None:
    @needs(Permission.OPERATE)
    async def endpoint(request: Request, queue_id: str) -> Mapping[str, Any]:
        await read_nothing(request)
        return await _control(request, queue_id, action)

    router.add_api_route(
        f"/queues/{{queue_id}}/{action}", endpoint, methods=["POST"], name=action, description=says, response_model=QueueShape,
        responses=described(404, 409, 413, 415, 422, 429), openapi_extra=IDEMPOTENT,
    )  # fmt: skip


for _action, _says in PLAIN.items():
    _add_step(_action, _says)


@router.post(
    "/queues/{queue_id}/message",
    response_model=QueueShape,
    responses=described(404, 409, 413, 415, 422, 429),
    openapi_extra=MESSAGE_BODY,
)
@needs(Permission.OPERATE)
async def message(request: Request, queue_id: str) -> Mapping[str, Any]:
    """A line of text on the page of everybody who waits; an empty one takes it away."""
    await desk(request).operations.configured(queue_id)
    text = check_text("text", only(await read_json(request), "text"))
    return await _control(request, queue_id, "message", text)


@router.post(
    "/queues/{queue_id}/beacon",
    response_model=QueueShape,
    responses=described(404, 409, 413, 415, 422, 429),
    openapi_extra=BEACON_BODY,
)
@needs(Permission.OPERATE)
async def beacon(request: Request, queue_id: str) -> Mapping[str, Any]:
    """The value of the public random round that the queue named (`draw_beacon`); refused before opens_at and after the draw."""
    await desk(request).operations.configured(queue_id)
    value = check_text("value", only(await read_json(request), "value"))
    return await _control(request, queue_id, "beacon", value)


@router.post("/queues/{queue_id}/start", response_model=QueueShape, responses=described(404, 413, 415, 422))
@needs(Permission.OPERATE)
async def start(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Opens a queue that has never run. One that runs is left as it is. Not after a loss of Redis: that recovers by itself."""
    await read_nothing(request)
    view = await desk(request).operations.start(queue_id)
    await audit(request).record("queue.start", f"queue:{queue_id}", after={"status": view.status})
    return view.public()


@router.post(
    "/queues/{queue_id}/admit",
    response_model=AdmittedShape,
    responses=described(404, 409, 413, 415, 422, 429),
    openapi_extra=ADMIT_BODY,
)
@needs(Permission.OPERATE)
async def admit(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Calls the next people in line, at most those who wait and for whom there is room. `Idempotency-Key` makes a retry safe."""
    await desk(request).operations.configured(queue_id)
    batch = check_batch(await read_json(request))
    request_id = _request_id(request, queue_id, "admit", asdict(batch))
    done = await desk(request).operations.admit(
        queue_id, batch.count, request_id, over_rate=batch.over_rate, lane=batch.lane
    )
    what = admitted(done, over_rate=batch.over_rate, lane=batch.lane)
    await audit(request).record("queue.admit", f"queue:{queue_id}", after=what)
    return {"asked": done.asked, "called": done.called, "note": done.note, "queue": done.queue.public()}


@router.patch(
    "/queues/{queue_id}/limits",
    response_model=QueueShape,
    responses=described(404, 409, 413, 415, 422, 429),
    openapi_extra=LIMITS_BODY,
)
@needs(Permission.OPERATE)
async def change_limits(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Changes limits at once. They hold until they go back to the configuration or a publish changes that very limit."""
    await desk(request).operations.configured(queue_id)
    changes = check_changes(await read_json(request))
    change = await desk(request).operations.change_limits(queue_id, changes, _request_id(request, queue_id, "limits", changes))
    await audit(request).record("queue.limits", f"queue:{queue_id}", *changed(change, changes))
    return change.after.public()


async def _control(request: Request, queue_id: str, action: Action, text: str = "") -> Mapping[str, Any]:
    operations = desk(request).operations
    before = await operations.queue(queue_id)
    view = await operations.control(queue_id, action, _request_id(request, queue_id, action, text or None), text)
    await audit(request).record(f"queue.{action}", f"queue:{queue_id}", *stepped(action, before, view))
    return view.public()


def idempotency_key(request: Request) -> str | None:
    """The key of a request, or None. Raises BadValue."""
    key = request.headers.get("idempotency-key")
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise BadValue("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
    return key


def _request_id(request: Request, queue_id: str, action: str, asked: Any) -> str:
    key = idempotency_key(request)
    return new_request_id() if key is None else request_id_of(queue_id, action, key, asked)
