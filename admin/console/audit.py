"""The audit log as a page: filtered, page by page, and as a file."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.audit_view import exported, public, wanted_of
from admin.console.render import page
from admin.console.words import sentence
from admin.desk import desk
from admin.limits import BadValue
from admin.state import audit as table

AUDIT = "/audit"
ENTRIES_PER_PAGE = 50
FILTERS = ("who", "action", "target", "since", "until")


@needs(Permission.SEE_AUDIT)
async def show(request: Request) -> Response:
    """What was done, the newest first."""
    typed = {name: request.query_params.get(name, "").strip()[:200] for name in FILTERS}
    after = request.query_params.get("after", "")
    before_id = int(after) if after.isascii() and after.isdigit() and len(after) < 18 else None
    try:
        wanted = wanted_of(typed)
    except BadValue as error:
        return page(
            request, "audit.html", 422, entries=[], typed=typed, errors={error.at: sentence(error.problem)}, older="", query=""
        )
    found = await desk(request).db.read(lambda session: table.page(session, wanted, ENTRIES_PER_PAGE + 1, before_id))
    shown = found[:ENTRIES_PER_PAGE]
    query = {name: value for name, value in typed.items() if value}
    older = f"{AUDIT}?{urlencode({**query, 'after': shown[-1].id})}" if len(found) > ENTRIES_PER_PAGE else ""
    return page(
        request, "audit.html", entries=[public(entry) for entry in shown], typed=typed, errors={}, older=older,
        query=f"?{urlencode(query)}" if query else "",
    )  # fmt: skip


@needs(Permission.SEE_AUDIT)
async def export(request: Request) -> Response:
    """The same entries as JSON lines."""
    return exported(desk(request), wanted_of(request.query_params))


ROUTES = [
    Route(AUDIT, show, methods=["GET"]),
    Route(f"{AUDIT}/export", export, methods=["GET"]),
]
