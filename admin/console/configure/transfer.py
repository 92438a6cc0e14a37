"""Import and export in the console. A file that was sent is kept for an hour, so that its plan can be looked at first."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import actor
from admin.access.forms import check_form
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.transfer import stores_of
from admin.audit import audit
from admin.bodies import BadBody
from admin.configure.service import Faulty, Stale
from admin.console.configure.common import HOME, form_of, show, spoken
from admin.desk import Desk, desk
from admin.store import StoreUnavailable
from admin.transfer.bundle import BUNDLE_MAX_BYTES, PARTS, BadBundle, read_bundle
from admin.transfer.gather import export
from admin.transfer.plan import Plan, plan
from admin.transfer.restore import restore
from admin.transfer.rights import check_export, check_import, may_export
from admin.words import N_, gettext

_ = gettext
PATH = f"{HOME}/transfer"
KEPT_S = 3600
_TOKEN = re.compile(r"[0-9a-f]{64}").fullmatch
PART_WORDS = {
    "configuration": N_("Configuration of queues and groups"),
    "crawlers": N_("List of search crawlers"),
    "pages": N_("Published pages of every brand"),
    "sources": N_("Sources of brands that were edited here"),
    "drafts": N_("Drafts of brands"),
    "people": N_("People and roles, without passwords"),
    "schedule": N_("Schedule: steps that are to come"),
}


async def _page(
    request: Request, status: int = 200, *, problem: str = "", wanted: Plan | None = None, token: str = ""
) -> Response:
    """The page; `token` names the file that was sent."""
    allowed = may_export(actor(request))
    return show(
        request, "transfer.html", PATH, status, problem=problem, plan=wanted, token=token,
        parts=[(part, gettext(PART_WORDS[part]), part in allowed) for part in PARTS],
        changes=[spoken(change) for change in wanted.changes] if wanted else [],
        lines=[line.words(translated=True) for line in wanted.lines] if wanted else [],
    )  # fmt: skip


@needs(Permission.SEE)
async def transfer(request: Request) -> Response:
    """The page with both."""
    return await _page(request)


@needs(Permission.SEE)
async def download(request: Request) -> Response:
    """The file."""
    asked = [part for part in request.query_params.getlist("part") if part in PARTS] or may_export(actor(request))
    check_export(actor(request), asked)
    room = desk(request)
    bundle = await export(stores_of(room), int(room.unix_s() * 1000), asked)
    text = json.dumps(bundle.public(), ensure_ascii=False, indent=1)
    headers = {"Content-Disposition": f'attachment; filename="stanchion-{bundle.made_at[:10]}.json"'}
    return Response(text, media_type="application/json", headers=headers)


@needs(Permission.CONFIGURE)
async def look(request: Request) -> Response:
    """Reads a file that was sent, and shows what it would do."""
    data = await _uploaded(request)
    room = desk(request)
    try:
        bundle = await asyncio.to_thread(read_bundle, data)
        check_import(actor(request), bundle)
        wanted = await plan(stores_of(room), bundle, int(room.unix_s() * 1000))
    except BadBundle as error:
        return await _page(request, 422, problem=_("The file cannot be taken: %(problem)s") % {"problem": str(error)})
    token = await asyncio.to_thread(_keep, room, data)
    return await _page(request, 422 if wanted.faults else 200, wanted=wanted, token=token)


async def _uploaded(request: Request) -> bytes:
    """The file of the form. Raises BadBody, Forged."""
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > BUNDLE_MAX_BYTES + 65_536:
        raise BadBody(413, f"the file is larger than {BUNDLE_MAX_BYTES} bytes, or says no length")
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise BadBody(415, "the body must be a form with a file: multipart/form-data")
    async with request.form(max_files=1, max_fields=10) as form:
        check_form(request, {name: value for name, value in form.items() if isinstance(value, str)})
        file = form.get("file")
        return await file.read(BUNDLE_MAX_BYTES + 1) if isinstance(file, UploadFile) else b""


@needs(Permission.CONFIGURE)
async def put_back(request: Request) -> Response:
    """Imports the file whose plan was shown."""
    form = await form_of(request)
    room = desk(request)
    data = await asyncio.to_thread(_kept, room, form.get("token"))
    if data is None:
        says = _("Nothing was imported: the file was sent more than an hour ago. Send it again.")
        return await _page(request, 410, problem=says)
    bundle = read_bundle(data)
    check_import(actor(request), bundle)
    now_ms = int(room.unix_s() * 1000)
    try:
        done = await restore(stores_of(room), bundle, form.get("etag"), actor(request).name, now_ms, audit(request).record)
    except Stale:
        wanted = await plan(stores_of(room), bundle, now_ms)
        says = _("Nothing was imported: somebody published in the meantime. Look at what would change now.")
        return await _page(request, 409, problem=says, wanted=wanted, token=form.get("token"))
    except (BadBundle, Faulty, StoreUnavailable) as error:
        status = 503 if isinstance(error, StoreUnavailable) else 422
        return await _page(request, status, problem=_("Nothing was imported: %(problem)s") % {"problem": str(error)})
    count = len(done.changes) + len(done.lines)
    request.session["flash"] = _("Imported, all of it: %(count)s changes.") % {"count": count} if count else _("Nothing changed.")
    return RedirectResponse(PATH, 303)


# --- files that were sent -------------------------------------------------------------------------------------------


def _folder(room: Desk) -> Path:
    return room.settings.admin_dir / "imports"


def _keep(room: Desk, data: bytes) -> str:
    """Keeps a file for an hour; the older ones go."""
    folder, token = _folder(room), hashlib.sha256(data).hexdigest()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in folder.glob("*.json"):
        if time.time() - file.stat().st_mtime > KEPT_S:
            file.unlink(missing_ok=True)
    (folder / f"{token}.json").write_bytes(data)
    return token


def _kept(room: Desk, token: str) -> bytes | None:
    file = _folder(room) / f"{token}.json"
    try:
        is_fresh = bool(_TOKEN(token)) and time.time() - file.stat().st_mtime <= KEPT_S
        return file.read_bytes() if is_fresh else None
    except OSError:
        return None


ROUTES = [
    Route(PATH, transfer, methods=["GET"]),
    Route(PATH, look, methods=["POST"]),
    Route(f"{PATH}/export", download, methods=["GET"]),
    Route(f"{PATH}/import", put_back, methods=["POST"]),
]
