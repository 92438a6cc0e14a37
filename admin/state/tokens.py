"""Rows of API tokens: only their SHA-256 is kept."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from admin.state.tables import TokenRow

# The moment of the last use is written at most this often.
USED_TOUCH_MS = 60_000


@dataclass(frozen=True)
class Token:
    """A token without its secret. `expires_at_ms` None: good until it is ended."""

    id: str
    name: str
    scopes: tuple[str, ...]
    created_by: str
    created_at_ms: int
    expires_at_ms: int | None
    used_at_ms: int | None
    ended_at_ms: int | None

    def is_good(self, now_ms: int) -> bool:
        """Whether it opens anything now."""
        return self.ended_at_ms is None and (self.expires_at_ms is None or now_ms < self.expires_at_ms)


def find(session: Session, sha256: str) -> Token | None:
    """The token with this hash, good or not."""
    row = session.scalars(select(TokenRow).where(TokenRow.sha256 == sha256)).first()
    return token_of(row) if row else None


def used(session: Session, token_id: str, now_ms: int) -> None:
    """Notes that it was used."""
    session.execute(update(TokenRow).where(TokenRow.id == token_id).values(used_at_ms=now_ms))


def token_of(row: TokenRow) -> Token:
    """The row as a value."""
    return Token(
        row.id, row.name, tuple(row.scopes), row.created_by, row.created_at_ms, row.expires_at_ms, row.used_at_ms, row.ended_at_ms
    )
