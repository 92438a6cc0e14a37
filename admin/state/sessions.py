"""Rows of signed-in browsers."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from admin.state.tables import SessionRow, UserRow
from admin.state.users import Person, person_of

# Of one person; the one that was seen longest ago ends first.
SESSIONS_AT_MOST = 20


@dataclass(frozen=True)
class Found:
    """A session and whose it is; `person` None: of no row (the owner by setting, or one who is gone)."""

    id_sha256: str
    user_id: str
    proof: str
    person: Person | None
    created_at_ms: int
    seen_at_ms: int
    address: str
    browser: str


def add(
    session: Session, id_sha256: str, user_id: str, now_ms: int, *, address: str = "", browser: str = "", proof: str = ""
) -> None:
    """Begins one."""
    old = session.scalars(
        select(SessionRow.id_sha256).where(SessionRow.user_id == user_id).order_by(SessionRow.seen_at_ms.desc())
    ).all()[SESSIONS_AT_MOST - 1 :]
    session.execute(delete(SessionRow).where(SessionRow.id_sha256.in_(old)))
    session.add(
        SessionRow(
            id_sha256=id_sha256, user_id=user_id, proof=proof, created_at_ms=now_ms, seen_at_ms=now_ms, address=address,
            browser=browser,
        )
    )  # fmt: skip


def find(session: Session, id_sha256: str) -> Found | None:
    """The session with its person."""
    joined = select(SessionRow, UserRow).outerjoin(UserRow, UserRow.id == SessionRow.user_id)
    row = session.execute(joined.where(SessionRow.id_sha256 == id_sha256)).first()
    return _found(row[0], row[1]) if row else None


def of_user(session: Session, user_id: str) -> list[Found]:
    """The sessions of a person, the latest seen first."""
    rows = session.scalars(select(SessionRow).where(SessionRow.user_id == user_id).order_by(SessionRow.seen_at_ms.desc()))
    return [_found(row, None) for row in rows]


def touch(session: Session, id_sha256: str, user_id: str, now_ms: int) -> None:
    """Notes that it was used."""
    session.execute(update(SessionRow).where(SessionRow.id_sha256 == id_sha256).values(seen_at_ms=now_ms))
    session.execute(update(UserRow).where(UserRow.id == user_id).values(seen_at_ms=now_ms))


def end(session: Session, id_sha256: str) -> None:
    """Ends one; nothing happens when there is none."""
    session.execute(delete(SessionRow).where(SessionRow.id_sha256 == id_sha256))


def end_all(session: Session, user_id: str, *, but: str = "") -> int:
    """Ends all of a person but one; returns how many."""
    gone = session.execute(delete(SessionRow).where(SessionRow.user_id == user_id, SessionRow.id_sha256 != but))
    return int(gone.rowcount)  # type: ignore[attr-defined]


def end_before(session: Session, seen_before_ms: int) -> None:
    """Sweeps out those that idled too long."""
    session.execute(delete(SessionRow).where(SessionRow.seen_at_ms < seen_before_ms))


def _found(row: SessionRow, user: UserRow | None) -> Found:
    return Found(
        row.id_sha256, row.user_id, row.proof, person_of(user) if user else None, row.created_at_ms, row.seen_at_ms, row.address,
        row.browser,
    )  # fmt: skip
