"""The audit log: who did what to what, when, and what it changed. One line of it is also a line of the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from starlette.requests import Request

from admin.access.actor import Actor, actor
from admin.desk import Desk, desk
from admin.log import log
from admin.request_ids import request_id
from admin.state import audit as table
from admin.state.audit import Entry
from admin.state.db import Database, StateUnavailable


class Recorder:
    """Writes down what one actor does. `now_ms`: Unix time."""

    def __init__(self, db: Database, who: Actor, now_ms: int) -> None:
        self._db = db
        self._who = who
        self._now_ms = now_ms

    async def record(
        self, action: str, target: str, before: Mapping[str, Any] | None = None, after: Mapping[str, Any] | None = None,
        note: str = "",
    ) -> None:  # fmt: skip
        """Adds one entry: `action` as `queue.pause`, `target` as `queue:sale`; `before` and `after` hold no secret.

        Never raises for the database: the deed is done, and its line is in the log whatever happens.
        """
        entry = self.entry(action, target, before, after, note)
        log("audit", **{name: value for name, value in asdict(entry).items() if name not in ("id", "request_id")})
        try:
            await self._db.run(lambda session: table.add(session, entry))
        except StateUnavailable as error:
            log("audit not kept", action=action, target=target, error=str(error))

    def entry(
        self, action: str, target: str, before: Mapping[str, Any] | None = None, after: Mapping[str, Any] | None = None,
        note: str = "",
    ) -> Entry:  # fmt: skip
        """The entry, for those who add it (`admin.state.audit.add`) in the transaction of the deed itself."""
        who = self._who
        return Entry(self._now_ms, who.name, who.role, who.via, action, target, before, after, note, request_id())


def audit(request: Request) -> Recorder:
    """The recorder for who asks. Raises SignInNeeded for nobody."""
    return audit_for(desk(request), actor(request))


def audit_for(room: Desk, who: Actor) -> Recorder:
    """The recorder for somebody else: the schedule, or one who is signing in."""
    return Recorder(room.db, who, int(room.unix_s() * 1000))
