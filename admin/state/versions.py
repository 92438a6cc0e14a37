"""Rows of published configurations, the newest last: kept whole, so that any of them can be looked at and restored."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from admin.state.tables import ConfigVersionRow


@dataclass(frozen=True)
class Version:
    """A configuration as it was published. `by` empty: it was found in the store, put there by another program."""

    id: int
    at_ms: int
    by: str
    note: str
    sha256: str
    size_bytes: int


def sha256_of(text: str) -> str:
    """The name of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _version(row: ConfigVersionRow) -> Version:
    return Version(row.id, row.at_ms, row.by, row.note, row.sha256, len(row.text.encode()))


def add(session: Session, text: str, at_ms: int, by: str, note: str = "") -> Version | None:
    """Keeps a text, unless it is the newest that is kept already: then None."""
    found = latest(session)
    if found is not None and found.sha256 == sha256_of(text):
        return None
    row = ConfigVersionRow(at_ms=at_ms, by=by, note=note, text=text, sha256=sha256_of(text))
    session.add(row)
    session.flush()
    return _version(row)


def latest(session: Session) -> Version | None:
    """The newest."""
    row = session.scalars(select(ConfigVersionRow).order_by(ConfigVersionRow.id.desc()).limit(1)).first()
    return _version(row) if row else None


def text_of(session: Session, version_id: int) -> tuple[Version, str] | None:
    """One with its text."""
    row = session.get(ConfigVersionRow, version_id)
    return (_version(row), row.text) if row else None


def before(session: Session, version_id: int) -> tuple[Version, str] | None:
    """The one before another."""
    found = select(ConfigVersionRow).where(ConfigVersionRow.id < version_id).order_by(ConfigVersionRow.id.desc()).limit(1)
    row = session.scalars(found).first()
    return (_version(row), row.text) if row else None


def text_with(session: Session, etag: str) -> str | None:
    """The newest text whose SHA-256 begins so: an etag of the configuration is such a beginning."""
    if not etag or not etag.isalnum():
        return None
    found = select(ConfigVersionRow.text).where(ConfigVersionRow.sha256.startswith(etag)).order_by(ConfigVersionRow.id.desc())
    return session.scalars(found.limit(1)).first()


def page(session: Session, limit: int, after: int | None = None) -> Sequence[Version]:
    """The newest first; `after`: those older than this id."""
    found = select(ConfigVersionRow).order_by(ConfigVersionRow.id.desc()).limit(limit)
    if after is not None:
        found = found.where(ConfigVersionRow.id < after)
    return [_version(row) for row in session.scalars(found)]
