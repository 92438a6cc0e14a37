"""Rows of the audit log: added and read, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from admin.state.tables import AuditRow


@dataclass(frozen=True)
class Entry:
    """What was done: by whom (with which role, by which way in), to what, and what it changed. `id` counts up."""

    at_ms: int
    who: str
    role: str
    via: str
    action: str
    target: str
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    note: str = ""
    request_id: str = ""
    id: int = 0


@dataclass(frozen=True)
class Wanted:
    """Which entries: empty or None means all. `action` and `target` may end with `*`; `until_ms` itself is excluded."""

    who: str = ""
    action: str = ""
    target: str = ""
    from_ms: int | None = None
    until_ms: int | None = None


def page(session: Session, wanted: Wanted, limit: int, before_id: int | None = None) -> list[Entry]:
    """The newest entries first; `before_id`: those older than this one."""
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(limit)
    conditions = [
        *([AuditRow.who == wanted.who] if wanted.who else []),
        *_like(AuditRow.action, wanted.action),
        *_like(AuditRow.target, wanted.target),
        *([AuditRow.at_ms >= wanted.from_ms] if wanted.from_ms is not None else []),
        *([AuditRow.at_ms < wanted.until_ms] if wanted.until_ms is not None else []),
        *([AuditRow.id < before_id] if before_id is not None else []),
    ]
    return [_entry(row) for row in session.scalars(query.where(*conditions))]


def _like(column: InstrumentedAttribute[str], text: str) -> list[ColumnElement[bool]]:
    if not text:
        return []
    return [column.startswith(text[:-1], autoescape=True) if text.endswith("*") else column == text]


def _entry(row: AuditRow) -> Entry:
    return Entry(
        row.at_ms, row.who, row.role, row.via, row.action, row.target, row.before, row.after, row.note, row.request_id, row.id
    )


def add(session: Session, entry: Entry) -> int:
    """Adds one; returns its id."""
    row = AuditRow(
        at_ms=entry.at_ms, who=entry.who, role=entry.role, via=entry.via, action=entry.action, target=entry.target,
        before=None if entry.before is None else dict(entry.before), after=None if entry.after is None else dict(entry.after),
        note=entry.note, request_id=entry.request_id,
    )  # fmt: skip
    session.add(row)
    session.flush()
    return row.id
