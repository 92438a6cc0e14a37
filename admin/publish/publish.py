"""Publishing: a brand becomes plain pages, all of them or none, as one version that takes the place of the last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from admin.publish.brand import load_brand
from admin.publish.catalogue import available_languages
from admin.publish.checks import check_page
from admin.publish.compact import compact
from admin.publish.errors import PublishError
from admin.publish.render import render_pages
from edge.core.page_set import PageSet, page_set_key, read_page_set, write_page_set
from edge.core.pages import page_key, seal


class Store(Protocol):
    """Where pages go: anything that keeps texts under keys."""

    def get(self, key: str) -> str | None:
        """The text under `key`, or None."""

    def put(self, key: str, text: str) -> None:
        """Keeps `text` under `key`."""

    def delete(self, key: str) -> bool:
        """Removes the key and says whether it was there."""

    def keys(self, prefix: str = "") -> Iterable[str]:
        """The keys that start with `prefix`."""


@dataclass(frozen=True)
class Publication:
    """The pages of a brand, rendered and checked. `pages`: by language and state."""

    brand: str
    languages: tuple[str, ...]
    pages: Mapping[tuple[str, str], str]

    def keyed(self, version: int) -> dict[str, str]:
        """The pages by their keys in the store."""
        return {page_key(self.brand, version, *where): page for where, page in self.pages.items()}


def publish(brand: str, templates_dir: Path, languages: Sequence[str] = ()) -> Publication:
    """Every page of a brand, rendered and checked. Without `languages`: the brand's own, else all that there are.

    Raises PublishError, naming file and line, for the first thing that is wrong; then there is no result at all.
    """
    found = load_brand(brand, templates_dir)
    chosen = tuple(dict.fromkeys(languages or found.languages or available_languages(templates_dir)))
    pages: dict[tuple[str, str], str] = {}
    for language in chosen:
        for state, page in render_pages(found, language, templates_dir, offered=chosen).items():
            try:
                name = page_key(brand, 0, language, state).replace("/0/", "/")
            except ValueError as error:
                raise PublishError(brand, 0, str(error)) from error
            check_page(name, page, state, language)
            pages[language, state] = seal(compact(page))
    return Publication(brand, chosen, pages)


def in_force(store: Store, brand: str) -> PageSet | None:
    """The version that the store shows, or None. Raises PublishError when what stands there is none."""
    key = page_set_key(brand)
    text = store.get(key)
    try:
        return None if text is None else read_page_set(text)
    except ValueError as error:
        raise PublishError(key, 1, str(error)) from error


def put_pages(store: Store, publication: Publication) -> int:
    """Writes the pages as a new version, puts it in force, keeps the one before and removes older ones. Answers its number.

    Readers see the old version until the last step. Raises PublishError when somebody else published meanwhile.
    """
    brand = publication.brand
    before = in_force(store, brand)
    version = 1 + max((_version_of(key) for key in store.keys(f"pages/{brand}/")), default=0)
    for key, page in publication.keyed(version).items():
        store.put(key, page)
    if in_force(store, brand) != before:
        raise PublishError(brand, 0, "somebody else published this brand at the same time; nothing was changed, publish again")
    previous = before.version if before else 0
    store.put(page_set_key(brand), write_page_set(PageSet(version, previous, publication.languages)))
    for key in list(store.keys(f"pages/{brand}/")):
        if 0 < _version_of(key) < version and _version_of(key) != previous:
            store.delete(key)
    return version


def rollback(store: Store, brand: str) -> PageSet:
    """Puts the version before in force again; once more, and the newer one is back. Raises PublishError when there is none."""
    now = in_force(store, brand)
    languages = sorted({key.split("/")[3] for key in store.keys(f"pages/{brand}/{now.previous}/")}) if now else []
    if now is None or not now.previous or not languages:
        raise PublishError(brand, 0, "there is no version before the one in force")
    # The brand's first language stays first where it can: it is shown to whoever reads none of them.
    languages.sort(key=lambda name: now.languages.index(name) if name in now.languages else len(now.languages))
    back = PageSet(now.previous, now.version, tuple(languages))
    store.put(page_set_key(brand), write_page_set(back))
    return back


def _version_of(key: str) -> int:
    """The version that a key belongs to; 0 for one that belongs to none."""
    parts = key.split("/")
    return int(parts[2]) if len(parts) == 5 and parts[2].isascii() and parts[2].isdigit() else 0
