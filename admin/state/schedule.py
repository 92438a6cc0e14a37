"""Rows of the schedule. A step is carried out by whoever claims it; a claim that nobody finished runs out and is free again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from admin.state.tables import ScheduleStepRow as Row

# `outcome` of a step that somebody works on: this and until when (Unix ms) it is theirs.
_CLAIMED = "claimed "
KEPT_MS = 90 * 24 * 3600 * 1000


@dataclass(frozen=True)
class Step:
    """Live limits (`changes`) or an action at a moment. `done_at_ms` None: still to come; then `outcome` is empty."""

    id: str
    queue: str
    at_ms: int
    changes: Mapping[str, Any] | None
    action: str
    by: str
    created_at_ms: int
    done_at_ms: int | None = None
    outcome: str = ""


def _step(row: Row) -> Step:
    outcome = "" if row.done_at_ms is None else row.outcome
    return Step(row.id, row.queue, row.at_ms, row.changes, row.action, row.by, row.created_at_ms, row.done_at_ms, outcome)


def add(session: Session, step: Step) -> None:
    """Adds one that is to come."""
    changes = None if step.changes is None else dict(step.changes)
    session.add(Row(id=step.id, queue=step.queue, at_ms=step.at_ms, changes=changes, action=step.action, by=step.by,
                    created_at_ms=step.created_at_ms, done_at_ms=None, outcome=""))  # fmt: skip
    session.flush()


def find(session: Session, step_id: str) -> Step | None:
    """One step."""
    row = session.get(Row, step_id)
    return None if row is None else _step(row)


def to_come(session: Session, queues: Sequence[str] | None = None) -> list[Step]:
    """Steps that are not done, of these queues or of all, in the order of their time."""
    wanted = select(Row).where(Row.done_at_ms.is_(None)).order_by(Row.at_ms, Row.created_at_ms, Row.id)
    if queues is not None:
        wanted = wanted.where(Row.queue.in_(queues))
    return [_step(row) for row in session.scalars(wanted)]


def done(session: Session, queues: Sequence[str] | None, limit: int) -> list[Step]:
    """Steps that are over, the latest first."""
    wanted = select(Row).where(Row.done_at_ms.is_not(None)).order_by(Row.at_ms.desc(), Row.id).limit(limit)
    if queues is not None:
        wanted = wanted.where(Row.queue.in_(queues))
    return [_step(row) for row in session.scalars(wanted)]


def remove(session: Session, step_id: str) -> bool:
    """Takes back a step that nobody has begun; False when it is too late."""
    gone = session.execute(delete(Row).where(Row.id == step_id, Row.done_at_ms.is_(None), Row.outcome == ""))
    return bool(gone.rowcount)  # type: ignore[attr-defined]


def claim(session: Session, now_ms: int, for_ms: int) -> Step | None:
    """The earliest step that is due and nobody's; it is the caller's for `for_ms`. None when there is none.

    While a step of a queue is somebody's, later ones of that queue wait for it: they are carried out in their order.
    """
    due = select(Row).where(Row.done_at_ms.is_(None), Row.at_ms <= now_ms).order_by(Row.at_ms, Row.created_at_ms, Row.id)
    held: set[str] = set()
    for row in session.scalars(due.limit(200)):
        until = int(row.outcome.removeprefix(_CLAIMED)) if row.outcome.startswith(_CLAIMED) else 0
        if row.queue in held:
            continue
        if until > now_ms:
            held.add(row.queue)
            continue
        taken = session.execute(
            update(Row).where(Row.id == row.id, Row.done_at_ms.is_(None), Row.outcome == row.outcome)
            .values(outcome=f"{_CLAIMED}{now_ms + for_ms}").execution_options(synchronize_session=False)
        )  # fmt: skip
        if taken.rowcount:  # type: ignore[attr-defined]
            return _step(row)
        held.add(row.queue)
    return None


def finish(session: Session, step_id: str, at_ms: int, outcome: str) -> None:
    """Says what became of a step."""
    session.execute(update(Row).where(Row.id == step_id).values(done_at_ms=at_ms, outcome=outcome))


def release(session: Session, step_id: str) -> None:
    """Gives a claim back: another try is made."""
    session.execute(update(Row).where(Row.id == step_id, Row.done_at_ms.is_(None)).values(outcome=""))


def forget(session: Session, now_ms: int) -> None:
    """Deletes steps that were over long ago."""
    session.execute(delete(Row).where(Row.done_at_ms.is_not(None), Row.at_ms < now_ms - KEPT_MS))
