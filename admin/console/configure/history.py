"""The history of the configuration: every version, what it changed, and the way back to it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.configure.changes import differences
from admin.configure.deeds import publish
from admin.configure.keeper import FOUND, UnknownVersion
from admin.configure.service import Faulty, Stale
from admin.console.configure.common import HOME, form_of, moment_in, show, spoken, zone_for
from admin.console.configure.editor import pretty
from admin.console.configure.entry import saved
from admin.desk import desk
from admin.state.versions import Version
from admin.store import StoreUnavailable
from admin.words import gettext as _

PATH = f"{HOME}/history"
PER_PAGE = 50


def _said(version: Version) -> str:
    """Who published it, or that another program did."""
    return version.by or _("another program")


def _note(version: Version) -> str:
    return _("found in the store") if version.note == FOUND and not version.by else version.note


@needs(Permission.SEE)
async def history(request: Request) -> Response:
    """All versions, the newest first."""
    asked = request.query_params.get("after", "")
    after = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 16 else None
    found = await desk(request).keeper.page(PER_PAGE + 1, after)
    zone = zone_for(request)
    rows = [
        {"id": each.id, "at": moment_in(each.at_ms, zone), "by": _said(each), "note": _note(each), "size": each.size_bytes}
        for each in found[:PER_PAGE]
    ]
    more = found[PER_PAGE - 1].id if len(found) > PER_PAGE else None
    return show(request, "history.html", PATH, rows=rows, more=more, is_newest=after is None)


async def show_version(request: Request, status: int = 200, *, problem: str = "") -> Response:
    """One version. Raises UnknownVersion."""
    room, version_id = desk(request), _id(request)
    version, edition = await room.keeper.version(version_id)
    before = await room.keeper.before(version_id)
    current = await room.configurator.current()
    changed = differences(before[1].value, edition.value) if before and not edition.problem else ()
    restoring = () if edition.problem else differences(current.value, edition.value)
    return show(
        request, "version.html", PATH, status, version=version, at=moment_in(version.at_ms, zone_for(request)), by=_said(version),
        note=_note(version), before=before[0] if before else None, changed=[spoken(change) for change in changed],
        restoring=[spoken(change) for change in restoring], etag=current.etag, edition=edition, problem=problem,
        is_current=edition.text == current.text, text=edition.text if edition.problem else pretty(edition.value),
    )  # fmt: skip


def _id(request: Request) -> int:
    asked = request.path_params["version_id"]
    if not (asked.isascii() and asked.isdigit() and len(asked) < 16):
        raise UnknownVersion(0)
    return int(asked)


@needs(Permission.SEE)
async def version_page(request: Request) -> Response:
    """One version: what it changed, what restoring it would change, and its text."""
    return await show_version(request)


@needs(Permission.CONFIGURE)
async def restore(request: Request) -> Response:
    """Publishes a version anew, on top of what the page showed as published."""
    form, version_id = await form_of(request), _id(request)
    version, edition = await desk(request).keeper.version(version_id)
    if edition.problem:
        says = _("This version cannot be used: %(problem)s") % {"problem": edition.problem}
        return await show_version(request, 409, problem=says)
    note = f"version {version.id} restored"
    try:
        done = await publish(request, edition.value, form.get("etag"), action="configuration.restore", note=note)
    except Stale:
        says = _("Nothing was restored: somebody published in the meantime. Look at what would change now.")
        return await show_version(request, 409, problem=says)
    except (Faulty, StoreUnavailable) as error:
        says = _("Nothing was restored: %(problem)s") % {"problem": str(error)}
        return await show_version(request, 503 if isinstance(error, StoreUnavailable) else 422, problem=says)
    request.session["flash"] = saved(done)
    return RedirectResponse(PATH, 303)


ROUTES = [
    Route(PATH, history, methods=["GET"]),
    Route(PATH + "/{version_id}", version_page, methods=["GET"]),
    Route(PATH + "/{version_id}/restore", restore, methods=["POST"]),
]
