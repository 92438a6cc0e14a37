"""The versions of a brand's pages in a store: put one in force, go back to one, and who did so when.

A version is written whole before `current.json` names it, so readers see one version or another. Beside it lies `history.json`,
which only people read: without it, or when it is damaged, everything works, and nobody knows who published.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from admin.publish.errors import PublishError
from admin.publish.publish import Publication
from edge.core.page_set import PageSet, page_set_key, read_page_set, write_page_set

#: Versions that stay in the store: the one in force, the one before, and the newest of the others.
KEPT_VERSIONS = 3
_ENTRIES_AT_MOST = 200
_AT_ONCE = "somebody else published this brand at the same time; nothing was changed, publish again"


class Store(Protocol):
    """Where pages go: anything that keeps texts under keys. A folder, a Redis, Fastly's KV store."""

    def get(self, key: str) -> str | None:
        """The text under `key`, or None."""

    def put(self, key: str, text: str) -> None:
        """Keeps `text` under `key`."""

    def delete(self, key: str) -> object:
        """Removes the key; one that is not there is no error."""

    def keys(self, prefix: str = "") -> Iterable[str]:
        """The keys that start with `prefix`."""


@dataclass(frozen=True)
class Entry:
    """One line of the history. `what`: published or rolled back; `at_ms` in Unix ms; `by`: a name, as the caller gave it."""

    version: int
    what: str
    by: str
    at_ms: int
    languages: tuple[str, ...]


@dataclass(frozen=True)
class Version:
    """A version that is in the store. `published_at_ms` is None and `by` empty where the history says nothing of it."""

    number: int
    is_in_force: bool
    languages: tuple[str, ...]
    pages: int
    by: str
    published_at_ms: int | None


@dataclass(frozen=True)
class Outcome:
    """What was done: the version that is in force now, its languages, and what was found damaged and passed over."""

    version: int
    languages: tuple[str, ...]
    notes: tuple[str, ...] = ()


def history_key(brand: str) -> str:
    """Key of the history. Raises ValueError for a name that is no brand."""
    return page_set_key(brand).replace("current.json", "history.json")


def in_force(store: Store, brand: str) -> PageSet | None:
    """The version that the store shows, or None. Raises PublishError when what stands there is none."""
    key = page_set_key(brand)
    text = store.get(key)
    try:
        return None if text is None else read_page_set(text)
    except ValueError as error:
        raise PublishError(key, 1, f"damaged: {error}") from error


def history(store: Store, brand: str) -> list[Entry]:
    """What was done, the oldest first. Raises PublishError when what stands there is no history."""
    key = history_key(brand)
    text = store.get(key)
    try:
        return [] if text is None else [_entry(each) for each in json.loads(text)["entries"]]
    except (ValueError, TypeError, KeyError) as error:
        raise PublishError(key, 1, f"damaged: {error}") from error


def versions(store: Store, brand: str) -> list[Version]:
    """Every version in the store, the newest first. What is damaged is passed over."""
    book = _Book(store, brand)
    return [book.version(number) for number in sorted(book.found, reverse=True)]


def pages_of(store: Store, brand: str, number: int) -> dict[tuple[str, str], str]:
    """The pages of one version by language and state; none when there is no such version."""
    found = {}
    for key in store.keys(f"pages/{brand}/{number}/"):
        text = store.get(key)
        if _version_of(key) == number and text is not None:
            language, state = key.split("/")[3:]
            found[language, state.removesuffix(".html")] = text
    return found


def publish(store: Store, publication: Publication, by: str, now_ms: int) -> Outcome:
    """Writes the pages as a new version and puts it in force; older ones than KEPT_VERSIONS go.

    A damaged `current.json` or `history.json` is replaced, and then nothing is deleted. Raises PublishError when somebody else
    published meanwhile.
    """
    book = _Book(store, publication.brand)
    number = book.next_number()
    for key, page in publication.keyed(number).items():
        store.put(key, page)
    book.put_in_force(PageSet(number, book.current, publication.languages), "published", by, now_ms)
    if not book.notes:
        book.remove_old(number)
    return Outcome(number, publication.languages, tuple(book.notes))


def roll_back(store: Store, brand: str, by: str, now_ms: int, to: int | None = None) -> Outcome:
    """Puts another version in force: `to`, or the one before. Once more without `to`, and the newer one is back.

    Raises PublishError when there is no such version, or when somebody else published meanwhile.
    """
    book = _Book(store, brand)
    number = book.before() if to is None else to
    if not book.found.get(number):
        there = ", ".join(map(str, sorted(book.found))) or "none"
        what = "there is no version before the one in force" if to is None else f"there is no version {to}: there is {there}"
        raise PublishError(brand, 0, "; ".join([what, *book.notes]))
    languages = book.languages(number)
    book.put_in_force(PageSet(number, book.current if book.current != number else 0, languages), "rolled back", by, now_ms)
    return Outcome(number, languages, tuple(book.notes))


