"""Waiting pages: plain HTML with a closed list of `{{slots}}`, compiled once and filled by one join.

A page may be edited by people who are not programmers, and what fills it comes from outside. So a page compiles only
if every slot stands where HTML escaping makes any value inert; an edited page can show wrong text but run nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from edge.core import builtin_page
from edge.core.outside import refuse_outside
from edge.core.page_reader import URL_SLOTS, PageError, Reader
from edge.core.page_seal import Cut, cut, mark_for, pieces_of, unsealed

__all__ = [
    "BUILTIN_LANGUAGE", "SLOTS", "STATES", "URL_SLOTS", "Page", "PageError", "builtin", "check_name", "compile_page",
    "compile_stored", "content_security_policy", "page_key", "page_state", "seal", "sealed_page", "unsealed",
]  # fmt: skip

SLOTS: Mapping[str, str] = {
    "queue_name": "the queue's name for people",
    "queue_id": "the queue's id",
    "state": "the state, one of those of the status JSON",
    "position": "the visitor's position, or empty",
    "ahead": "people ahead, or empty",
    "wait_low_min": "lower end of the expected wait, in minutes",
    "wait_high_min": "upper end of the expected wait, in minutes",
    "wait_low": "the same lower end, a number in wait_unit",
    "wait_high": "the same upper end, a number in wait_unit",
    "wait_unit": "h if the wait is an hour at least, else min",
    "wait_known": "yes or no",
    "poll_s": "seconds until the next status request",
    "refresh_s": "seconds of the meta refresh for browsers without JavaScript; digits only",
    "claim_left_s": "seconds for which a called visitor keeps the turn",
    "retry_s": "seconds after which to try again",
    "updated_iso": "time of the numbers, ISO 8601",
    "updated_utc": "time of the numbers, HH:MM:SS in UTC",
    "status_url": "address of the status JSON",
    "leave_url": "address that takes the POST of a visitor who gives up the place",
    "target_url": "address that the visitor asked for",
    "nonce": "nonce of the Content-Security-Policy; in the attribute nonce only",
    "claim_left_clock": "the same as m:ss",
    "message": "the operator's message, or empty",
    "opens_iso": "when the line opens, ISO 8601, or empty",
    "opens_utc": "when the line opens, YYYY-MM-DD HH:MM in UTC, or empty",
    "opens_in_s": "seconds until the line opens, or empty",
    "spread_s": "seconds over which the pages of a pre-queue ask again after the opening",
    "order": "how places are given at the opening: draw or arrival",
    "arrival_number": "the number of an arrival before the opening, or empty",
    "drawn": "whether the visitor's place was drawn by lot: yes or no",
    "draw_url": "address where the draw can be checked, or empty",
    "lane": "name of the visitor's lane, or empty",
    "work": "whether the visitor's browser has to solve a small task first: yes or no",
    "sign_in_url": "address where one signs in who has to, or empty",
    "claim": "time that a called visitor has, a number in claim_unit",
    "claim_unit": "h, min or s",
    "late_claim": "what becomes of a visitor who comes later than that: head, back or refused",
    "late": "time within which a late visitor can come back, a number in late_unit",
    "late_unit": "h, min or s",
    "grace": "how long a place is kept without a sign of life, a number in grace_unit",
    "grace_unit": "h, min or s",
    "status_json": "the whole status JSON",
    "request_id": "id of this request, for support",
}
STATES = (
    "waiting", "called", "paused", "prequeue", "not_open", "closed", "sold_out", "maintenance", "lapsed", "unavailable", "busy",
    "form", "ended", "sign_in", "had_visit",
)  # fmt: skip
BUILTIN_LANGUAGE = "en"
_SHARED_PAGES = {"candidate": "waiting", "inside": "called"}
_BETWEEN = "\x01"  # no value of ours holds it; one that does is escaped by itself
_BETWEEN_BYTES = _BETWEEN.encode()
_SLOTS_IN_PAGES: Mapping[bytes, str] = {f"{{{{{name}}}}}".encode(): name for name in SLOTS}
_KEY_CHARS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")


class Page:
    """A compiled page: text with slots between. `language`: the one that it turned out to be in, empty: as asked."""

    __slots__ = ("_names", "_pieces", "language")

    def __init__(self, cut: Cut, language: str = "") -> None:
        self._pieces, self._names = cut
        self.language = language

    @property
    def slots(self) -> frozenset[str]:
        """The slots that it has."""
        return frozenset(self._names)

    def fill(self, values: Mapping[str, str]) -> str:
        """The page with every value escaped. A missing value becomes empty; so does a URL that leaves http(s)."""
        return str(self.fill_bytes(values), "utf-8")

    def fill_bytes(self, values: Mapping[str, str]) -> bytes:
        """The same in UTF-8, which most hosts send: decoding a page costs a fresh sandbox as much as filling it."""
        pieces = [*self._pieces]
        pieces[2::3] = map(_inert(values).__getitem__, self._names)
        return b"".join(pieces)


def compile_page(text: str) -> Page:
    """Cuts a page at its slots. Raises PageError where a slot is unknown, unclosed or not made safe by escaping."""
    sealed = sealed_page(text)
    if sealed is not None:
        return sealed
    reader = Reader(text, SLOTS)
    reader.read()
    return Page((pieces_of(reader.literals, reader.names), reader.names))


def compile_stored(text: str) -> Page:
    """The same for a page of the store. One that was changed since it was published must bring in nothing from elsewhere, too."""
    sealed = sealed_page(text)
    if sealed is not None:
        return sealed
    refuse_outside(text)
    return compile_page(text)


def sealed_page(text: str | bytes) -> Page | None:
    """The page by the mark that `seal` has put at its end; None if it has none, or has been changed since."""
    found = cut(text if isinstance(text, bytes) else text.encode("utf-8", "replace"), _SLOTS_IN_PAGES)
    return None if found is None else Page(found)


def seal(text: str) -> str:
    """The page with a mark at its end that says where its slots are (edge/core/page_seal.py). Raises PageError.

    A page with slots in a comment, or with blanks within a slot, stays without one: only the reader takes those out.
    """
    text = unsealed(text)
    reader = Reader(text, SLOTS)
    reader.read()
    literals, names = reader.literals, reader.names
    if b"".join(pieces_of(literals, names)) != text.encode("utf-8", "replace"):
        return text
    return text + mark_for(literals, names)


@lru_cache(maxsize=len(STATES))
def builtin(state: str) -> Page:
    """The plain page that serves when the store has none. Raises ValueError for a state without a page."""
    _check_state(state)
    literals, names = _cut(builtin_page.text(state))
    return Page((pieces_of(literals, names), names), BUILTIN_LANGUAGE)  # our own text: a test reads it in full


def page_key(page: str, version: int, language: str, state: str) -> str:
    """Key of a page in the store. Raises ValueError for a name that is no page, language or state."""
    _check_state(state)
    check_name("page", page)
    check_name("language", language)
    return f"pages/{page}/{version}/{language}/{state}.html"


def check_name(what: str, name: object) -> None:
    """Raises ValueError for a name that cannot stand in a key."""
    if not isinstance(name, str) or not name or not _KEY_CHARS.issuperset(name.lower()):
        raise ValueError(f"{what} {name!r}: only letters, digits, '-' and '_' can stand in a key")


def page_state(state: str) -> str:
    """The page that shows a state of the status JSON: two of those have no page of their own."""
    return _SHARED_PAGES.get(state, state)


def content_security_policy(nonce: str) -> str:
    """The policy that pages are made for: scripts and styles by nonce, pictures within the page, nothing from elsewhere."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'"
    )


