"""The hash under which random secrets are kept: they are random enough that SHA-256 is."""

from __future__ import annotations

import hashlib


def sha256(text: str) -> str:
    """In hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
