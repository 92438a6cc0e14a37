"""Rows of the audit log: added and read, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

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
