"""Cookies as they will be after a while, signed as ours: so that no test has to wait for it."""

from __future__ import annotations

from edge.core.errors import TokenError
from edge.core.keyring import Keyring


def older(cookies: str, signing_keys: str, seconds: int) -> str:
    """The same Cookie header, with the last sign of life of a place, and the next renewal of a pass, so much earlier."""
    ring = Keyring.parse(signing_keys)
    return "; ".join(_older(pair, ring, seconds) for pair in cookies.split("; "))


def _older(pair: str, ring: Keyring, seconds: int) -> str:
    name, _, value = pair.partition("=")
    try:
        kind, claims = ring.verify(value)
    except TokenError:
        return pair  # not ours
    for claim in ("t", "r"):
        if claim in claims:
            claims = claims | {claim: claims[claim] - seconds}
    return f"{name}={ring.sign(kind, claims)}"
