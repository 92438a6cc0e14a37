"""Putting a file back: all of it, or nothing. What was written before something failed is taken back in reverse order.

The configuration comes last: it is one write, and the one that may be refused because somebody else published meanwhile.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from admin.configure.deeds import audited
from admin.configure.service import Stale
from admin.kv import Kv, KvError
from admin.log import log
from admin.publish.errors import PublishError
from admin.publish.publish import Publication
from admin.publish.versions import in_force, publish, roll_back
from admin.state import brands, schedule, users
from admin.state.brands import BrandVersion
from admin.state.tables import BrandVersionRow, DraftRow, ScheduleStepRow, UserRow
from admin.store import StoreUnavailable
from admin.transfer.bundle import BadBundle, Bundle
from admin.transfer.gather import Stores
from admin.transfer.plan import Plan, plan
from edge.core.crawlers import CRAWLERS_KEY
from edge.core.page_set import page_set_key
from edge.core.pages import PageError, seal

Undo = Callable[[], Awaitable[None]]
Record = Callable[..., Awaitable[None]]


async def restore(stores: Stores, bundle: Bundle, if_match: str, by: str, now_ms: int, record: Record) -> Plan:
    """Puts the file back and says what was done. `if_match`: the etag that its plan was made with, or `*`.

    `record(action, target, before=, after=, note=)` writes into the audit log. Raises BadBundle, Stale, Faulty, StoreUnavailable,
    StateUnavailable; then nothing was changed.
    """
    wanted = await plan(stores, bundle, now_ms)
    if wanted.faults:
        raise BadBundle(wanted.faults)
    if if_match not in ("*", wanted.current.etag):
        raise Stale(wanted.current)
    undo: list[Undo] = []
    try:
        await _write(stores, bundle, wanted, by, now_ms, undo, record)
    except BaseException as error:
        for step in reversed(undo):
            await _taken_back(step)
        if isinstance(error, (KvError, PublishError, PageError)):
            raise StoreUnavailable(f"Nothing was imported: {error}.") from error
        raise
    if not wanted.is_empty:
        said = {"steps": [line.words() for line in wanted.lines], "configuration": [change.words for change in wanted.changes]}
        await record("transfer.import", "everything", after=said, note=f"made at {bundle.made_at}" if bundle.made_at else "")
    return wanted


async def _taken_back(step: Undo) -> None:
    try:
        await step()
    except Exception as error:
        log("import not taken back", error=repr(error))


async def _write(stores: Stores, bundle: Bundle, wanted: Plan, by: str, now_ms: int, undo: list[Undo], record: Record) -> None:
    for brand in wanted.brands:
        await asyncio.to_thread(_pages, stores.kv, bundle, brand, by, now_ms, undo)
    if wanted.crawlers is not None:
        await asyncio.to_thread(_crawlers, stores.kv, wanted.crawlers, undo)
    await _rows(stores, bundle, wanted, by, now_ms, undo)
    if bundle.configuration is not None:
        done = await stores.configurator.publish(bundle.configuration, wanted.current.etag)
        if done.is_new:
            await stores.keeper.keep(done.before, done.after, by, "import")
            before, after = audited(done)
            await record("configuration.publish", "configuration", before=before, after=after, note="import")


# --- the database ---------------------------------------------------------------------------------------------------


async def _rows(stores: Stores, bundle: Bundle, wanted: Plan, by: str, now_ms: int, undo: list[Undo]) -> None:
    if not (wanted.sources or wanted.drafts or wanted.people or wanted.steps):
        return
    versions = await asyncio.to_thread(lambda: {brand: _version(stores.kv, brand) for brand in wanted.sources})
    given = bundle.sources or {}
    sources = [BrandVersion(brand, number, now_ms, by, "import", given[brand]) for brand, number in versions.items()]
    added = await stores.db.run(lambda session: _add(session, wanted, sources, by, now_ms))

    async def take_back() -> None:
        await stores.db.run(lambda session: _remove(session, added))

    undo.append(take_back)


def _version(kv: Kv, brand: str) -> int:
    """The version of a brand's pages in force; 0 for none."""
    shown = in_force(kv, brand)
    return shown.version if shown else 0


# Ids by table of what was added.
Added = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[int]]


def _add(session: Session, wanted: Plan, sources: Sequence[BrandVersion], by: str, now_ms: int) -> Added:
    drafts, people = [], []
    newest = session.scalar(select(func.max(BrandVersionRow.id))) or 0
    for source in sources:
        brands.keep_version(session, source)
    session.flush()
    kept = list(session.scalars(select(BrandVersionRow.id).where(BrandVersionRow.id > newest)))
    for row in wanted.drafts:
        draft = brands.Draft(row["brand"], row["content"], 0, 0, str(row.get("by") or by), now_ms)
        drafts.append(brands.save_draft(session, draft).brand)
    for row in wanted.people:
        person = users.add(session, secrets.token_hex(8), row["name"], row["role"], now_ms)
        people.append(person.id)
        users.set_preferences(session, person.id, language=str(row.get("language", "")), zone=str(row.get("zone", "")))
        if row["disabled"]:
            users.change(session, person.id, disabled=True)
    for step in wanted.steps:
        schedule.add(session, step)
    return drafts, people, [step.id for step in wanted.steps], kept


def _remove(session: Session, added: Added) -> None:
    for table, ids in zip((DraftRow, UserRow, ScheduleStepRow, BrandVersionRow), added, strict=True):
        session.execute(delete(table).where(table.id.in_(ids)))  # type: ignore[attr-defined]


# --- the store ------------------------------------------------------------------------------------------------------


def _crawlers(kv: Kv, text: str, undo: list[Undo]) -> None:
    before = kv.get(CRAWLERS_KEY)
    kv.put(CRAWLERS_KEY, text)

    async def take_back() -> None:
        await asyncio.to_thread(_as_before, kv, CRAWLERS_KEY, before)

    undo.append(take_back)


def _as_before(kv: Kv, key: str, text: str | None) -> None:
    if text is None:
        kv.delete(key)
    else:
        kv.put(key, text)


def _pages(kv: Kv, bundle: Bundle, brand: str, by: str, now_ms: int, undo: list[Undo]) -> None:
    """Publishes a brand as a new version; taken back, the one before is in force again."""
    languages = (bundle.pages or {})[brand]
    pages = {(language, state): seal(text) for language, states in languages.items() for state, text in states.items()}
    try:
        shown = in_force(kv, brand)
    except PublishError:
        shown = None
    publish(kv, Publication(brand, tuple(languages), pages), by, now_ms)

    async def take_back() -> None:
        if shown is None:
            await asyncio.to_thread(kv.delete, page_set_key(brand))
        else:
            await asyncio.to_thread(roll_back, kv, brand, by, now_ms, shown.version)

    undo.append(take_back)
