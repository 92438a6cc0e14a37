"""Rows of people."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from admin.state.tables import UserRow


@dataclass(frozen=True)
class Person:
    """One who may sign in. Secrets are kept out of `repr`."""

    id: str
    name: str
    role: str
    disabled: bool
    language: str
    zone: str
    created_at_ms: int
    seen_at_ms: int
    revision: int
    oidc_subject: str | None
    recovery_left: int
    password_hash: str = field(repr=False)
    totp_secret: str = field(repr=False)

    @property
    def has_totp(self) -> bool:
        """Whether a second factor is asked for."""
        return bool(self.totp_secret)


def person_of(row: UserRow) -> Person:
    """The row as a value."""
    return Person(
        row.id, row.name, row.role, row.disabled, row.language, row.zone, row.created_at_ms, row.seen_at_ms, row.revision,
        row.oidc_subject, len(row.recovery_sha256), row.password_hash, row.totp_secret,
    )  # fmt: skip


def by_name(session: Session, name: str) -> Person | None:
    """The person with this name."""
    row = session.scalars(select(UserRow).where(UserRow.name == name)).first()
    return person_of(row) if row else None


def count(session: Session) -> int:
    """How many people there are."""
    return session.scalar(select(func.count()).select_from(UserRow)) or 0
