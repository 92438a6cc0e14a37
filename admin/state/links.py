"""Rows of links that are good once: only the hash of their code is kept."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from admin.state.tables import LinkRow

FIRST, PASSWORD = "first", "password"


def make(session: Session, code_sha256: str, purpose: str, expires_at_ms: int, user_id: str = "") -> None:
    """A new link; those before it for the same purpose and person are void."""
    drop(session, purpose, user_id)
    session.add(LinkRow(code_sha256=code_sha256, purpose=purpose, user_id=user_id, expires_at_ms=expires_at_ms))


def find(session: Session, code_sha256: str, purpose: str, now_ms: int) -> str | None:
    """Whose link it is (empty for the first owner's), or None when it is void; it stays good."""
    wanted = LinkRow.code_sha256 == code_sha256, LinkRow.purpose == purpose, LinkRow.expires_at_ms > now_ms
    row = session.scalars(select(LinkRow).where(*wanted)).first()
    return row.user_id if row else None


def take(session: Session, code_sha256: str, purpose: str, now_ms: int) -> str | None:
    """The same, and it is good no more."""
    found = find(session, code_sha256, purpose, now_ms)
    gone = session.execute(delete(LinkRow).where(LinkRow.code_sha256 == code_sha256))
    return found if gone.rowcount else None  # type: ignore[attr-defined]


def drop(session: Session, purpose: str, user_id: str = "") -> None:
    """Makes the links for this purpose and person void."""
    session.execute(delete(LinkRow).where(LinkRow.purpose == purpose, LinkRow.user_id == user_id))
