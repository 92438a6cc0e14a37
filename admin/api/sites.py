"""What sites say from their own servers: of a visit, and invitations that they send out. The same token as all of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from admin.access.actor import actor
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.checks import check_invitations, check_visit
from admin.api.models import INVITATIONS_BODY, VISIT_BODY, InvitedShape, VisitShape
from admin.api.routes import described
from admin.audit import audit
from admin.bodies import read_json
from admin.desk import desk
from admin.log import log
from edge.core.moments import moment_text

router = api_router("sites")


@router.post(
    "/queues/{queue_id}/visits",
    response_model=VisitShape,
    responses=described(400, 404, 409, 410, 413, 415, 422, 501),
    openapi_extra=VISIT_BODY,
)
@needs(Permission.OPERATE)
async def visit(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Ends the visit of a pass as sold or revoked, or begins or extends its checkout. A repeat is safe: a visit ends once."""
    await desk(request).operations.configured(queue_id)
    verb, units = check_visit(await read_json(request))
    said = await desk(request).visits.say(queue_id, request.headers.get("stanchion-pass", "").strip(), verb, units)
    log("visit", by=actor(request).name, queue=queue_id, action=verb, units=units, outcome=said.outcome)
    return said.public()


@router.post(
    "/queues/{queue_id}/invitations",
    response_model=InvitedShape,
    responses=described(404, 413, 415, 422, 501),
    openapi_extra=INVITATIONS_BODY,
)
@needs(Permission.OPERATE)
async def invite(request: Request, queue_id: str) -> Mapping[str, Any]:
    """Signed links into a lane, each good for one visitor. Asking again makes others."""
    await desk(request).operations.configured(queue_id)
    asked = check_invitations(await read_json(request))
    made = await desk(request).invitations.make(queue_id, asked.lane, asked.count, asked.valid_for_s, asked.base_url, asked.to)
    what = {"lane": asked.lane, "count": asked.count, "expires_at": moment_text(made.expires_ms)}
    await audit(request).record("queue.invite", f"queue:{queue_id}", after=what)
    return {"lane": made.lane, "expires_at": moment_text(made.expires_ms), "links": list(made.links)}
