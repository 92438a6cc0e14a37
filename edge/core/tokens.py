"""Signed tokens: JWTs with HS256, a key id in the header, one derived key for each kind, bound to scope and epoch.

The scope is the queue, or its group: a token that one queue of a group gave is good at all of them.

A token of one kind never verifies as another: the header names the kind, and each kind has a key of its own, derived from the
master key. Keys stand newest first: the first signs, all verify, so that a rotation loses nobody's place. Times in tokens are
Unix seconds (RFC 7519).
"""

from __future__ import annotations

import binascii
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from edge.core import quick_json
from edge.core.errors import ConfigError, TokenError
from edge.core.model import LINES_AT_MOST, Queue

Kind = Literal["place", "pass", "candidate", "origin", "invite"]
# The header `typ` of each kind; those of cookies are short, for every request carries them.
TYPES: Mapping[Kind, str] = {"place": "l", "pass": "p", "candidate": "c", "origin": "stanchion-pass+jwt", "invite": "i"}
_KINDS: Mapping[str, Kind] = {typ: kind for kind, typ in TYPES.items()}
TOKEN_MAX_BYTES = 512  # what we read; what we write stays under 300
MASTER_KEY_MIN_BYTES = 32  # RFC 7518, 3.2: at least the size of the hash
KEY_ID_MAX = 8
ORIGIN_PASS_S = 60
_CACHE_ENTRIES = 8192
# Made once: the module's own functions for base64 and JSON are layers, and a sandbox runs all of them for one request.
_TO_URL, _FROM_URL = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")
# Every header of ours is of this form: whatever else stands there was not written by us.
_HEAD_BEGIN, _HEAD_BETWEEN, _HEAD_END = '{"alg":"HS256","kid":"', '","typ":"', '"}'
_LINE = 10**8  # positions of one line, as the scripts count them


@dataclass(slots=True)
class Place:
    """A place in line. `touched_ms`: last sign of life that reached Redis.

    `line`: of the scope. `arrival`: the position is a number of arrival from before the opening. `number`: after the
    opening, the number of arrival that the position comes from; 0 if there was none.
    """

    scope: str
    epoch: str
    visitor: str
    position: int
    touched_ms: int
    expires_ms: int
    line: int = 0
    arrival: bool = False
    number: int = 0


@dataclass(slots=True)
class Pass:
    """Someone inside. `position` 0: taken over from a lost epoch.

    `marked`: let in while Redis was away. Never renewed; epoch and position are those of the place that it stood in for.
    """

    scope: str
    epoch: str
    visitor: str
    position: int
    renew_at_ms: int
    expires_ms: int
    marked: bool = False
    line: int = 0


@dataclass(slots=True)
class Candidate:
    """A visitor who was handed a cookie and holds no position. `line`: to be joined; `invite`: the one that leads there."""

    scope: str
    visitor: str
    expires_ms: int
    line: int = 0
    invite: str = ""


Token = Place | Pass | Candidate


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


def _seat(line: int, position: int, *, arrival: bool = False) -> int:
    """Line and position as one number, negative for a number of arrival: every request carries the cookie."""
    seat = line * _LINE + position
    return -seat if arrival else seat


