"""Passwords, kept as argon2id (RFC 9106) with the library's parameters: 64 MiB and some tens of milliseconds each."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from admin.words import _

MIN_CHARACTERS = 12
MAX_CHARACTERS = 1_000
# Of no password that anybody knows: whoever has no hash is checked against this, which takes as long.
_NOBODY = "$argon2id$v=19$m=65536,t=3,p=4$ptZPpkMDX58/YMF87uk5/A$OGJY9NVD62c5E6rAVuGn+19IXCY83ENcjFCHO/EB4wI"


def hash_password(password: str) -> str:
    """The hash to keep. Raises ValueError when the password is too short or too long."""
    if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS:
        raise ValueError(_("a password has %(least)s to %(most)s characters") % {"least": MIN_CHARACTERS, "most": MAX_CHARACTERS})
    return PasswordHasher().hash(password)


def matches(password_hash: str, password: str) -> bool:
    """Whether the password is the one of the hash; an empty hash matches nothing and takes as long."""
    try:
        fits: bool = PasswordHasher().verify(password_hash or _NOBODY, password[:MAX_CHARACTERS])
    except (VerificationError, InvalidHashError):
        return False
    return fits and bool(password_hash)
