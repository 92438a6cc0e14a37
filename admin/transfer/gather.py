"""Taking everything out: the file of what this admin looks after."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from admin.configure.keeper import Keeper
from admin.configure.service import Configurator
from admin.kv import Kv, KvError
from admin.publish.errors import PublishError
from admin.publish.versions import in_force, pages_of
from admin.state import brands as brand_rows
from admin.state import schedule
from admin.state.db import Database
from admin.state.tables import UserRow
from admin.store import StoreUnavailable
from admin.transfer.bundle import PARTS, Bundle, made
from edge.core.crawlers import CRAWLERS_KEY
from edge.core.moments import moment_text
from edge.core.pages import unsealed


@dataclass(frozen=True)
class Stores:
    """Where everything is."""

    kv: Kv
    db: Database
    configurator: Configurator
    keeper: Keeper


async def export(stores: Stores, now_ms: int, parts: Collection[str] = PARTS) -> Bundle:
    """The file with these parts. Raises StoreUnavailable, StateUnavailable."""
    found: dict[str, Any] = {}
    if "configuration" in parts:
        current = await stores.configurator.current()
        if current.problem:
            raise StoreUnavailable(f"The published configuration cannot be used, so it cannot be exported: {current.problem}.")
        found["configuration"] = current.value
    if {"crawlers", "pages"} & set(parts):
        found |= await asyncio.to_thread(_from_kv, stores.kv, parts)
    if {"sources", "drafts", "people", "schedule"} & set(parts):
        found |= await stores.db.read(lambda session: _from_db(session, parts))
    return made(now_ms, **found)


def brands(kv: Kv) -> list[str]:
    """Brands that have pages in the store."""
    return sorted({key.split("/")[1] for key in kv.keys("pages/") if key.count("/") >= 2})


def _from_kv(kv: Kv, parts: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        if "crawlers" in parts and (text := kv.get(CRAWLERS_KEY)) is not None:
            found["crawlers"] = text
        if "pages" in parts:
            found["pages"] = {brand: pages for brand in brands(kv) if (pages := published_pages(kv, brand))}
    except (KvError, PublishError) as error:
        raise StoreUnavailable(f"The pages cannot be read: {error}.") from error
    return found


def published_pages(kv: Kv, brand: str) -> dict[str, dict[str, str]]:
    """The pages of a brand in force, by language and state, without the marks that publishing puts on them."""
    shown = in_force(kv, brand)
    out: dict[str, dict[str, str]] = {}
    if shown is not None:
        pages = pages_of(kv, brand, shown.version)
        for language in shown.languages:  # the brand's own first
            out[language] = {state: unsealed(text) for (spoken, state), text in sorted(pages.items()) if spoken == language}
    return out


def _from_db(session: Session, parts: Collection[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if "drafts" in parts:
        drafts = sorted(brand_rows.drafts(session).items())
        found["drafts"] = [{"brand": brand, "content": draft.content, "by": draft.by} for brand, draft in drafts]
    if "sources" in parts:
        found["sources"] = {brand: version.content for brand, version in sorted(brand_rows.latest(session).items())}
    if "people" in parts:
        found["people"] = [
            {"name": row.name, "role": row.role, "disabled": row.disabled, "language": row.language, "zone": row.zone}
            for row in session.scalars(select(UserRow).order_by(UserRow.name))
        ]
    if "schedule" in parts:
        found["schedule"] = [
            {"id": step.id, "queue": step.queue, "at": moment_text(step.at_ms), "changes": step.changes, "action": step.action,
             "by": step.by} for step in schedule.to_come(session)
        ]  # fmt: skip
    return found

