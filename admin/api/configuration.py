"""The configuration over the API: read, planned, published as a whole or entry by entry; its versions, and the way back.

Whoever changes something says what it was made from (`If-Match`): 428 without it, 412 when it was changed in the meantime.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Query, Request, Response

from admin.access.needs import needs
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.configuration_shapes import (
    CONFIGURATION_BODY,
    ENTRY_BODY,
    IF_MATCH,
    PLAN_BODY,
    ChangedShape,
    DiffShape,
    PlanShape,
    VersionList,
    VersionShape,
)
from admin.api.models import VersionId
from admin.api.problems import Problem
from admin.api.routes import described
from admin.bodies import read_json, read_nothing
from admin.configure.changes import differences
from admin.configure.deeds import ANY, edit, entry_etag, publish
from admin.configure.document import Entry, Value, group_entry, queue_entry, with_group, with_queue, without_group, without_queue
from admin.configure.faults import faults_of
from admin.configure.keeper import FOUND
from admin.configure.service import Published
from admin.configure.warn import Warning_, warnings
from admin.desk import desk
from admin.limits import BadValue
from admin.state.versions import Version
from edge.core.config import CONFIG_MAX_BYTES
from edge.core.moments import moment_text

VERSIONS_AT_MOST = 200
Kind = Literal["queues", "groups"]
router = api_router("configuration")


def if_match(request: Request) -> str:
    """The etag that a change was made from; `*`: whatever stands there. Raises a 428 problem when there is none."""
    given = request.headers.get("if-match", "").strip()
    if not given:
        raise Problem(428, "Say what you changed: If-Match with the ETag of what you read, or * for whatever is there.")
    return ANY if given == ANY else given.removeprefix("W/").strip('"')


def _tagged(response: Response, etag: str) -> None:
    response.headers["ETag"] = f'"{etag}"'


async def changed(done: Published) -> dict[str, Any]:
    """What a publish did, for programs."""
    found = await asyncio.to_thread(warnings, done.after.config)
    return {
        "published": done.is_new,
        "etag": done.after.etag,
        "changes": [change.public() for change in done.changes],
        "raised": list(done.scopes),
        "warnings": [_warned(each) for each in found],
    }


def _warned(warning: Warning_) -> dict[str, str]:
    return {"queue": warning.queue_id, "what": warning.what, "url": warning.url, "advice": warning.advice, "rule": warning.rule}


# --- the whole ------------------------------------------------------------------------------------------------------


@router.get("/configuration", responses=described(409))
@needs(Permission.SEE)
async def get_configuration(request: Request, response: Response) -> Value:
    """The published configuration as JSON, with its ETag."""
    current = await desk(request).configurator.current()
    _tagged(response, current.etag)
    if current.problem:
        raise Problem(409, f"The published configuration cannot be used: {current.problem}.", {"ETag": f'"{current.etag}"'})
    return current.value


@router.put(
    "/configuration", response_model=ChangedShape, responses=described(412, 413, 415, 422, 428),
    openapi_extra=IF_MATCH | CONFIGURATION_BODY,
)  # fmt: skip
@needs(Permission.CONFIGURE)
async def put_configuration(request: Request, response: Response) -> Mapping[str, Any]:
    """Puts a whole configuration in force. What changed gets a higher version; what says the same is not written."""
    etag = if_match(request)
    done = await publish(request, _object(await read_json(request, CONFIG_MAX_BYTES)), etag, action="configuration.publish")
    _tagged(response, done.after.etag)
    return await changed(done)


@router.post(
    "/configuration/plan", response_model=PlanShape, responses=described(413, 415, 422), openapi_extra=PLAN_BODY
)
@needs(Permission.SEE)
async def plan_configuration(request: Request) -> Mapping[str, Any]:
    """Says what a configuration would change, and what is wrong with it. Nothing is published."""
    value = _object(await read_json(request, CONFIG_MAX_BYTES))
    current = await desk(request).configurator.current()
    faults = await asyncio.to_thread(faults_of, {key: item for key, item in value.items() if key != "checked"})
    return {
        "etag": current.etag,
        "errors": [{"at": fault.path, "problem": fault.problem} for fault in faults],
        "changes": [] if faults else [change.public() for change in differences(current.value, value)],
    }


def _object(body: Any) -> Value:
    if not isinstance(body, dict):
        raise BadValue("body", "must be an object with queues, and groups if there are any")
    return body


# --- one queue or group ---------------------------------------------------------------------------------------------


def _entry(value: Value, kind: Kind, entry_id: str) -> Entry:
    return queue_entry(value, entry_id) if kind == "queues" else group_entry(value, entry_id)


def _with(value: Value, kind: Kind, entry: Entry, replaces: str) -> Value:
    return with_queue(value, entry, replaces) if kind == "queues" else with_group(value, entry, replaces)


def _without(value: Value, kind: Kind, entry_id: str) -> Value:
    return without_queue(value, entry_id) if kind == "queues" else without_group(value, entry_id)


def _target(kind: Kind, entry_id: str) -> str:
    return f"{kind[:-1]}:{entry_id}"


def _check(entry: Entry, etag: str) -> None:
    if etag not in (ANY, entry_etag(entry)):
        raise Problem(412, "It was changed in the meantime. Read it again and put your change on top.", current=entry)


async def _of_the_same_id(request: Request, entry_id: str) -> Entry:
    body = await read_json(request)
    if not isinstance(body, dict):
        raise BadValue("body", "must be an object with the keys of the entry")
    if body.get("id", entry_id) != entry_id:
        raise BadValue("id", f"{str(body['id'])[:60]!r} is not the id of the address; to rename is to remove and make anew")
    return {"id": entry_id, **body}


@router.get("/configuration/{kind}/{entry_id}", responses=described(404, 422))
@needs(Permission.SEE)
async def get_entry(request: Request, response: Response, kind: Kind, entry_id: str) -> Entry:
    """The configuration of one queue (`queues`) or group (`groups`), as it was written, with its ETag."""
    entry = _entry((await desk(request).configurator.current()).value, kind, entry_id)
    _tagged(response, entry_etag(entry))
    return entry


@router.post(
    "/configuration/{kind}", status_code=201, response_model=ChangedShape, responses=described(409, 413, 415, 422),
    openapi_extra=ENTRY_BODY,
)  # fmt: skip
@needs(Permission.CONFIGURE)
async def add_entry(request: Request, response: Response, kind: Kind) -> Mapping[str, Any]:
    """Adds a queue, or a group of queues that are there."""
    entry = await read_json(request)
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        raise BadValue("id", "must be given: only a-z, 0-9 and -")
    entry_id = entry["id"]

    def change(value: Value) -> Value:
        if any(each.get("id") == entry_id for each in value.get(kind, ())):
            raise Problem(409, f"There is one with the id {entry_id[:60]!r} already; PUT changes it.")
        return _with(value, kind, entry, "")

    done = await edit(request, change, action=f"{kind[:-1]}.add", target=_target(kind, entry_id))
    response.headers["Location"] = f"{request.url.path}/{entry_id}"
    return await changed(done)


@router.put(
    "/configuration/{kind}/{entry_id}", response_model=ChangedShape, responses=described(404, 412, 413, 415, 422, 428),
    openapi_extra=IF_MATCH | ENTRY_BODY,
)  # fmt: skip
@needs(Permission.CONFIGURE)
async def put_entry(request: Request, kind: Kind, entry_id: str) -> Mapping[str, Any]:
    """Replaces the configuration of a queue or group."""
    etag, entry = if_match(request), await _of_the_same_id(request, entry_id)

    def change(value: Value) -> Value:
        _check(_entry(value, kind, entry_id), etag)
        return _with(value, kind, entry, entry_id)

    return await changed(await edit(request, change, action=f"{kind[:-1]}.change", target=_target(kind, entry_id)))


@router.patch(
    "/configuration/{kind}/{entry_id}", response_model=ChangedShape, responses=described(404, 412, 413, 415, 422, 428),
    openapi_extra=IF_MATCH | ENTRY_BODY,
)  # fmt: skip
@needs(Permission.CONFIGURE)
async def patch_entry(request: Request, kind: Kind, entry_id: str) -> Mapping[str, Any]:
    """Changes some keys. null takes a key away, so that its default holds (as RFC 7396 has it, one level deep)."""
    etag, patch = if_match(request), await _of_the_same_id(request, entry_id)

    def change(value: Value) -> Value:
        old = _entry(value, kind, entry_id)
        _check(old, etag)
        merged = {**old, **patch}
        return _with(value, kind, {key: item for key, item in merged.items() if item is not None}, entry_id)

    return await changed(await edit(request, change, action=f"{kind[:-1]}.change", target=_target(kind, entry_id)))


@router.delete(
    "/configuration/{kind}/{entry_id}", response_model=ChangedShape, responses=described(404, 412, 413, 422, 428),
    openapi_extra=IF_MATCH,
)  # fmt: skip
@needs(Permission.CONFIGURE)
async def delete_entry(request: Request, kind: Kind, entry_id: str) -> Mapping[str, Any]:
    """Removes a queue, whose addresses then go straight to the site; or a group, whose queues go on by themselves."""
    etag = if_match(request)
    await read_nothing(request)

    def change(value: Value) -> Value:
        _check(_entry(value, kind, entry_id), etag)
        return _without(value, kind, entry_id)

    return await changed(await edit(request, change, action=f"{kind[:-1]}.remove", target=_target(kind, entry_id)))


# --- versions -------------------------------------------------------------------------------------------------------


def _version(version: Version) -> dict[str, Any]:
    is_found = version.note == FOUND and not version.by
    return {"id": version.id, "at": moment_text(version.at_ms), "by": version.by or None, "note": version.note,
            "found": is_found, "sha256": version.sha256, "size_bytes": version.size_bytes}  # fmt: skip


@router.get("/versions", response_model=VersionList, responses=described(422))
@needs(Permission.SEE)
async def list_versions(
    request: Request, after: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=VERSIONS_AT_MOST)] = 50,
) -> Mapping[str, Any]:  # fmt: skip
    """Versions of the configuration, the newest first; also those that another program put into the store."""
    found = await desk(request).keeper.page(limit + 1, after)
    shown = found[:limit]
    return {"versions": [_version(each) for each in shown], "next": shown[-1].id if len(found) > limit else None}


@router.get("/versions/{version_id}", response_model=VersionShape, responses=described(404, 422))
@needs(Permission.SEE)
async def get_version(request: Request, version_id: VersionId) -> Mapping[str, Any]:
    """One version with its configuration; null where that could not be used."""
    version, edition = await desk(request).keeper.version(version_id)
    return {**_version(version), "configuration": None if edition.problem else edition.value}


@router.get("/versions/{version_id}/diff", response_model=DiffShape, responses=described(404, 422))
@needs(Permission.SEE)
async def diff_version(
    request: Request, version_id: VersionId, to: Annotated[str, Query(max_length=20)] = "previous"
) -> Mapping[str, Any]:
    """What this version changed: against the one before (`previous`), another one (its number), or what is published (`current`).

    For `current` and for a number it is what restoring this version would change there.
    """
    room = desk(request)
    _, edition = await room.keeper.version(version_id)
    if to == "current":
        before = await room.configurator.current()
    elif to == "previous":
        found = await room.keeper.before(version_id)
        before = found[1] if found else edition
        if found is None:
            return {"from": None, "to": version_id, "changes": []}
    elif to.isascii() and to.isdigit() and len(to) < 16:
        _, before = await room.keeper.version(int(to))
    else:
        raise BadValue("to", f"{to!r} is not allowed: previous, current or the number of a version")
    changes = [change.public() for change in differences(before.value, edition.value)]
    return {"from": to, "to": version_id, "changes": changes}


@router.post(
    "/versions/{version_id}/restore", response_model=ChangedShape, responses=described(404, 409, 412, 413, 415, 422, 428),
    openapi_extra=IF_MATCH,
)  # fmt: skip
@needs(Permission.CONFIGURE)
async def restore_version(request: Request, response: Response, version_id: VersionId) -> Mapping[str, Any]:
    """Publishes a kept version anew. `If-Match`: the ETag of the configuration that it replaces."""
    etag = if_match(request)
    await read_nothing(request)
    version, edition = await desk(request).keeper.version(version_id)
    if edition.problem:
        raise Problem(409, f"Version {version_id} cannot be used: {edition.problem}.")
    note = f"version {version.id} restored"
    done = await publish(request, edition.value, etag, action="configuration.restore", note=note)
    _tagged(response, done.after.etag)
    return await changed(done)
