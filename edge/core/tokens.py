"""Signed tokens, bound to scope and epoch (edge/core/keyring.py signs them). Times in them are Unix seconds (RFC 7519).

The scope is the queue, or its group: a token that one queue of a group gave is good at all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edge.core.errors import TokenError
from edge.core.keyring import Keyring, Kind
from edge.core.model import LINES_AT_MOST, Queue

ORIGIN_PASS_S = 60
_CACHE_ENTRIES = 8192
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