def _cut(text: str) -> tuple[list[str], list[str]]:
    """The literals and the slots between, without a look at where the slots stand."""
    first, *pieces = text.split("{{")
    literals, names = [first], []
    for piece in pieces:
        name, _, literal = piece.partition("}}")
        names.append(name.strip())
        literals.append(literal)
    return literals, names


def _check_state(state: str) -> None:
    if state not in STATES:
        raise ValueError(f"no page for the state {state!r}: one of {', '.join(STATES)}")


class _Inert(dict[str, bytes]):
    """Values by slot; one that is missing is empty."""

    def __missing__(self, name: str) -> bytes:
        return b""


def _inert(values: Mapping[str, str]) -> _Inert:
    """The values as they may stand in text and in a quoted attribute."""
    checked = dict(values)
    for name in URL_SLOTS & checked.keys():
        checked[name] = _followable(checked[name])
    refresh_s = checked.get("refresh_s", "")
    if not (refresh_s.isascii() and refresh_s.isdigit()):
        checked["refresh_s"] = ""  # "0;url=..." in a meta refresh would send the visitor elsewhere
    # All at once: a step in Python for each would cost a fresh sandbox more than the page.
    escaped = _escaped(_BETWEEN.join(checked.values())).split(_BETWEEN_BYTES)
    if len(escaped) != len(checked):
        return _Inert({name: _escaped(value) for name, value in checked.items()})
    return _Inert(zip(checked, escaped, strict=True))


def _escaped(value: str) -> bytes:
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # A lone surrogate could not be sent.
    return value.replace('"', "&quot;").replace("'", "&#39;").encode("utf-8", "replace")


def _followable(url: str) -> str:
    """An http(s) URL or a path as it is; "//x" so that it stays a path; anything else empty."""
    if url.startswith("/"):
        # Browsers drop tabs and line breaks within a URL and read "\" as "/".
        return "/." + url if url[1:2] in ("/", "\\", "\t", "\n", "\r") else url
    return url if url.startswith(("https://", "http://")) else ""
