"""The studio's one door: what brands there are, their drafts, publishing, history. The console and the API both go through here.

Sources live in the admin's own database; what visitors see lives in the KV store. Neither is ever half written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from admin.publish import versions as store_versions
from admin.publish.versions import Outcome, Store, Version
from admin.state import brands as rows
from admin.state.brands import BrandVersion, Draft, DraftMoved
from admin.state.db import Database
from admin.studio.content import BRAND_FILE, BRAND_ID, BadContent, Content, text_of
from admin.studio.workshop import Workshop

HISTORY_AT_MOST = 100
T = TypeVar("T")


class UnknownBrand(Exception):
    """There is no brand of this id."""

    def __init__(self, brand: str) -> None:
        super().__init__(f"there is no brand {brand[:40]!r}")


class MovedOn(Exception):
    """Somebody else published or rolled back meanwhile. The text says what is in force now."""


@dataclass(frozen=True)
class Sheet:
    """A brand as it stands: the draft's content, else what was published from here last, else what the product ships.

    `revision`: of the draft, 0 without one. `source_version`: the version that the content without a draft became, 0 for none.
    """

    brand: str
    content: Content
    draft: Draft | None
    published: Content | None
    source_version: int

    @property
    def name(self) -> str:
        """What visitors read, or the id where none is said."""
        found: str = self.content.values.get("name") or self.brand
        return found

    @property
    def revision(self) -> int:
        """What a save must name."""
        return self.draft.revision if self.draft else 0

    @property
    def mark(self) -> str:
        """Changes with the content."""
        return self.content.fingerprint[:12]


@dataclass(frozen=True)
class Line:
    """One version in the history: of the database, of the store, or of both."""

    version: int
    at_ms: int | None
    by: str
    note: str
    has_source: bool
    is_in_force: bool
    can_return: bool


class Studio:
    """`now_ms`: Unix time. Every method may raise StateUnavailable; those that publish, KvError and PublishError."""

    def __init__(self, db: Database, store: Store, workshop: Workshop, now_ms: Callable[[], int]) -> None:
        self._db = db
        self._store = store
        self._workshop = workshop
        self._now_ms = now_ms
        self._publishing = asyncio.Lock()

    @property
    def workshop(self) -> Workshop:
        """Where drafts are tried."""
        return self._workshop

    async def sheets(self) -> list[Sheet]:
        """All brands, by id."""
        drafts, latest = await self._db.read(lambda session: (rows.drafts(session), rows.latest(session)))
        shipped = await asyncio.to_thread(self._workshop.shipped)
        names = sorted({*drafts, *latest, *shipped})
        return [_sheet(name, drafts.get(name), latest.get(name), shipped.get(name)) for name in names]

    async def ids(self) -> list[str]:
        """The ids of all brands."""
        return sorted({*await self._db.read(rows.ids), *self._workshop.shipped_ids()})

    async def sheet(self, brand: str) -> Sheet:
        """One brand. Raises UnknownBrand."""
        draft, newest = await self._db.read(lambda session: (rows.draft(session, brand), rows.versions(session, brand, 1)))
        shipped = await asyncio.to_thread(self._workshop.shipped_brand, brand)
        if not (draft or newest or shipped):
            raise UnknownBrand(brand)
        return _sheet(brand, draft, newest[0] if newest else None, shipped)

    async def make(self, brand: str, origin: str, by: str) -> Sheet:
        """A new brand as a draft: a copy of `origin`, or empty and extending the default. Raises BadContent, UnknownBrand."""
        if not BRAND_ID.fullmatch(brand):
            raise BadContent("brand", "an id has at most 40 small letters, digits and hyphens, and begins with a letter")
        known = {sheet.brand: sheet for sheet in await self.sheets()}
        if brand in known:
            raise BadContent("brand", f"there is a brand {brand} already")
        if origin and origin not in known:
            raise UnknownBrand(origin)
        name = brand.replace("-", " ").title()
        content = (
            known[origin].content.with_values({**known[origin].content.values, "name": name})
            if origin
            else Content.checked({BRAND_FILE: text_of({"name": name, "extends": "default"}).encode()})
        )
        await self.save(brand, content, 0, by)
        return await self.sheet(brand)

    async def save(self, brand: str, content: Content, revision: int, by: str) -> Draft:
        """Keeps the draft in place of the one of `revision`. Raises DraftMoved when that is not the one there is."""
        known = (await self._db.read(rows.latest)).get(brand)
        new = Draft(brand, content.as_json(), known.version if known else 0, revision, by, self._now_ms())
        return await self._db.run(lambda session: rows.save_draft(session, new))

    async def discard(self, brand: str, revision: int) -> None:
        """Back to what was published. Raises DraftMoved."""
        await self._db.run(lambda session: rows.discard_draft(session, brand, revision))

    async def page(self, sheet: Sheet, language: str, look: str, nonce: str, message: str = "") -> str:
        """One page of a brand as it stands. Raises PublishError."""
        others = await self._others(sheet.brand)
        return await asyncio.to_thread(self._workshop.page, sheet.brand, sheet.content, others, language, look, nonce, message)

    async def check(self, sheet: Sheet) -> None:
        """Raises PublishError for what keeps the brand as it stands from being published."""
        await asyncio.to_thread(self._workshop.publication, sheet.brand, sheet.content, await self._others(sheet.brand))

    async def publish(self, brand: str, revision: int, by: str, note: str) -> Outcome:
        """Makes the brand as it stands the version in force; the draft ends with it. Raises DraftMoved, PublishError, KvError."""
        async with self._publishing:
            sheet = await self.sheet(brand)
            if sheet.revision != revision:
                raise DraftMoved(sheet.draft)
            others = await self._others(brand)
            made = await asyncio.to_thread(self._workshop.publication, brand, sheet.content, others)
            now_ms = self._now_ms()
            outcome = await asyncio.to_thread(store_versions.publish, self._store, made, by, now_ms)
            version = BrandVersion(brand, outcome.version, now_ms, by, note, sheet.content.as_json())
            await self._db.run(lambda session: rows.keep_version(session, version))
            if sheet.draft:
                await self._end_draft(brand, revision)
            return outcome

    async def _end_draft(self, brand: str, revision: int) -> None:
        try:
            await self.discard(brand, revision)
        except DraftMoved:
            # Somebody saved while the pages were made: their draft goes on from here.
            return

    async def roll_back(self, brand: str, to: int, seen: int, by: str) -> Outcome:
        """Puts version `to` in force again. `seen`: what was in force on the page. Raises MovedOn, PublishError, KvError."""
        async with self._publishing:
            now = await asyncio.to_thread(store_versions.in_force, self._store, brand)
            if (now.version if now else 0) != seen:
                raise MovedOn(f"version {now.version} is in force now" if now else "nothing is in force now")
            return await asyncio.to_thread(store_versions.roll_back, self._store, brand, by, self._now_ms(), to)

    async def in_store(self, brand: str) -> list[Version]:
        """The versions in the store, the newest first. Raises KvError."""
        return await asyncio.to_thread(store_versions.versions, self._store, brand)

    async def history(self, brand: str) -> list[Line]:
        """What was published, from here or elsewhere, the newest first. Raises KvError."""
        kept = await self._db.read(lambda session: rows.versions(session, brand, HISTORY_AT_MOST))
        return _lines(kept, await self.in_store(brand))

    async def source(self, brand: str, version: int) -> tuple[BrandVersion, BrandVersion | None]:
        """The source of a version and of the one published before it. Raises UnknownBrand."""
        kept = await self._db.read(lambda session: rows.versions(session, brand, HISTORY_AT_MOST))
        for at, found in enumerate(kept):
            if found.version == version:
                return found, kept[at + 1] if at + 1 < len(kept) else None
        raise UnknownBrand(f"{brand}, version {version}")

    async def _others(self, brand: str) -> dict[str, Content]:
        """The brands that were published from here: a draft may extend one."""
        latest = await self._db.read(rows.latest)
        return {name: Content.of_json(found.content) for name, found in latest.items() if name != brand}


def _sheet(brand: str, draft: Draft | None, latest: BrandVersion | None, shipped: Content | None) -> Sheet:
    published = Content.of_json(latest.content) if latest else shipped
    content = Content.of_json(draft.content) if draft else published
    assert content is not None
    return Sheet(brand, content, draft, published, latest.version if latest else 0)


def _lines(kept: list[BrandVersion], there: list[Version]) -> list[Line]:
    stored = {version.number: version for version in there}
    out, told = [], set[int]()
    for row in kept:
        # A number comes twice when the store was emptied: only the latest can be the one that is there.
        found = stored.get(row.version) if row.version not in told else None
        told.add(row.version)
        is_there = found is not None and found.published_at_ms in (row.at_ms, None)
        in_force = bool(is_there and found and found.is_in_force)
        out.append(Line(row.version, row.at_ms, row.by, row.note, True, in_force, is_there and not in_force))
    for number, version in stored.items():
        if number not in told:
            out.append(Line(number, version.published_at_ms, version.by, "", False, version.is_in_force, not version.is_in_force))
    return sorted(out, key=lambda line: (line.at_ms or 0, line.version), reverse=True)
