"""Publishing: a brand becomes plain pages, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from admin.publish.brand import load_brand
from admin.publish.checks import check_page
from admin.publish.errors import PublishError
from admin.publish.render import render_pages
from edge.core.pages import page_key, seal


class Store(Protocol):
    """Where pages go: anything that keeps a text under a key."""

    def put(self, key: str, text: str) -> None:
        """Keeps `text` under `key`."""


def publish(brand: str, templates_dir: Path, languages: Sequence[str]) -> dict[str, str]:
    """Every page of a brand, by its key in the store, rendered and checked.

    Raises PublishError, naming file and line, for the first thing that is wrong; then there is no result at all.
    """
    if not languages:
        raise PublishError(brand, 0, "name at least one language")
    found = load_brand(brand, templates_dir)
    pages: dict[str, str] = {}
    for language in languages:
        for state, page in render_pages(found, language, templates_dir).items():
            try:
                key = page_key(brand, language, state)
            except ValueError as error:
                raise PublishError(brand, 0, str(error)) from error
            check_page(key, page, state, language)
            pages[key] = seal(page)
    return pages


def put_pages(store: Store, pages: Mapping[str, str]) -> None:
    """Puts published pages into the store."""
    for key, page in pages.items():
        store.put(key, page)
