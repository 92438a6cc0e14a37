"""Rows of people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from admin.access.permissions import OWNER
from admin.state.tables import UserRow


class NameTaken(Exception):
    """Somebody has this name already; names are never given twice, because the audit log speaks of people by their names."""


class LastOwner(Exception):
    """The change would leave nobody who can sign in as an owner."""


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

    @property
    def can_sign_in(self) -> bool:
        """Whether there is a way in: not disabled, and a password or an identity elsewhere."""
        return not self.disabled and bool(self.password_hash or self.oidc_subject)


def person_of(row: UserRow) -> Person:
    """The row as a value."""
    return Person(
        row.id, row.name, row.role, row.disabled, row.language, row.zone, row.created_at_ms, row.seen_at_ms, row.revision,
        row.oidc_subject, len(row.recovery_sha256), row.password_hash, row.totp_secret,
    )  # fmt: skip


def add(
    session: Session, user_id: str, name: str, role: str, now_ms: int, *, password_hash: str = "", oidc_subject: str | None = None
) -> Person:
    """A new person. Raises NameTaken."""
    if by_name(session, name):
        raise NameTaken
    row = UserRow(
        id=user_id, name=name, role=role, password_hash=password_hash, totp_secret="", totp_step=0, recovery_sha256=[],
        oidc_subject=oidc_subject, disabled=False, language="", zone="", created_at_ms=now_ms, seen_at_ms=0, revision=1,
    )  # fmt: skip
    session.add(row)
    session.flush()
    return person_of(row)


def get(session: Session, user_id: str) -> Person | None:
    """The person with this id."""
    row = session.get(UserRow, user_id)
    return person_of(row) if row else None


def by_name(session: Session, name: str) -> Person | None:
    """The person with this name; case does not make another one."""
    row = session.scalars(select(UserRow).where(func.lower(UserRow.name) == name.lower())).first()
    return person_of(row) if row else None


def by_subject(session: Session, subject: str) -> Person | None:
    """The person whom a provider knows as this subject."""
    row = session.scalars(select(UserRow).where(UserRow.oidc_subject == subject)).first()
    return person_of(row) if row else None


def page(session: Session, after: str = "", limit: int = 100) -> list[Person]:
    """People by name, those after a name."""
    wanted = select(UserRow).where(UserRow.name > after).order_by(UserRow.name).limit(limit)
    return [person_of(row) for row in session.scalars(wanted)]


def count(session: Session) -> int:
    """How many people there are."""
    return session.scalar(select(func.count()).select_from(UserRow)) or 0


def owners(session: Session) -> list[Person]:
    """The owners who can sign in; the rows stay locked to the end of the transaction."""
    enabled = UserRow.disabled.is_(False)
    has_way_in = or_(UserRow.password_hash != "", UserRow.oidc_subject.is_not(None))
    wanted = select(UserRow).where(UserRow.role == OWNER, enabled, has_way_in).with_for_update()
    return [person_of(row) for row in session.scalars(wanted)]


def change(session: Session, user_id: str, *, role: str | None = None, disabled: bool | None = None) -> Person:
    """Another role, or in or out. Raises LastOwner."""
    row = session.get_one(UserRow, user_id)
    others = [owner for owner in owners(session) if owner.id != user_id]
    was_owner = row.role == OWNER and person_of(row).can_sign_in
    row.role = row.role if role is None else role
    row.disabled = row.disabled if disabled is None else disabled
    row.revision += 1
    if was_owner and not others and (row.role != OWNER or row.disabled):
        raise LastOwner
    session.flush()
    return person_of(row)


def set_password(session: Session, user_id: str, password_hash: str) -> None:
    """A new password."""
    row = session.get_one(UserRow, user_id)
    row.password_hash = password_hash
    row.revision += 1


def set_subject(session: Session, user_id: str, subject: str) -> None:
    """Whom a provider means by this subject."""
    session.get_one(UserRow, user_id).oidc_subject = subject


def set_totp(session: Session, user_id: str, secret: str, recovery_sha256: Sequence[str]) -> None:
    """A second factor; an empty secret takes it away."""
    row = session.get_one(UserRow, user_id)
    row.totp_secret, row.recovery_sha256, row.totp_step = secret, list(recovery_sha256), 0
    row.revision += 1


def set_recovery(session: Session, user_id: str, recovery_sha256: Sequence[str]) -> None:
    """New recovery codes instead of those before."""
    session.get_one(UserRow, user_id).recovery_sha256 = list(recovery_sha256)


def use_step(session: Session, user_id: str, step: int) -> bool:
    """Uses the code of a half minute; False when it, or a later one, was used."""
    row = session.get_one(UserRow, user_id, with_for_update=True)
    if step <= row.totp_step:
        return False
    row.totp_step = step
    return True


def use_recovery(session: Session, user_id: str, code_sha256: str) -> bool:
    """Uses up a recovery code; False when it is none."""
    row = session.get_one(UserRow, user_id, with_for_update=True)
    if code_sha256 not in row.recovery_sha256:
        return False
    row.recovery_sha256 = [left for left in row.recovery_sha256 if left != code_sha256]
    return True


def set_preferences(session: Session, user_id: str, *, language: str, zone: str) -> None:
    """How the person reads the console."""
    row = session.get_one(UserRow, user_id)
    row.language, row.zone = language, zone
