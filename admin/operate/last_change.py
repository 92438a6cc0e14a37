"""The last thing that was done to a queue, and how it is taken back: once, until the next change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from admin.limits import FROM_CONFIG, NAMES, Value
from admin.queue_view import QueueView
from admin.state.db import Database, StateUnavailable
from admin.state.tables import AuditRow
from admin.steps import Action

# Only these change what is in force and stays; a batch or an ended visit cannot be taken back.
_STEPS = (
    "limits", "open", "resume", "pause", "drain", "close", "maintenance", "message", "reset", "start",
    "pause_alone", "open_alone",
)  # fmt: skip
_ACTIONS = tuple(f"queue.{name}" for name in _STEPS)
_BACK_TO: Mapping[str, Action] = {
    "open": "open", "paused": "pause", "draining": "drain", "closed": "close", "maintenance": "maintenance",
}  # fmt: skip
# Opening from one of these cannot be taken back.
_ONE_WAY = ("recovering", "not_open", "prequeue", "missing")


@dataclass(frozen=True)
class Change:
    """An entry of the audit log about a queue."""

    id: int
    at_ms: int
    who: str
    action: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True)
class Undo:
    """How a change is taken back: by limits, by a step, or by the message of before."""

    changes: Mapping[str, Value] | None = None
    step: Action | None = None
    text: str = ""


def undo_of(change: Change) -> Undo | None:
    """How, or None when it cannot be."""
    before = change.before
    if change.action == "queue.limits":
        live = before.get("live", ())
        changes: dict[str, Value] = {
            name: before[name] if name in live else FROM_CONFIG  # type: ignore[misc]
            for name in NAMES if name in before
        }  # fmt: skip
        return Undo(changes) if changes and dict(before) != dict(change.after) else None
    if change.action == "queue.message":
        return Undo(step="message", text=str(before.get("message", "")))
    step = _BACK_TO.get(str(before.get("mode", "")))
    if change.action in ("queue.reset", "queue.start") or step is None or before.get("status") in _ONE_WAY:
        return None
    return Undo(step=step) if before.get("mode") != change.after.get("mode") else None


def latest(session: Session, queues: Sequence[str]) -> Change | None:
    """The last change of one of these queues (those of a group change together)."""
    targets = [f"queue:{queue}" for queue in queues]
    found = session.scalars(
        select(AuditRow).where(AuditRow.target.in_(targets), AuditRow.action.in_(_ACTIONS)).order_by(AuditRow.id.desc()).limit(1)
    ).first()
    return None if found is None else _change(found)


def _change(row: AuditRow) -> Change:
    return Change(row.id, row.at_ms, row.who, row.action, row.before or {}, row.after or {})


def members(view: QueueView) -> tuple[str, ...]:
    """The queues that a step on this one concerns."""
    return view.members or (view.id,)


async def last_change(db: Database, view: QueueView) -> Change | None:
    """The last change of a queue; None also while the database is away."""
    try:
        return await db.read(lambda session: latest(session, members(view)))
    except StateUnavailable:
        return None


async def who_set(db: Database, view: QueueView, name: str, value: int | None) -> Change | None:
    """The change that put this value in force, if the last one of the queue's limits did."""
    found = await last_change(db, view)
    return found if found and found.action == "queue.limits" and name in found.after and found.after[name] == value else None