def write_place(ring: Keyring, place: Place) -> str:
    """The place token as text."""
    claims: dict[str, str | int] = {"q": place.scope, "e": place.epoch, "v": place.visitor,
                                    "p": _seat(place.line, place.position, arrival=place.arrival), "t": place.touched_ms // 1000,
                                    "x": place.expires_ms // 1000}  # fmt: skip
    if place.number:
        claims["n"] = place.number
    return ring.sign("place", claims)


def write_pass(ring: Keyring, admission: Pass) -> str:
    """The admission pass as text."""
    claims = {"q": admission.scope, "e": admission.epoch, "v": admission.visitor, "p": _seat(admission.line, admission.position),
              "x": admission.expires_ms // 1000}  # fmt: skip
    # A marked one is never renewed.
    return ring.sign("pass", claims | ({"m": 1} if admission.marked else {"r": admission.renew_at_ms // 1000}))


def write_candidate(ring: Keyring, candidate: Candidate) -> str:
    """The candidate token as text."""
    claims: dict[str, str | int] = {"q": candidate.scope, "v": candidate.visitor, "x": candidate.expires_ms // 1000}
    if candidate.line:
        claims["l"] = candidate.line
    if candidate.invite:
        claims["i"] = candidate.invite
    return ring.sign("candidate", claims)


def write_origin_pass(ring: Keyring, queue: str, held: Pass, now_ms: int) -> str:
    """What the origin gets as Stanchion-Pass: who was admitted to which queue, and as which visit; good for a minute at most."""
    now_s = now_ms // 1000
    claims = {"aud": queue, "sub": held.visitor, "iat": now_s, "exp": now_s + ORIGIN_PASS_S, "e": held.epoch,
              "p": _seat(held.line, held.position)}  # fmt: skip
    return ring.sign("origin", claims)


def read_origin_pass(ring: Keyring, text: str, queue: Queue) -> Pass:
    """The visit that an origin speaks of: with the pass's own expiry, and nothing of when it is renewed.

    Raises TokenError: not ours, of another kind, or for another queue. Expiry is the caller's to compare.
    """
    kind, claims = ring.verify(text)
    if kind != "origin":
        raise TokenError("no pass for the origin")
    try:
        named, visitor, epoch = str(claims["aud"]), str(claims["sub"]), str(claims["e"])
        line, position = divmod(int(claims["p"]), _LINE)
        expires_ms = int(claims["exp"]) * 1000
        _known_line(line)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TokenError(f"claims of another shape: {error}") from error
    if named != queue.id:
        raise TokenError("for another queue")
    return Pass(queue.scope, epoch, visitor, position, 0, expires_ms, line=line)


def _known_line(line: int) -> int:
    if not 0 <= line < LINES_AT_MOST:
        raise ValueError("no such line")
    return line


def _read(kind: Kind, claims: dict[str, Any]) -> Token:
    try:
        scope, visitor, expires_ms = str(claims["q"]), str(claims["v"]), int(claims["x"]) * 1000
        if kind == "candidate":
            return Candidate(scope, visitor, expires_ms, _known_line(int(claims.get("l", 0))), str(claims.get("i", "")))
        epoch, seat = str(claims["e"]), int(claims["p"])
        line, position = divmod(abs(seat), _LINE)
        _known_line(line)
        if kind == "place":
            number = int(claims["n"]) if "n" in claims else 0
            return Place(scope, epoch, visitor, position, int(claims["t"]) * 1000, expires_ms, line, seat < 0, number)
        if claims.get("m") == 1:
            return Pass(scope, epoch, visitor, position, expires_ms, expires_ms, True, line)
        return Pass(scope, epoch, visitor, position, int(claims["r"]) * 1000, expires_ms, False, line)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TokenError(f"claims of another shape: {error}") from error


class TokenReader:
    """Verifies tokens and remembers the good ones by their exact text, bounded.

    What may have changed since (expiry, an early end) is for the caller to compare, every time.
    """

    def __init__(self, ring: Keyring) -> None:
        self._ring = ring
        self._cache: dict[str, Token] = {}

    def read(self, text: str, scope: str) -> Token:
        """The token of a cookie for this scope. Raises TokenError: not ours, of a kind for others, or for another queue."""
        token = self._cache.get(text)
        if token is None:
            kind, claims = self._ring.verify(text)
            if kind in ("origin", "invite"):
                raise TokenError(f"this kind ({kind}) is worth nothing as a cookie")
            token = _read(kind, claims)
            if len(self._cache) >= _CACHE_ENTRIES:
                self._cache.pop(next(iter(self._cache)))
            self._cache[text] = token
        if token.scope != scope:
            raise TokenError("for another queue")
        return token


class OriginPasses:
    """Passes for the origin, each used for half its life: signing one for each request would cost more than the rest."""

    _REUSE_MS = ORIGIN_PASS_S * 1000 // 2

    def __init__(self, ring: Keyring) -> None:
        self._ring = ring
        self._made: dict[tuple[str, str, str, int, int], tuple[int, str]] = {}

    def get(self, queue: str, held: Pass, now_ms: int) -> str:
        """A pass that is good for at least half a minute. `now_ms`: by the wall, for the origin compares with its own."""
        key = (queue, held.visitor, held.epoch, held.line, held.position)
        made_ms, text = self._made.get(key, (0, ""))
        if not 0 <= now_ms - made_ms < self._REUSE_MS:
            text = write_origin_pass(self._ring, queue, held, now_ms)
            if len(self._made) >= _CACHE_ENTRIES:
                self._made.pop(next(iter(self._made)))
            self._made[key] = (now_ms, text)
        return text
