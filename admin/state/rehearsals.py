"""Rows of rehearsals: what was asked, how it stands, and the report when it is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from admin.state.tables import RehearsalRow as Row

RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"
KEPT_OF_A_QUEUE = 20


@dataclass(frozen=True)
class Rehearsal:
    """`sale`: the file of the sale. `report`: `text` and `data` of a good end, `problem` of a bad one."""

    id: str
    queue: str
    by: str
    at_ms: int
    status: str
    sale: str
    report: Mapping[str, Any] | None = None


def _rehearsal(row: Row) -> Rehearsal:
    return Rehearsal(row.id, row.queue, row.by, row.at_ms, row.status, row.sale, row.report)


def add(session: Session, one: Rehearsal) -> None:
    """Adds one that begins now; the oldest of its queue are forgotten."""
    session.add(Row(id=one.id, queue=one.queue, by=one.by, at_ms=one.at_ms, status=one.status, sale=one.sale, report=None))
    session.flush()
    kept = select(Row.id).where(Row.queue == one.queue).order_by(Row.at_ms.desc(), Row.id).limit(KEPT_OF_A_QUEUE)
    ids = list(session.scalars(kept))
    session.execute(delete(Row).where(Row.queue == one.queue, Row.id.not_in(ids)))


def finish(session: Session, rehearsal_id: str, status: str, report: Mapping[str, Any]) -> None:
    """Says how one ended, unless that was said before."""
    session.execute(update(Row).where(Row.id == rehearsal_id, Row.status == RUNNING).values(status=status, report=dict(report)))


def find(session: Session, queue: str, rehearsal_id: str) -> Rehearsal | None:
    """One of a queue."""
    row = session.scalars(select(Row).where(Row.id == rehearsal_id, Row.queue == queue)).first()
    return None if row is None else _rehearsal(row)


def of(session: Session, queue: str) -> list[Rehearsal]:
    """Those of a queue, the latest first, without their reports."""
    columns = (Row.id, Row.queue, Row.by, Row.at_ms, Row.status, Row.sale)
    found = session.execute(select(*columns).where(Row.queue == queue).order_by(Row.at_ms.desc(), Row.id))
    return [Rehearsal(*row) for row in found]


def running(session: Session, since_ms: int) -> Rehearsal | None:
    """One that runs and began after `since_ms`: older ones lost their app."""
    row = session.scalars(select(Row).where(Row.status == RUNNING, Row.at_ms > since_ms).limit(1)).first()
    return None if row is None else _rehearsal(row)


def end_lost(session: Session, since_ms: int) -> None:
    """Those whose app ended before they did."""
    report = {"problem": "the admin app ended before the rehearsal did"}
    session.execute(
        update(Row).where(Row.status == RUNNING, Row.at_ms <= since_ms).values(status=FAILED, report=report)
    )
