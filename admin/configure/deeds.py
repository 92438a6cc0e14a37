"""Publishing as somebody's deed: put in force, kept as a version, and written into the audit log."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request

from admin.access.actor import actor
from admin.audit import audit
from admin.configure.document import Entry, Value, find, groups, queues
from admin.configure.service import Edition, Published, Stale
from admin.desk import desk

TRIES = 3
ANY = "*"
_AUDITED_AT_MOST = 200  # changes that one entry of the log names


async def publish(request: Request, value: Value, if_match: str, *, action: str, target: str = "configuration",
                  note: str = "") -> Published:  # fmt: skip
    """Puts a configuration in force for who asks. `if_match`: the etag of what it was made from, or ANY.

    Raises Stale, Faulty, StoreUnavailable.
    """
    room = desk(request)
    etag = (await room.configurator.current()).etag if if_match == ANY else if_match
    done = await room.configurator.publish(value, etag)
    if done.is_new:
        version = await room.keeper.keep(done.before, done.after, actor(request).name, note)
        before, after = audited(done)
        said = {**after, "version": version.id} if version else after
        await audit(request).record(action, target, before=before, after=said, note=note)
    return done


async def edit(request: Request, change: Callable[[Value], Value], *, action: str, target: str, note: str = "") -> Published:
    """Publishes what `change` makes of the configuration as it stands, once more when somebody else was quicker.

    `change` checks what it relies on and raises what it likes.
    """
    for _ in range(TRIES - 1):
        current = await desk(request).configurator.current()
        try:
            return await publish(request, change(current.value), current.etag, action=action, target=target, note=note)
        except Stale:
            continue
    current = await desk(request).configurator.current()
    return await publish(request, change(current.value), current.etag, action=action, target=target, note=note)


def audited(done: Published) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the audit log says of it: each key that changed, before and after."""
    told = [change for change in done.changes if change.code not in ("unguarded", "reset", "lines")][:_AUDITED_AT_MOST]
    names = [f"{change.target} {change.key}".strip() or change.code for change in told]
    before = {name: change.before for name, change in zip(names, told, strict=True)}
    return before, {name: change.after for name, change in zip(names, told, strict=True)}


def entry_etag(entry: Mapping[str, Any]) -> str:
    """What names the state of one queue or group."""
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:32]


def entry_in(current: Edition, kind: str, entry_id: str) -> Entry | None:
    """The entry of a `queue` or `group`."""
    return find(queues(current.value) if kind == "queue" else groups(current.value), entry_id)
