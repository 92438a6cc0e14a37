"""A brand becomes plain pages: rendered, checked and sealed, all of them or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from admin.publish.brand import load_brand
from admin.publish.catalogue import available_languages, catalogue_file
from admin.publish.compact import closed_up, compact
from admin.publish.errors import PublishError
from admin.publish.fitness import check_rendered
from admin.publish.render import render_pages
from edge.core.pages import page_key, seal


@dataclass(frozen=True)
class Publication:
    """The pages of a brand, rendered and checked. `pages`: by language and state."""

    brand: str
    languages: tuple[str, ...]
    pages: Mapping[tuple[str, str], str]

    def keyed(self, version: int) -> dict[str, str]:
        """The pages by their keys in the store."""
        return {page_key(self.brand, version, *where): page for where, page in self.pages.items()}


def publish(brand: str, templates_dir: Path, languages: Sequence[str] = (), page_max_s: float = 0) -> Publication:
    """Every page of a brand, rendered and checked. Without `languages`: the brand's own, else all that there are.

    `page_max_s`: how long one page may take, where this process only renders (see `limits.time_limit`); 0: as long as it wants.

    Raises PublishError, naming file and line, for the first thing that is wrong; then there is no result at all.
    """
    found = load_brand(brand, templates_dir)
    chosen = tuple(dict.fromkeys(languages or found.languages or available_languages(templates_dir)))
    for language in chosen:
        _check_language(language, templates_dir)
    pages: dict[tuple[str, str], str] = {}
    for language in chosen:
        for state, page in render_pages(found, language, templates_dir, offered=chosen, page_max_s=page_max_s).items():
            try:
                page_key(brand, 0, language, state)
            except ValueError as error:
                raise PublishError(brand, 0, str(error)) from error
            check_rendered(found, language, state, page, templates_dir, chosen)
            pages[language, state] = seal(compact(closed_up(page, language)))
    return Publication(brand, chosen, pages)


def _check_language(language: str, templates_dir: Path) -> None:
    """Raises PublishError for one that there are no pages in."""
    known = available_languages(templates_dir)
    if language not in known:
        what = f"no translation for {language[:60]!r}: there is {', '.join(known)}"
        raise PublishError(str(catalogue_file(templates_dir, language)), 0, what)
