"""What settings say of who may come in: an owner's password and a token of the API (both optional), and the key of cookies.

The owner by setting is the way in when nobody else has one. On a local first run (STANCHION_LOCAL=1) a token is made and shown
once, and the first owner is made by a link; anywhere else the app refuses to start when nobody could sign in.
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
from admin.hashes import sha256
from admin.secret_files import SecretFileError
from admin.settings import Settings

HASH_FILE, TOKEN_FILE, SECRET_FILE = "password-hash", "api-token-sha256", "session-secret"


class NoCredentials(Exception):
    """The app has no way to know its operators. The text says what to set and how."""


@dataclass(frozen=True)
class Credentials:
    """Hashes and the key; an empty one opens nothing."""

    password_hash: str = field(repr=False)
    api_token_sha256: str = field(repr=False)
    session_secret: str = field(repr=False)

    def is_api_token(self, token: str) -> bool:
        """Whether this is the bearer token, compared in constant time."""
        return bool(self.api_token_sha256) and hmac.compare_digest(sha256(token), self.api_token_sha256)

    @property
    def fingerprint(self) -> str:
        """Changes with the password; sessions carry it, so a new password ends the old ones. Empty without a password."""
        if not self.password_hash:
            return ""
        return hmac.new(self.session_secret.encode(), self.password_hash.encode(), hashlib.sha256).hexdigest()[:16]


def load(settings: Settings, announce: Callable[[str], None], *, has_people: bool = False) -> Credentials:
    """The credentials of this deployment; `announce` shows a line to whoever started a local first run.

    `has_people`: the database knows somebody, so a password as a setting is not needed. Raises NoCredentials.
    """
    try:
        password_hash = settings.password_hash or secret_files.read(settings.admin_dir / HASH_FILE) or ""
        if not (password_hash or has_people or settings.local):
            raise NoCredentials(
                "nobody could sign in: make an owner with `stanchion admin create-owner`, or set STANCHION_ADMIN_PASSWORD_HASH"
                f" or put the hash into {settings.admin_dir / HASH_FILE} (mode 600). Make one with: python -m admin hash-password"
            )
        return Credentials(
            password_hash=_checked_hash(password_hash) if password_hash else "",
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


def _token_hash(settings: Settings, announce: Callable[[str], None]) -> str:
    if settings.api_token:
        return sha256(settings.api_token)
    if not settings.local:
        # Tokens are made in the console then.
        return ""
    path = settings.admin_dir / TOKEN_FILE
    known = secret_files.read(path)
    if known:
        return known
    token = secrets.token_urlsafe(32)
    held = secret_files.create(path, sha256(token))
    if held == sha256(token):
        announce(f"API token, shown this once (STANCHION_ADMIN_TOKEN sets your own): {token}")
    return held


def _session_secret(path: Path) -> str:
    return secret_files.read(path) or secret_files.create(path, secrets.token_urlsafe(32))
