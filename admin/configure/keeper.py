"""The history of the configuration: every text that was published from here, and every other that is found in the store."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from sqlalchemy.orm import Session

from admin.configure.service import Edition, edition_of
from admin.kv import Kv, KvError
from admin.log import log
from admin.state import versions
from admin.state.db import Database, StateUnavailable
from admin.state.versions import Version
from edge.core.config import CONFIG_KEY

LOOK_EVERY_S = 5.0
# What the note of a version says that no publish of this app made.
FOUND = "found in the store"


class UnknownVersion(Exception):
    """No version with this number is kept."""

    def __init__(self, version_id: int) -> None:
        super().__init__(f"no version {version_id} of the configuration is kept")


class Keeper:
    """`unix_s` is the clock. Trouble with the database is StateUnavailable, but for `keep` and `running`, which only log it."""

    def __init__(self, kv: Kv, db: Database, unix_s: Callable[[], float]) -> None:
        self._kv = kv
        self._db = db
        self._clock = unix_s
        self._seen: str | None = None

    async def keep(self, before: Edition, after: Edition, by: str, note: str = "") -> Version | None:
        """Keeps what was just published, and before it what it replaced, if nobody had kept that."""
        now_ms = int(self._clock() * 1000)
        old, new = before.text, after.text

        def work(session: Session) -> Version | None:
            if old is not None:
                versions.add(session, old, now_ms, "", FOUND)
            return versions.add(session, new, now_ms, by, note) if new is not None else None

        try:
            kept = await self._db.run(work)
        except StateUnavailable as error:
            # The configuration is in force; it is found in the store when the database is back.
            log("version not kept", by=by, error=str(error))
            return None
        self._seen = new
        return kept

    async def notice(self) -> None:
        """Keeps what stands in the store, if it is not the newest that is kept."""
        text = await asyncio.to_thread(self._kv.get, CONFIG_KEY)
        if text is not None and text != self._seen:
            now_ms = int(self._clock() * 1000)
            await self._db.run(lambda session: versions.add(session, text, now_ms, "", FOUND))
            self._seen = text

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Notices what others publish, every LOOK_EVERY_S, for as long as this is open."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching

    async def _watch(self) -> None:
        while True:
            try:
                await self.notice()
            except (KvError, StateUnavailable) as error:
                log("configuration not looked at", error=str(error))
            await asyncio.sleep(LOOK_EVERY_S)

    async def page(self, limit: int, after: int | None = None) -> list[Version]:
        """The newest first; `after`: those older than this number."""
        await self._notice_quietly()
        return list(await self._db.read(lambda session: versions.page(session, limit, after)))

    async def version(self, version_id: int) -> tuple[Version, Edition]:
        """One of them. Raises UnknownVersion."""
        found = await self._db.read(lambda session: versions.text_of(session, version_id))
        if found is None:
            raise UnknownVersion(version_id)
        return found[0], edition_of(found[1])

    async def before(self, version_id: int) -> tuple[Version, Edition] | None:
        """The one before it, or None for the first."""
        found = await self._db.read(lambda session: versions.before(session, version_id))
        return (found[0], edition_of(found[1])) if found else None

    async def with_etag(self, etag: str) -> Edition | None:
        """A kept text by the etag that it had; None where it is not kept, or the database is away."""
        try:
            text = await self._db.read(lambda session: versions.text_with(session, etag))
        except StateUnavailable:
            return None
        return edition_of(text) if text is not None else None

    async def _notice_quietly(self) -> None:
        try:
            await self.notice()
        except KvError as error:
            log("configuration not looked at", error=str(error))
