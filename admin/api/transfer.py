"""Everything as one file over the API: taken out, planned, put back whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from admin.access.actor import actor
from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.configuration import if_match
from admin.api.configuration_shapes import IF_MATCH, ChangeShape, ErrorShape
from admin.api.routes import described
from admin.audit import audit
from admin.bodies import read_json
from admin.desk import Desk, desk
from admin.limits import BadValue
from admin.transfer.bundle import BUNDLE_MAX_BYTES, FORMAT, MARK, PARTS, Bundle, bundle_of
from admin.transfer.gather import Stores, export
from admin.transfer.plan import plan
from admin.transfer.restore import restore
from admin.transfer.rights import check_export, check_import, may_export

router = api_router("transfer")


class StepOfImport(BaseModel):
    """One thing that an import does, or leaves as it is."""

    model_config = ConfigDict(extra="forbid")
    part: str
    code: str
    words: str
    values: dict[str, str]


class ImportShape(BaseModel):
    """What an import does."""

    model_config = ConfigDict(extra="forbid")
    etag: str = Field(description="Of the configuration as it was: If-Match for the import.")
    errors: list[ErrorShape] = Field(description="With any of them nothing can be imported.")
    changes: list[ChangeShape] = Field(description="Of the configuration.")
    steps: list[StepOfImport] = Field(description="Of all other parts.")


BUNDLE_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {
            "type": "object", "required": [MARK], "properties": {MARK: {"const": FORMAT}},
            "description": f"What GET /export answers, or some of its parts: {', '.join(PARTS)}.",
        }}},
    }
}  # fmt: skip


def stores_of(room: Desk) -> Stores:
    """Where everything is."""
    return Stores(room.kv, room.db, room.configurator, room.keeper)


@router.get("/export", responses=described(422))
@needs(Permission.SEE)
async def export_everything(
    request: Request, response: Response, parts: Annotated[str, Query(max_length=200)] = ""
) -> Mapping[str, Any]:
    """One file with everything: configuration, crawlers, pages in force, drafts, people without secrets, schedule.

    `parts`: some of them, separated by commas; left out: all that the token may see.
    """
    wanted = [part.strip() for part in parts.split(",") if part.strip()] or may_export(actor(request))
    for part in wanted:
        if part not in PARTS:
            raise BadValue("parts", f"{part[:40]!r} is unknown; parts are {', '.join(PARTS)}")
    check_export(actor(request), wanted)
    room = desk(request)
    bundle = await export(stores_of(room), int(room.unix_s() * 1000), wanted)
    response.headers["Content-Disposition"] = 'attachment; filename="stanchion.json"'
    return bundle.public()


async def _read(request: Request) -> Bundle:
    bundle = bundle_of(await read_json(request, BUNDLE_MAX_BYTES))
    check_import(actor(request), bundle)
    return bundle


@router.post("/import/plan", response_model=ImportShape, responses=described(413, 415, 422), openapi_extra=BUNDLE_BODY)
@needs(Permission.CONFIGURE)
async def plan_import(request: Request) -> Mapping[str, Any]:
    """Says what a file would change, and all that is wrong with it. Nothing is written."""
    bundle, room = await _read(request), desk(request)
    return (await plan(stores_of(room), bundle, int(room.unix_s() * 1000))).public()


@router.post(
    "/import", response_model=ImportShape, responses=described(412, 413, 415, 422, 428), openapi_extra=IF_MATCH | BUNDLE_BODY
)
@needs(Permission.CONFIGURE)
async def import_everything(request: Request) -> Mapping[str, Any]:
    """Puts a file back: all of it, or nothing. What is there already stays; people come without a password."""
    etag, room = if_match(request), desk(request)
    bundle = await _read(request)
    now_ms = int(room.unix_s() * 1000)
    done = await restore(stores_of(room), bundle, etag, actor(request).name, now_ms, audit(request).record)
    return done.public()
