"""Rows of API tokens: only their SHA-256 is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from admin.state.tables import TokenRow

# The moment of the last use is written at most this often.
USED_TOUCH_MS = 60_000


class TokenNameTaken(Exception):
    """A good token has this name."""


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


def add(
    session: Session, token_id: str, sha256: str, name: str, scopes: Sequence[str], by: str, now_ms: int,
    expires_at_ms: int | None,
) -> Token:  # fmt: skip
    """A new one. Raises TokenNameTaken while a good one has this name."""
    if any(token.name == name and token.is_good(now_ms) for token in page(session)):
        raise TokenNameTaken
    row = TokenRow(
        id=token_id, sha256=sha256, name=name, scopes=list(scopes), created_by=by, created_at_ms=now_ms,
        expires_at_ms=expires_at_ms, used_at_ms=None, ended_at_ms=None,
    )  # fmt: skip
    session.add(row)
    session.flush()
    return token_of(row)


def page(session: Session) -> list[Token]:
    """All of them, the newest first."""
    return [token_of(row) for row in session.scalars(select(TokenRow).order_by(TokenRow.created_at_ms.desc(), TokenRow.id))]


def get(session: Session, token_id: str) -> Token | None:
    """The token with this id."""
    row = session.get(TokenRow, token_id)
    return token_of(row) if row else None


def end(session: Session, token_id: str, now_ms: int) -> Token | None:
    """Ends one; one that was ended stays as it was. None when there is none."""
    row = session.get(TokenRow, token_id)
    if row is None:
        return None
    row.ended_at_ms = row.ended_at_ms or now_ms
    return token_of(row)


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
