"""The audit log over the API: read only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.responses import Response, StreamingResponse

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.people_models import EntryList
from admin.api.routes import described
from admin.audit_view import exported, public, wanted_of
from admin.desk import desk
from admin.state import audit

LIST_AT_MOST = 500
router = api_router("audit")
_Text = Annotated[str, Query(max_length=200)]


@router.get("/audit", response_model=EntryList, responses=described(422))
@needs(Permission.SEE_AUDIT)
async def list_audit(
    request: Request, who: _Text = "", action: _Text = "", target: _Text = "", since: _Text = "", until: _Text = "",
    limit: Annotated[int, Query(ge=1, le=LIST_AT_MOST)] = 100, after: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> Mapping[str, Any]:  # fmt: skip
    """What was done, the newest first. `action` and `target` may end with `*`; `since` and `until` are RFC 3339."""
    wanted = wanted_of({"who": who, "action": action, "target": target, "since": since, "until": until})
    found = await desk(request).db.read(lambda session: audit.page(session, wanted, limit + 1, after))
    shown = found[:limit]
    return {"entries": [public(entry) for entry in shown], "next": str(shown[-1].id) if len(found) > limit else None}


@router.get("/audit/export", responses=described(422), response_class=StreamingResponse)
@needs(Permission.SEE_AUDIT)
async def export_audit(
    request: Request, who: _Text = "", action: _Text = "", target: _Text = "", since: _Text = "", until: _Text = ""
) -> Response:
    """The same entries, all of them, as JSON lines."""
    wanted = wanted_of({"who": who, "action": action, "target": target, "since": since, "until": until})
    return exported(desk(request), wanted)
