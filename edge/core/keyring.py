"""The keys that sign our tokens: JWTs with HS256, a key id in the header, one derived key for each kind.

A token of one kind never verifies as another: the header names the kind, and each kind has a key of its own, derived from the
master key. Keys stand newest first: the first signs, all verify, so that a rotation loses nobody's place.
"""

from __future__ import annotations

import binascii
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from edge.core import quick_json
from edge.core.errors import ConfigError, TokenError

Kind = Literal["place", "pass", "candidate", "origin", "invite"]
# The header `typ` of each kind; those of cookies are short, for every request carries them.
TYPES: Mapping[Kind, str] = {"place": "l", "pass": "p", "candidate": "c", "origin": "stanchion-pass+jwt", "invite": "i"}
_KINDS: Mapping[str, Kind] = {typ: kind for kind, typ in TYPES.items()}
TOKEN_MAX_BYTES = 512  # what we read; what we write stays under 300
MASTER_KEY_MIN_BYTES = 32  # RFC 7518, 3.2: at least the size of the hash
KEY_ID_MAX = 8
# Made once: the module's own functions for base64 and JSON are layers, and a sandbox runs all of them for one request.
_TO_URL, _FROM_URL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")
# Every header of ours is of this form: whatever else stands there was not written by us.
_HEAD_BEGIN, _HEAD_BETWEEN, _HEAD_END = '{"alg":"HS256","kid":"', '","typ":"', '"}'


@dataclass(frozen=True)
class Keyring:
    """Master keys by key id, from which a key for each kind is derived; `newest` signs."""

    newest: str
    masters: dict[str, bytes] = field(repr=False)
    _keys: dict[tuple[Kind, str], bytes] = field(default_factory=dict, repr=False, compare=False)
    # Header segments that a good token of ours had: they need not be read again.
    _heads: dict[str, tuple[Kind, bytes]] = field(default_factory=dict, repr=False, compare=False)

    @staticmethod
    def parse(text: str) -> Keyring:
        """Reads `kid:base64url` pairs, newest first. Raises ConfigError, which never shows a key."""
        masters: dict[str, bytes] = {}
        for pair in text.split():
            kid, _, secret = pair.partition(":")
            if not (kid.isascii() and kid.isalnum()) or len(kid) > KEY_ID_MAX or kid in masters:
                raise ConfigError("signing-keys", f"a key id is 1 to {KEY_ID_MAX} letters or digits, each once")
            masters[kid] = _master_key(kid, secret)
        if not masters:
            raise ConfigError("signing-keys", "there is no key; give at least one kid:base64url pair")
        return Keyring(next(iter(masters)), masters)

    @property
    def draw_master(self) -> bytes:
        """The key of the draw's seed: the oldest one, so that a new key in front of it moves no commitment."""
        return self.masters[next(reversed(self.masters))]

    @property
    def visitor_master(self) -> bytes:
        """The key by which keys of visitors become ids, of the oldest one too: a new key in front of it moves nobody."""
        return hmac.digest(self.draw_master, b"stanchion visitor", "sha256")

    def key(self, kind: Kind, kid: str) -> bytes:
        """The key of a kind. Raises KeyError for a key id that is not ours."""
        known = self._keys.get((kind, kid))
        if known is None:
            digest = hmac.digest(self.masters[kid], f"stanchion {kind}".encode(), "sha256")
            # In letters, all 256 bits: PyJWT tries to read a key as JSON, and takes one with a NUL near its start for UTF-16.
            known = self._keys[kind, kid] = b"key:" + binascii.b2a_base64(digest, newline=False).translate(_TO_URL)
        return known

    def sign(self, kind: Kind, claims: Mapping[str, Any]) -> str:
        """A JWT of this kind, signed with the newest key."""
        signed = f"{self._head(kind, self.newest)}.{base64url(quick_json.write(claims).encode())}"
        return f"{signed}.{_signature(self.key(kind, self.newest), signed)}"

    def verify(self, token: str) -> tuple[Kind, dict[str, Any]]:
        """Kind and claims of a token. Raises TokenError; expiry is the caller's to compare."""
        if len(token) > TOKEN_MAX_BYTES or not token.isascii():
            raise TokenError("too long or not ASCII")
        signed, _, signature = token.rpartition(".")
        head, _, payload = signed.partition(".")
        try:
            kind, key = self._heads.get(head) or self._read_head(head)
            if not hmac.compare_digest(_signature(key, signed), signature):
                raise TokenError("the signature is not ours")
            claims = quick_json.read(_from_base64url(payload))
        except (ValueError, RecursionError) as error:
            raise TokenError(str(error) or type(error).__name__) from error
        if not isinstance(claims, dict):
            raise TokenError("the claims are no object")
        self._heads[head] = (kind, key)
        return kind, claims

    def _head(self, kind: Kind, kid: str) -> str:
        """The header of our tokens, the same letters each time."""
        return base64url(f"{_HEAD_BEGIN}{kid}{_HEAD_BETWEEN}{TYPES[kind]}{_HEAD_END}".encode())

    def _read_head(self, head: str) -> tuple[Kind, bytes]:
        """Kind and key that a header names. What it says is believed only after the signature was verified with that key."""
        begin, _, rest = _from_base64url(head).partition(_HEAD_BEGIN)
        kid, _, typ = rest.partition(_HEAD_BETWEEN)
        kind = _KINDS.get(typ.removesuffix(_HEAD_END))
        if begin or kind is None or not typ.endswith(_HEAD_END) or kid not in self.masters:
            raise TokenError("of a kind or a key that is not ours, or a header that we do not write")
        return kind, self.key(kind, kid)


def base64url(data: bytes) -> str:
    """Base64 for addresses and tokens, without padding (RFC 4648, section 5)."""
    return binascii.b2a_base64(data, newline=False).rstrip(b"=").translate(_TO_URL).decode()


def _from_base64url(text: str) -> str:
    """Raises ValueError."""
    return binascii.a2b_base64(text.encode("ascii").translate(_FROM_URL) + b"=" * (-len(text) % 4)).decode()


def _signature(key: bytes, signed: str) -> str:
    """HMAC with SHA-256, RFC 7518, section 3.2, as text."""
    return base64url(hmac.digest(key, signed.encode(), "sha256"))


def _master_key(kid: str, secret: str) -> bytes:
    try:
        padded = secret.encode("ascii").translate(_FROM_URL) + b"=" * (-len(secret) % 4)
        key = binascii.a2b_base64(padded, strict_mode=True)
    except (binascii.Error, ValueError):
        raise ConfigError("signing-keys", f"key {kid} is not base64url") from None
    if len(key) < MASTER_KEY_MIN_BYTES:
        raise ConfigError("signing-keys", f"key {kid} is shorter than {MASTER_KEY_MIN_BYTES} bytes")
    return key
