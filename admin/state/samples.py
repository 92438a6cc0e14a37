"""Rows of figures by queue and minute: a day's charts are drawn from them. Older than KEPT_MINUTES they are deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from admin.state.tables import SampleRow

KEPT_MINUTES = 48 * 60


def add(session: Session, minutes: Mapping[int, Mapping[str, Mapping[str, Any]]]) -> None:
    """Keeps figures by minute (Unix time / 60) and queue; of two admin apps that say something of one, the first counts."""
    rows = [
        {"queue": queue, "minute": minute, "figures": dict(values)}
        for minute, figures in minutes.items() for queue, values in figures.items()
    ]  # fmt: skip
    if rows:
        insert = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
        session.execute(insert(SampleRow).on_conflict_do_nothing(), rows)


def of(session: Session, queue: str, from_minute: int) -> Sequence[tuple[int, Mapping[str, Any]]]:
    """The minutes of a queue from `from_minute` on, oldest first."""
    found = session.execute(
        select(SampleRow.minute, SampleRow.figures).where(SampleRow.queue == queue, SampleRow.minute >= from_minute)
        .order_by(SampleRow.minute)
    )  # fmt: skip
    return [(minute, figures) for minute, figures in found]


def forget(session: Session, now_minute: int) -> None:
    """Deletes what is older than KEPT_MINUTES."""
    session.execute(delete(SampleRow).where(SampleRow.minute < now_minute - KEPT_MINUTES))
