"""Which pages go to Fastly: of each brand that a queue shows the version in force, and the one before where it is there already.

Every page is a change, and Fastly takes 1,000 an hour. Older versions are for rolling back, which brings them up again; a brand
comes with the configuration that names it. A brand that the store has any page of is kept right, whoever brought it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from cli.deploy.inputs import InputError
from edge.core.config import CONFIG_KEY, load_config
from edge.core.errors import ConfigError
from edge.core.page_set import PageSet, page_set_key, read_page_set

Read = Callable[[str], str | None]


def needed(keys: Iterable[str], read: Read, there: Collection[str]) -> list[str]:
    """The keys without those of pages that no edge would show. `there`: keys that the store has. Raises InputError."""
    sets: dict[str, PageSet | None] = {}
    shown = _shown(read(CONFIG_KEY), there)
    kept = []
    for key in keys:
        parts = key.split("/")
        if len(parts) > 2 and parts[0] == "pages" and shown is not None and parts[1] not in shown:
            continue
        if _is_of_a_version(parts):
            brand, number = parts[1], int(parts[2])
            if brand not in sets:
                sets[brand] = _set(read, brand)
            found = sets[brand]
            if found and number != found.version and not (number == found.previous and key in there):
                continue
        kept.append(key)
    return kept


def _shown(config: str | None, there: Collection[str]) -> set[str] | None:
    """The brands that queues show, and those that the store has; None when a configuration that can be read does not say."""
    if config is None:
        return None
    try:
        queues = load_config(config).queues
    except ConfigError:
        return None  # whoever brings it says what is wrong with it
    return {queue.page for queue in queues} | {key.split("/")[1] for key in there if key.startswith("pages/")}


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
