"""Rows of brands: the draft that is being edited, and every source that was published from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from admin.state.tables import BrandVersionRow, DraftRow


@dataclass(frozen=True)
class Draft:
    """A brand while people work on it. `base_version`: what was in force when it began, 0: nothing of ours."""

    brand: str
    content: dict[str, Any]
    base_version: int
    revision: int
    by: str
    at_ms: int


@dataclass(frozen=True)
class BrandVersion:
    """A source that became version `version` of the pages in the store."""

    brand: str
    version: int
    at_ms: int
    by: str
    note: str
    content: dict[str, Any]


class DraftMoved(Exception):
    """The draft is not the one that was read. `now`: the draft that there is, None: it was discarded or published."""

    def __init__(self, now: Draft | None) -> None:
        super().__init__("the draft has changed")
        self.now = now


def draft(session: Session, brand: str) -> Draft | None:
    """The draft of a brand."""
    row = session.get(DraftRow, brand)
    return _draft(row) if row else None


def drafts(session: Session) -> dict[str, Draft]:
    """All drafts by brand."""
    return {row.brand: _draft(row) for row in session.scalars(select(DraftRow))}


def ids(session: Session) -> set[str]:
    """The ids of all brands that have a draft or were published from here."""
    return {*session.scalars(select(DraftRow.brand)), *session.scalars(select(BrandVersionRow.brand).distinct())}


def save_draft(session: Session, new: Draft) -> Draft:
    """Keeps `new` in place of the draft of revision `new.revision` (0: there is none yet). Raises DraftMoved."""
    row = session.get(DraftRow, new.brand, with_for_update=True)
    if (row.revision if row else 0) != new.revision:
        raise DraftMoved(_draft(row) if row else None)
    if row is None:
        row = DraftRow(id=new.brand, brand=new.brand, base_version=str(new.base_version), revision=0)
        session.add(row)
    # Revisions grow with time: after a draft was discarded, a page that shows the old one never fits a new one.
    row.revision = max(new.revision, new.at_ms) + 1
    row.content, row.by, row.at_ms = new.content, new.by, new.at_ms
    session.flush()
    return _draft(row)


def discard_draft(session: Session, brand: str, revision: int) -> None:
    """Removes the draft of that revision. Raises DraftMoved."""
    row = session.get(DraftRow, brand, with_for_update=True)
    if (row.revision if row else 0) != revision:
        raise DraftMoved(_draft(row) if row else None)
    if row is not None:
        session.delete(row)


def keep_version(session: Session, version: BrandVersion) -> None:
    """Keeps what was published, for ever."""
    session.add(BrandVersionRow(
        brand=version.brand, version=version.version, at_ms=version.at_ms, by=version.by, note=version.note,
        content=version.content,
    ))  # fmt: skip


def versions(session: Session, brand: str, most: int) -> list[BrandVersion]:
    """The newest first."""
    wanted = select(BrandVersionRow).where(BrandVersionRow.brand == brand).order_by(BrandVersionRow.id.desc()).limit(most)
    return [_version(row) for row in session.scalars(wanted)]


def version(session: Session, brand: str, number: int) -> BrandVersion | None:
    """The source of one version; of a number that came twice (an emptied store), the latest."""
    wanted = select(BrandVersionRow).where(BrandVersionRow.brand == brand, BrandVersionRow.version == number)
    row = session.scalars(wanted.order_by(BrandVersionRow.id.desc()).limit(1)).first()
    return _version(row) if row else None


def latest(session: Session) -> dict[str, BrandVersion]:
    """The newest source of each brand that was ever published from here."""
    newest = select(func.max(BrandVersionRow.id)).group_by(BrandVersionRow.brand)
    rows = session.scalars(select(BrandVersionRow).where(BrandVersionRow.id.in_(newest)))
    return {row.brand: _version(row) for row in rows}


def _draft(row: DraftRow) -> Draft:
    return Draft(row.brand, row.content, int(row.base_version or 0), row.revision, row.by, row.at_ms)


def _version(row: BrandVersionRow) -> BrandVersion:
    return BrandVersion(row.brand, row.version, row.at_ms, row.by, row.note, row.content)
