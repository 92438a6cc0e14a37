"""Which version of a brand's pages is in force, and in which languages: one small value beside the pages.

A version is written whole before this value names it, so that a reader sees one version or another and never a mixture.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from edge.core import quick_json
from edge.core.pages import check_name

VERSION_MAX = 2**31


@dataclass(frozen=True, slots=True)
class PageSet:
    """The version in force and the one before (0: none). `languages`: those on offer, the brand's own first."""

    version: int
    previous: int
    languages: tuple[str, ...]


def page_set_key(page: str) -> str:
    """Key of that value in the store. Raises ValueError for a name that is no page."""
    check_name("page", page)
    return f"pages/{page}/current.json"


def write_page_set(pages: PageSet) -> str:
    """The value as it is kept."""
    return json.dumps({"version": pages.version, "previous": pages.previous, "languages": pages.languages}) + "\n"


def read_page_set(text: str) -> PageSet:
    """The value. Raises ValueError, saying what is wrong, when it is none."""
    try:
        found = quick_json.read(text.rstrip())
        version, previous, languages = found["version"], found["previous"], found["languages"]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"not an object with version, previous and languages: {error}") from error
    for number in (version, previous):
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < VERSION_MAX:
            raise ValueError(f"{number!r} is no version")
    if not isinstance(languages, list) or not languages:
        raise ValueError("languages must be a list of at least one")
    try:
        check_name("language", "".join(languages) if all(languages) else "")  # at once: there may be twenty of them
    except TypeError as error:
        raise ValueError(f"a language that is no text: {error}") from error
    return PageSet(version, previous, tuple(languages))
