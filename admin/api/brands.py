"""The REST API of the studio: brands, their drafts, publishing and history.

A draft's ETag is its revision; a save names what it was made from in `If-Match`, and `"0"` where there is no draft yet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.responses import JSONResponse, Response

from admin.access.actor import actor
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.brand_bodies import BRAND_BODY, DRAFT_BODY, IF_MATCH, NOTE_BODY, ROLL_BACK_BODY
from admin.api.checks import keys, whole
from admin.api.models import VersionId
from admin.api.problems import Problem
from admin.api.routes import described
from admin.audit import audit
from admin.bodies import read_json, read_nothing
from admin.desk import desk
from admin.limits import BadValue
from admin.publish.errors import PublishError
from admin.studio.content import CONTENT_MAX_BYTES, Content
from admin.studio.studio import Sheet, Studio

NOTE_MAX = 200
router = api_router("brands")
_ETAG = re.compile(r'"(\d{1,17})"')


@router.get("/brands", responses=described())
@needs(Permission.SEE)
async def list_brands(request: Request) -> Mapping[str, Any]:
    """All brands, with their drafts."""
    return {"brands": [_summary(sheet) for sheet in await _studio(request).sheets()]}


@router.post("/brands", status_code=201, responses=described(404, 413, 415, 422), openapi_extra=BRAND_BODY)
@needs(Permission.EDIT_PAGES)
async def make_brand(request: Request) -> Response:
    """A new brand as a draft: a copy of `from`, or an empty one that extends the default."""
    given = keys(await read_json(request), ("id",), ("from",))
    brand, origin = given["id"], given.get("from", "")
    if not isinstance(brand, str) or not isinstance(origin, str):
        raise BadValue("id", "id and from must be texts")
    made = await _studio(request).make(brand, origin, actor(request).name)
    await audit(request).record("brand.make", f"brand:{brand}", after={"from": origin or None})
    return _answer(made, 201)


@router.get("/brands/{brand}", responses=described(404, 422))
@needs(Permission.SEE)
async def get_brand(request: Request, brand: str) -> Response:
    """A brand with its files as it stands: the draft's, else those published last, else those that come with the product."""
    return _answer(await _studio(request).sheet(brand))


@router.put("/brands/{brand}/draft", responses=described(404, 412, 413, 415, 422, 428), openapi_extra=DRAFT_BODY)
@needs(Permission.EDIT_PAGES)
async def put_draft(request: Request, brand: str) -> Response:
    """Keeps files as the draft. What did not change makes no draft."""
    revision = _if_match(request)
    content = Content.of_json(keys(await read_json(request, 2 * CONTENT_MAX_BYTES), ("files",))["files"])
    sheet = await _studio(request).sheet(brand)
    if sheet.revision != revision or content.files != sheet.content.files:
        await _studio(request).save(brand, content, revision, actor(request).name)
    return _answer(await _studio(request).sheet(brand))


@router.delete("/brands/{brand}/draft", status_code=204, responses=described(404, 412, 422, 428), openapi_extra=IF_MATCH)
@needs(Permission.EDIT_PAGES)
async def discard_draft(request: Request, brand: str) -> Response:
    """Ends the draft."""
    sheet = await _studio(request).sheet(brand)
    await _studio(request).discard(brand, _if_match(request))
    await audit(request).record("brand.discard", f"brand:{brand}", {"draft_of": sheet.draft.by if sheet.draft else None})
    return Response(status_code=204)


@router.post("/brands/{brand}/check", responses=described(404, 413, 415, 422))
@needs(Permission.SEE)
async def check_brand(request: Request, brand: str) -> Mapping[str, Any]:
    """Whether the brand as it stands may be published, and otherwise why not, with file, line and field."""
    await read_nothing(request)
    try:
        await _studio(request).check(await _studio(request).sheet(brand))
    except PublishError as error:
        # The name of the file; where it lies on this machine is nobody's business.
        file = error.file.rpartition("/")[2]
        return {"fit": False, "faults": [{"file": file, "line": error.line, "field": error.field, "problem": error.what}]}
    return {"fit": True, "faults": []}