class _Book:
    """What a store says about one brand; `notes` tells what was damaged. `current`: the number in force, 0 without one."""

    def __init__(self, store: Store, brand: str) -> None:
        self._store, self._brand = store, brand
        self.notes: list[str] = []
        self.found: dict[int, list[str]] = {}  # number -> keys of its pages
        for key in store.keys(f"pages/{brand}/"):
            if number := _version_of(key):
                self.found.setdefault(number, []).append(key)
        self._text = store.get(page_set_key(brand))
        self._entries = self._read_history()
        self._set: PageSet | None = None
        self._set = self._read_set()
        self.current = self._set.version if self._set else 0

    def _read_history(self) -> list[Entry]:
        try:
            return history(self._store, self._brand)
        except PublishError as error:
            self.notes.append(f"{error}; a new one was begun")
            return []

    def _read_set(self) -> PageSet | None:
        try:
            return in_force(self._store, self._brand)
        except PublishError as error:
            last = self._entries[-1].version if self._entries else 0
            number = last if last in self.found else max(self.found, default=0)
            there = ", ".join(map(str, sorted(self.found))) or "none"
            self.notes.append(f"{error}; versions in the store: {there}; nothing of them was removed")
            return PageSet(number, self._below(number), self.languages(number)) if number else None

    def _below(self, number: int) -> int:
        return max((each for each in self.found if each < number), default=0)

    def next_number(self) -> int:
        """A number that no version ever had."""
        return 1 + max([self.current, *self.found, *(each.version for each in self._entries)], default=0)

    def before(self) -> int:
        """The version to go back to; where only one is left of a damaged store, that one."""
        before = self._set.previous if self._set else 0
        return before if before in self.found else self.current if self.notes and self.current else 0

    def languages(self, number: int) -> tuple[str, ...]:
        """Of a version, the brand's first language first where that is known: it is shown to whoever reads none of them."""
        there = {key.split("/")[3] for key in self.found.get(number, ())}
        told = next((each.languages for each in reversed(self._entries) if each.version == number), ())
        order = (*told, *(self._set.languages if self._set else ()))
        return tuple(dict.fromkeys([*(name for name in order if name in there), *sorted(there)]))

    def version(self, number: int) -> Version:
        """What is known of a version."""
        made = next((each for each in self._entries if each.version == number and each.what == "published"), None)
        return Version(number, number == self.current, self.languages(number), len(self.found[number]),
                       made.by if made else "", made.at_ms if made else None)  # fmt: skip

    def put_in_force(self, pages: PageSet, what: str, by: str, now_ms: int) -> None:
        """Names the version in force, then notes who did it."""
        if self._store.get(page_set_key(self._brand)) != self._text:
            raise PublishError(self._brand, 0, _AT_ONCE)
        self._store.put(page_set_key(self._brand), write_page_set(pages))
        self._entries.append(Entry(pages.version, what, by, now_ms, pages.languages))
        kept = [asdict(each) for each in self._entries[-_ENTRIES_AT_MOST:]]
        self._store.put(history_key(self._brand), json.dumps({"entries": kept}) + "\n")

    def remove_old(self, number: int) -> None:
        """Removes what is neither `number`, nor the one before, nor among the newest."""
        others = sorted(self.found.keys() - {number, self.current}, reverse=True)
        kept = {number, self.current, *others[: max(0, KEPT_VERSIONS - len({number, self.current} - {0}))]}
        for gone in sorted(self.found.keys() - kept):
            for key in self.found[gone]:
                self._store.delete(key)


def _entry(each: Any) -> Entry:
    made = Entry(each["version"], each["what"], each["by"], each["at_ms"], tuple(each["languages"]))
    right = all(type(value) is int for value in (made.version, made.at_ms))
    if not right or not all(isinstance(value, str) for value in (made.what, made.by, *made.languages)):
        raise ValueError(f"{str(each)[:80]} is no entry")
    return made


def _version_of(key: str) -> int:
    """The version that a key belongs to; 0 for one that belongs to none."""
    parts = key.split("/")
    return int(parts[2]) if len(parts) == 5 and parts[2].isascii() and parts[2].isdigit() else 0
