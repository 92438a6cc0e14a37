"""Who may come in: the operator's password, the API's bearer token and the key that signs sessions.

On a local first run (STANCHION_LOCAL=1) what is missing is made and shown once. Anywhere else the app refuses to start without.
Passwords are kept as argon2id (RFC 9106); the API token is random enough that its SHA-256 is.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError

from admin import secret_files
from admin.access import passwords
from admin.access.sessions import BREAK_GLASS
from admin.hashes import sha256
from admin.secret_files import SecretFileError
from admin.settings import Settings

HASH_FILE, TOKEN_FILE, SECRET_FILE = "password-hash", "api-token-sha256", "session-secret"


class NoCredentials(Exception):
    """The app has no way to know its operators. The text says what to set and how."""


@dataclass(frozen=True)
class Credentials:
    """What sign-in is checked against."""

    password_hash: str = field(repr=False)
    api_token_sha256: str = field(repr=False)
    session_secret: str = field(repr=False)

    def is_password(self, user: str, password: str) -> bool:
        """Whether this is the owner by setting. Costs tens of milliseconds on purpose."""
        return passwords.matches(self.password_hash, password) and hmac.compare_digest(user.encode(), BREAK_GLASS.encode())

    def is_api_token(self, token: str) -> bool:
        """Whether this is the bearer token, compared in constant time."""
        return hmac.compare_digest(sha256(token), self.api_token_sha256)

    @property
    def fingerprint(self) -> str:
        """Changes with the password; sessions carry it, so a new password ends the old sessions."""
        return hmac.new(self.session_secret.encode(), self.password_hash.encode(), hashlib.sha256).hexdigest()[:16]


def load(settings: Settings, announce: Callable[[str], None]) -> Credentials:
    """The credentials of this deployment; `announce` shows a line to whoever started a local first run.

    Raises NoCredentials when they are missing or cannot be used.
    """
    try:
        return Credentials(
            password_hash=_checked_hash(_password_hash(settings, announce)),
            api_token_sha256=_token_hash(settings, announce),
            session_secret=_session_secret(settings.admin_dir / SECRET_FILE),
        )
    except SecretFileError as error:
        raise NoCredentials(str(error)) from error


def _checked_hash(password_hash: str) -> str:
    try:
        PasswordHasher().check_needs_rehash(password_hash)
    except InvalidHashError:
        raise NoCredentials(
            "the password hash is not an argon2 hash. Make one with: python -m admin hash-password"
            " (in a shell or an env file keep it in single quotes, it contains $)"
        ) from None
    return password_hash


def _password_hash(settings: Settings, announce: Callable[[str], None]) -> str:
    path = settings.admin_dir / HASH_FILE
    known = settings.password_hash or secret_files.read(path)
    if known:
        return known
    if not settings.local:
        raise NoCredentials(
            "nobody could sign in: set STANCHION_ADMIN_PASSWORD_HASH, or put the hash into"
            f" {path} (mode 600). Make one with: python -m admin hash-password"
        )
    password = secrets.token_urlsafe(15)
    made = passwords.hash_password(password)
    held = secret_files.create(path, made)
    if held == made:
        announce(f"Console sign-in, shown this once: user {BREAK_GLASS}, password {password}")
    return held


def _token_hash(settings: Settings, announce: Callable[[str], None]) -> str:
    if settings.api_token:
        return sha256(settings.api_token)
    path = settings.admin_dir / TOKEN_FILE
    known = secret_files.read(path) if settings.local else None
    if known:
        return known
    if not settings.local:
        raise NoCredentials(
            "the API has no token: set STANCHION_ADMIN_TOKEN to 16 random characters or more, for instance from:"
            " python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    token = secrets.token_urlsafe(32)
    held = secret_files.create(path, sha256(token))
    if held == sha256(token):
        announce(f"API token, shown this once (STANCHION_ADMIN_TOKEN sets your own): {token}")
    return held


def _session_secret(path: Path) -> str:
    return secret_files.read(path) or secret_files.create(path, secrets.token_urlsafe(32))
