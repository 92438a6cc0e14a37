"""The published pages as a guest keeps them: a page that is broken or missing is never an error, but an older page."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from edge.core import pages
from edge.core.page_set import PageSet, page_set_key, read_page_set
from edge.core.pages import Page, PageError

_PAGES_AT_MOST = 512
_HEAD_CHARS, _TAIL_CHARS = 2_000, 4_200
# The value of a key as text or as UTF-8, or None for an absent one. Raises OSError when the store cannot be read.
ReadKv = Callable[[str], str | bytes | None]
_Value = TypeVar("_Value")
_Key = TypeVar("_Key")


class PageShelf:
    """Reads and keeps. `log` takes what happened and the problem.

    In the place of a page that cannot be used comes the last good one that this guest has seen, then the one of the version
    before, then the built-in one.
    """

    def __init__(self, read_kv: ReadKv, log: Callable[[str, str], None]) -> None:
        self._read_kv, self._log = read_kv, log
        self._pages: dict[tuple[str, str, str], Page] = {}
        self._good_pages: dict[tuple[str, str, str], Page] = {}
        self._sets: dict[str, PageSet | None] = {}
        self._good_sets: dict[str, PageSet] = {}

    def clear(self) -> None:
        """The store has changed: what was read may be old. What was good stays known."""
        self._pages.clear()
        self._sets.clear()

    def offered(self, page: str) -> tuple[str, ...]:
        """The languages that a brand's pages are published in; none when it has no pages."""
        found = self._set(page)
        return found.languages if found is not None else ()

    def page(self, page: str, language: str, state: str) -> Page:
        """The page of the version in force, or what comes in its place. Raises ValueError for a name that is no page or state."""
        asked = (page, language, state)
        known = self._pages.get(asked)
        if known is not None:
            return known
        try:
            found = self._found(asked)
        except OSError as error:  # the next time may find it well
            self._log("page not read", str(error))
            return self._good_pages.get(asked) or pages.builtin(state)
        _keep(self._pages, asked, found)
        return found

    def _found(self, asked: tuple[str, str, str]) -> Page:
        page, language, state = asked
        in_force = self._set(page, must_read=True)
        if in_force is None:
            self._good_pages.pop(asked, None)  # taken away on purpose
            return pages.builtin(state)
        good = self._compiled(pages.page_key(page, in_force.version, language, state))
        if good is not None:
            _keep(self._good_pages, asked, good)
            return good
        if asked in self._good_pages:
            return self._good_pages[asked]
        before = self._compiled(pages.page_key(page, in_force.previous, language, state)) if in_force.previous else None
        return before or pages.builtin(state)

    def _compiled(self, key: str) -> Page | None:
        value = self._read_kv(key)
        if value is None:
            self._log("page missing", key)
            return None
        sealed = pages.sealed_page(value)
        if sealed is not None:
            return sealed  # it was whole when it was published, and is as it was
        text = text_of(key, value) or ""
        if not _is_whole(text):
            self._log("page not taken", f"{key}: it does not begin with <html> and end with </html>")
            return None
        try:
            return pages.compile_stored(text)
        except PageError as error:
            self._log("page not taken", f"{key}: {error}")
            return None

    def _set(self, page: str, *, must_read: bool = False) -> PageSet | None:
        if page in self._sets:
            return self._sets[page]
        try:
            key = page_set_key(page)
            text = text_of(key, self._read_kv(key))
        except OSError as error:
            if must_read:
                raise
            self._log("page not read", str(error))
            return self._good_sets.get(page)
        found: PageSet | None = None
        try:
            found = None if text is None else read_page_set(text)
        except ValueError as error:
            self._log("page not taken", f"{page_set_key(page)}: {error}")
            found = self._good_sets.get(page)
        if found is not None:
            _keep(self._good_sets, page, found)
        _keep(self._sets, page, found)
        return found


def text_of(key: str, value: str | bytes | None) -> str | None:
    """A value of the store as text. Raises OSError for bytes that are none."""
    if not isinstance(value, bytes):
        return value
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError as error:
        raise OSError(f"{key} is not UTF-8") from error


def _is_whole(text: str) -> bool:
    """Whether it is a page at all: not emptied, not cut off, not something else. Behind its end stands at most the seal."""
    return "<html" in text[:_HEAD_CHARS].lower() and "</html>" in text[-_TAIL_CHARS:].lower()


def _keep(kept: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if len(kept) >= _PAGES_AT_MOST:
        kept.clear()
    kept[key] = value
