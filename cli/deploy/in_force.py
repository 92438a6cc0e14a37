"""Which pages go to Fastly: the version of each brand that is in force, and the one before where it is there already.

Every page is a change, and Fastly takes 1,000 an hour. Older versions are for rolling back, which brings them up again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from cli.deploy.inputs import InputError
from edge.core.page_set import PageSet, page_set_key, read_page_set

Read = Callable[[str], str | None]


def needed(keys: Iterable[str], read: Read, there: Collection[str]) -> list[str]:
    """The keys without those of pages that no edge would show. `there`: keys that the store has. Raises InputError."""
    sets: dict[str, PageSet | None] = {}
    kept = []
    for key in keys:
        parts = key.split("/")
        if _is_of_a_version(parts):
            brand, number = parts[1], int(parts[2])
            if brand not in sets:
                sets[brand] = _set(read, brand)
            found = sets[brand]
            if found and number != found.version and not (number == found.previous and key in there):
                continue
        kept.append(key)
    return kept


def _is_of_a_version(parts: list[str]) -> bool:
    return len(parts) == 5 and parts[0] == "pages" and parts[2].isascii() and parts[2].isdigit()


def _set(read: Read, brand: str) -> PageSet | None:
    """None for a brand without one: all of its pages are brought, since nothing says which are shown."""
    text = read(page_set_key(brand))
    if text is None:
        return None
    try:
        return read_page_set(text)
    except ValueError as error:
        raise InputError(f"{page_set_key(brand)}: {error}; publish the brand again") from error
