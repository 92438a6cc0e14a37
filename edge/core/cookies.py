"""Our cookies: found among whatever a client sends, and made.

`stanchion-<scope>` carries a place or a pass, `stanchion-<scope>.c` a candidate; the scope is the queue, or its group. Over https
the name starts with `__Host-`, or with `__Secure-` when the cookie has a domain. Only the name that we would set is read; all our
names are kept from the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from edge.core.model import Queue

PREFIX = "stanchion-"
CANDIDATE_SUFFIX = ".c"
#: Set by a page's script: the language that the visitor chose there. No queue's id holds a dot.
LANGUAGE_COOKIE = "stanchion-.language"
PLACE_MAX_AGE_S = 24 * 3600
CANDIDATE_MAX_AGE_S = 15 * 60
# More copies of one name than this are not looked at: each costs a signature check.
VALUES_AT_MOST = 4
# Of headers kept with what they hold; the memory of it is about three times that.
_CACHED_CHARS = 2_000_000


@dataclass(slots=True)
class Cookies:
    """What a Cookie header holds: values by name for ours, and the header for the origin without them.

    `tokens`: what the client sends in the header Stanchion-Token instead, of whatever queue; None: it keeps cookies.
    """

    ours: dict[str, tuple[str, ...]]
    others: str
    had_ours: bool
    tokens: tuple[str, ...] | None = None

    def values(self, name: str) -> tuple[str, ...]:
        """The values under one of our names, in the order sent; without cookies, all tokens that there are."""
        return self.ours.get(name, ()) if self.tokens is None else self.tokens

    @property
    def has_tokens(self) -> bool:
        """Whether there is anything that may say who this is."""
        return self.had_ours if self.tokens is None else bool(self.tokens)


def _bare(name: str) -> str:
    for prefix in ("__Host-", "__Secure-"):
        if name.lower().startswith(prefix.lower()):
            return name[len(prefix) :]
    return name


def parse(header: str) -> Cookies:
    """Reads a Cookie header of any shape; nothing in it is an error."""
    if PREFIX not in header.lower():
        return Cookies({}, header, False)
    ours: dict[str, tuple[str, ...]] = {}
    kept: list[str] = []
    for piece in header.split(";"):
        name, _, value = piece.strip().partition("=")
        name = name.strip()
        if not _bare(name).lower().startswith(PREFIX):
            kept.append(piece)
        elif len(ours.get(name, ())) < VALUES_AT_MOST:
            ours[name] = (*ours.get(name, ()), value.strip().strip('"'))
    return Cookies(ours, ";".join(kept).strip() if ours else header, bool(ours))


class CookieReader:
    """`parse` with a bounded memory: one visitor sends the same header many times."""

    def __init__(self) -> None:
        self._cache: dict[str, Cookies] = {}
        self._chars = 0

    def read(self, header: str) -> Cookies:
        """What the header holds."""
        try:
            return self._cache[header]
        except KeyError:
            found = parse(header)
        self._chars += len(header)
        while self._cache and self._chars > _CACHED_CHARS:
            oldest = next(iter(self._cache))
            self._chars -= len(oldest)
            del self._cache[oldest]
        self._cache[header] = found
        return found


@lru_cache(maxsize=4096)
def _name(scope: str, scheme: str, has_domain: bool, is_candidate: bool) -> str:
    start = "" if scheme != "https" else "__Secure-" if has_domain else "__Host-"
    return f"{start}{PREFIX}{scope}{CANDIDATE_SUFFIX if is_candidate else ''}"


def cookie_name(queue: Queue, scheme: str, *, candidate: bool = False) -> str:
    """The name that we set for this queue on this scheme; the queues of a group share it."""
    return _name(queue.scope, scheme, queue.cookie_domain is not None, candidate)


def set_cookie(queue: Queue, scheme: str, value: str, max_age_s: int, *, candidate: bool = False) -> str:
    """The value of a Set-Cookie header. SameSite none and partitioned need https: over http it is lax."""
    secure = scheme == "https"
    same_site = "Lax" if queue.same_site == "lax" or not secure else "None"
    parts = [f"{cookie_name(queue, scheme, candidate=candidate)}={value}", "Path=/", f"Max-Age={max_age_s}", "HttpOnly",
             f"SameSite={same_site}"]  # fmt: skip
    if secure:
        parts.append("Secure")
        if queue.same_site == "partitioned":
            parts.append("Partitioned")
    if queue.cookie_domain:
        parts.append(f"Domain={queue.cookie_domain}")
    return "; ".join(parts)


def expire_cookie(queue: Queue, scheme: str, *, candidate: bool = False) -> str:
    """The Set-Cookie header that takes a dead cookie away."""
    return set_cookie(queue, scheme, "", 0, candidate=candidate)
