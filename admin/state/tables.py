"""The tables of the admin's own database. Moments are Unix ms (`_ms`), ids are text, random secrets are kept as hashes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, Index, Integer, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# A primary key that counts up: SQLite does that for INTEGER only.
COUNTER = BigInteger().with_variant(Integer(), "sqlite")


class Table(DeclarativeBase):
    """The base of all tables."""

    type_annotation_map = {str: Text, int: BigInteger, bool: Boolean, dict[str, Any]: JSON, list[str]: JSON}  # noqa: RUF012


class UserRow(Table):
    """A person. `password_hash` empty: no password (an invitation not used yet, or sign-in elsewhere only)."""

    __tablename__ = "users"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    password_hash: Mapped[str] = mapped_column(default="")
    totp_secret: Mapped[str] = mapped_column(default="")
    # The last half minute whose code was used: each code is good once.
    totp_step: Mapped[int] = mapped_column(default=0)
    recovery_sha256: Mapped[list[str]] = mapped_column(default=list)
    # Issuer and subject of an OIDC provider, joined by a blank.
    oidc_subject: Mapped[str | None] = mapped_column(unique=True)
    disabled: Mapped[bool] = mapped_column(default=False)
    language: Mapped[str] = mapped_column(default="")
    zone: Mapped[str] = mapped_column(default="")
    created_at_ms: Mapped[int]
    seen_at_ms: Mapped[int] = mapped_column(default=0)
    # Counts changes, for If-Match.
    revision: Mapped[int] = mapped_column(default=1)


class SessionRow(Table):
    """A signed-in browser. `user_id` empty: the owner whose password is a setting; `proof` is its fingerprint."""

    __tablename__ = "sessions"
    id_sha256: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(index=True)
    proof: Mapped[str] = mapped_column(default="")
    created_at_ms: Mapped[int]
    seen_at_ms: Mapped[int]
    address: Mapped[str] = mapped_column(default="")
    browser: Mapped[str] = mapped_column(default="")


class LinkRow(Table):
    """A link that is good once: for the first owner, or for a person to choose a password."""

    __tablename__ = "links"
    code_sha256: Mapped[str] = mapped_column(primary_key=True)
    purpose: Mapped[str]
    user_id: Mapped[str] = mapped_column(default="", index=True)
    expires_at_ms: Mapped[int]


class TokenRow(Table):
    """A token of the API. `scopes`: names of permissions; `expires_at_ms` None: until it is ended."""

    __tablename__ = "api_tokens"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    sha256: Mapped[str] = mapped_column(unique=True)
    scopes: Mapped[list[str]]
    created_by: Mapped[str]
    created_at_ms: Mapped[int]
    expires_at_ms: Mapped[int | None]
    used_at_ms: Mapped[int | None]
    ended_at_ms: Mapped[int | None]


class AuditRow(Table):
    """What was done. Triggers refuse every change and every removal."""

    __tablename__ = "audit"
    id: Mapped[int] = mapped_column(COUNTER, primary_key=True, autoincrement=True)
    at_ms: Mapped[int] = mapped_column(index=True)
    who: Mapped[str]
    role: Mapped[str]
    via: Mapped[str]
    action: Mapped[str]
    target: Mapped[str]
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    note: Mapped[str] = mapped_column(default="")
    request_id: Mapped[str] = mapped_column(default="")
    __table_args__ = (
        Index("audit_who", "who", "id"),
        Index("audit_action", "action", "id"),
        Index("audit_target", "target", "id"),
        {"sqlite_autoincrement": True},
    )


class ConfigVersionRow(Table):
    """A configuration as it was published: `text` byte for byte."""

    __tablename__ = "config_versions"
    id: Mapped[int] = mapped_column(COUNTER, primary_key=True, autoincrement=True)
    at_ms: Mapped[int]
    by: Mapped[str]
    note: Mapped[str] = mapped_column(default="")
    text: Mapped[str]
    sha256: Mapped[str] = mapped_column(index=True)
    __table_args__ = ({"sqlite_autoincrement": True},)


class DraftRow(Table):
    """A brand's pages while someone works on them. `revision` counts the saves."""

    __tablename__ = "drafts"
    id: Mapped[str] = mapped_column(primary_key=True)
    brand: Mapped[str] = mapped_column(index=True)
    title: Mapped[str] = mapped_column(default="")
    base_version: Mapped[str] = mapped_column(default="")
    content: Mapped[dict[str, Any]]
    revision: Mapped[int] = mapped_column(default=1)
    by: Mapped[str]
    at_ms: Mapped[int]


class BrandVersionRow(Table):
    """The source of a brand that became version `version` of its pages in the store."""

    __tablename__ = "brand_versions"
    id: Mapped[int] = mapped_column(COUNTER, primary_key=True, autoincrement=True)
    brand: Mapped[str]
    version: Mapped[int]
    at_ms: Mapped[int]
    by: Mapped[str]
    note: Mapped[str] = mapped_column(default="")
    content: Mapped[dict[str, Any]]
    __table_args__ = (Index("ix_brand_versions_brand", "brand", "id"), {"sqlite_autoincrement": True})


class ScheduleStepRow(Table):
    """Something that the console will do to a queue at a moment: live limits (`changes`) or an action. `outcome` when done."""

    __tablename__ = "schedule_steps"
    id: Mapped[str] = mapped_column(primary_key=True)
    queue: Mapped[str] = mapped_column(index=True)
    at_ms: Mapped[int] = mapped_column(index=True)
    changes: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    action: Mapped[str] = mapped_column(default="")
    by: Mapped[str]
    created_at_ms: Mapped[int]
    done_at_ms: Mapped[int | None]
    outcome: Mapped[str] = mapped_column(default="")


class SampleRow(Table):
    """The figures of one queue in one minute (`minute`: Unix time / 60)."""

    __tablename__ = "samples"
    queue: Mapped[str] = mapped_column(primary_key=True)
    minute: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, index=True)
    figures: Mapped[dict[str, Any]]


class RehearsalRow(Table):
    """A simulated sale of a queue's settings: what was asked (`sale`), how it stands and its report."""

    __tablename__ = "rehearsals"
    id: Mapped[str] = mapped_column(primary_key=True)
    queue: Mapped[str] = mapped_column(index=True)
    by: Mapped[str]
    at_ms: Mapped[int]
    status: Mapped[str]
    sale: Mapped[str] = mapped_column(default="")
    report: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
