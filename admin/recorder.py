"""Writing into the audit log: who did what to what, when, and what it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from admin.access.actor import Actor
from admin.log import log
from admin.request_ids import request_id
from admin.state import audit as table
from admin.state.audit import Entry
from admin.state.db import Database, StateUnavailable


class Recorder:
    """Writes down what one actor does. `now_ms`: Unix time."""

    def __init__(self, db: Database, who: Actor, now_ms: int) -> None:
        self._db = db
        self.who = who
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
        who = self.who
        return Entry(self._now_ms, who.name, who.role, who.via, action, target, before, after, note, request_id())