@router.post("/brands/{brand}/publish", responses=described(404, 412, 413, 415, 422, 428), openapi_extra=NOTE_BODY)
@needs(Permission.PUBLISH_PAGES)
async def publish_brand(request: Request, brand: str) -> Mapping[str, Any]:
    """Checks every page and puts the brand as it stands in force as a new version."""
    revision, given = _if_match(request), keys(await read_json(request), (), ("note",))
    note = given.get("note", "")
    if not isinstance(note, str) or len(note) > NOTE_MAX:
        raise BadValue("note", f"must be a text of at most {NOTE_MAX} characters")
    before = await _studio(request).sheet(brand)
    done = await _studio(request).publish(brand, revision, actor(request).name, note)
    was, now = {"version": before.source_version or None}, {"version": done.version}
    await audit(request).record("brand.publish", f"brand:{brand}", was, now, note)
    return {"brand": brand, "version": done.version, "languages": list(done.languages), "notes": list(done.notes)}


@router.get("/brands/{brand}/versions", responses=described(404, 422))
@needs(Permission.SEE)
async def list_brand_versions(request: Request, brand: str) -> Mapping[str, Any]:
    """What was published, the newest first."""
    await _studio(request).sheet(brand)
    lines = await _studio(request).history(brand)
    return {"versions": [
        {"version": line.version, "at_ms": line.at_ms, "by": line.by, "note": line.note, "in_force": line.is_in_force,
         "has_source": line.has_source, "can_return": line.can_return}
        for line in lines
    ]}  # fmt: skip


@router.get("/brands/{brand}/versions/{version}", responses=described(404, 422))
@needs(Permission.SEE)
async def get_brand_version(request: Request, brand: str, version: VersionId) -> Mapping[str, Any]:
    """The source of a version."""
    found, _before = await _studio(request).source(brand, version)
    return {"version": found.version, "at_ms": found.at_ms, "by": found.by, "note": found.note, "files": found.content}


@router.post("/brands/{brand}/roll-back", responses=described(404, 409, 413, 415, 422), openapi_extra=ROLL_BACK_BODY)
@needs(Permission.PUBLISH_PAGES)
async def roll_back_brand(request: Request, brand: str) -> Mapping[str, Any]:
    """Puts another version that is in the store in force; `in_force`: the version that you saw there."""
    given = keys(await read_json(request), ("version", "in_force"))
    to, seen = (whole(given[name], name, 0, 2**53) for name in ("version", "in_force"))
    await _studio(request).sheet(brand)
    done = await _studio(request).roll_back(brand, to, seen, actor(request).name)
    await audit(request).record("brand.roll_back", f"brand:{brand}", {"version": seen}, {"version": done.version})
    return {"brand": brand, "version": done.version, "languages": list(done.languages), "notes": list(done.notes)}


def _studio(request: Request) -> Studio:
    return desk(request).studio


def _if_match(request: Request) -> int:
    given = request.headers.get("if-match")
    if given is None:
        raise Problem(428, 'Say which draft you saw: If-Match with the ETag of the brand, "0" where it has no draft.')
    found = _ETAG.fullmatch(given.strip())
    if not found:
        raise Problem(412, "If-Match names no draft of this brand; read it again.")
    return int(found[1])


def _summary(sheet: Sheet) -> dict[str, Any]:
    draft = sheet.draft
    return {
        "id": sheet.brand, "name": sheet.name,
        "source_version": sheet.source_version or None,
        "draft": {"revision": draft.revision, "by": draft.by, "at_ms": draft.at_ms} if draft else None,
    }  # fmt: skip


def _answer(sheet: Sheet, status: int = 200) -> Response:
    body = {**_summary(sheet), "files": sheet.content.as_json()}
    return JSONResponse(body, status, {"ETag": f'"{sheet.revision}"'})
