"""Which pages a deploy brings: the version of each brand that is in force, and the one before where it is there already.

Every page is a change, and Fastly takes 1,000 an hour. Older versions are for rolling back, which publishing brings up again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from cli.deploy.inputs import InputError
from edge.core.page_set import PageSet, page_set_key, read_page_set


def needed(values: Mapping[str, str], there: Collection[str]) -> dict[str, str]:
    """The values without the pages that no edge would show. `there`: keys that the store has. Raises InputError."""
    sets: dict[str, PageSet | None] = {}
    kept = {}
    for key, text in values.items():
        parts = key.split("/")
        if _is_of_a_version(parts):
            brand, number = parts[1], int(parts[2])
            if brand not in sets:
                sets[brand] = _set(values, brand)
            found = sets[brand]
            if found and number != found.version and not (number == found.previous and key in there):
                continue
        kept[key] = text
    return kept


def _is_of_a_version(parts: list[str]) -> bool:
    return len(parts) == 5 and parts[0] == "pages" and parts[2].isascii() and parts[2].isdigit()


def _set(values: Mapping[str, str], brand: str) -> PageSet | None:
    """None for a brand without one: all of its pages are brought, since nothing says which are shown."""
    key = page_set_key(brand)
    if key not in values:
        return None
    try:
        return read_page_set(values[key])
    except ValueError as error:
        raise InputError(f"{key}: {error}; publish the brand again") from error
