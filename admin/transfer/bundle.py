"""The file: one JSON object with a part for each kind of thing. Secrets are in none of them.

`configuration`: as it is published. `crawlers`: the list of search crawlers, as it stands in the store. `pages`: of each brand
the pages in force, by language and state. `sources`: what those pages were made of, for
brands that were edited here. `drafts`: brands that somebody works on. `people`: names and roles, without passwords,
second factors and tokens. `schedule`: steps that are to come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edge.core.errors import ConfigError
from edge.core.json_text import read_json
from edge.core.moments import moment_text

FORMAT = 1
MARK = "stanchion_export"
PARTS = ("configuration", "crawlers", "pages", "sources", "drafts", "people", "schedule")
BUNDLE_MAX_BYTES = 64_000_000
_SHAPES: Mapping[str, type] = {
    "configuration": dict, "crawlers": str, "pages": dict, "sources": dict, "drafts": list, "people": list, "schedule": list,
}  # fmt: skip


class BadBundle(Exception):
    """The file cannot be taken. `faults`: each a place and what is wrong there."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        shown = "; ".join(f"{place}: {problem}" if place else problem for place, problem in faults[:5])
        super().__init__(shown + (f" (and {len(faults) - 5} more)" if len(faults) > 5 else ""))
        self.faults = tuple(faults)


@dataclass(frozen=True)
class Bundle:
    """A file that was read. A part that it does not have is None."""

    configuration: dict[str, Any] | None = None
    crawlers: str | None = None
    pages: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None
    sources: Mapping[str, Any] | None = None
    drafts: Sequence[Mapping[str, Any]] | None = None
    people: Sequence[Mapping[str, Any]] | None = None
    schedule: Sequence[Mapping[str, Any]] | None = None
    made_at: str = field(default="", compare=False)

    def public(self) -> dict[str, Any]:
        """The file's value; parts that are None are left out."""
        parts = {name: getattr(self, name) for name in PARTS}
        return {MARK: FORMAT, "made_at": self.made_at, **{name: part for name, part in parts.items() if part is not None}}


def made(now_ms: int, **parts: Any) -> Bundle:
    """A new file."""
    return Bundle(made_at=moment_text(now_ms // 1000 * 1000), **parts)


def read_bundle(data: str | bytes) -> Bundle:
    """Reads a file. Raises BadBundle."""
    if len(data) > BUNDLE_MAX_BYTES:
        raise BadBundle([("", f"the file is larger than {BUNDLE_MAX_BYTES} bytes")])
    try:
        return bundle_of(read_json(data))
    except ConfigError as error:
        raise BadBundle([(error.path, f"the file {error.problem}")]) from error


def bundle_of(value: Any) -> Bundle:
    """The bundle of a parsed value. Raises BadBundle."""
    if not isinstance(value, dict) or value.get(MARK) != FORMAT:
        raise BadBundle([(MARK, f"is not {FORMAT}: this is no file that an export of this version made")])
    faults = [(name, f"is unknown; parts are {', '.join(PARTS)}") for name in value if name not in (MARK, "made_at", *PARTS)]
    for name, shape in _SHAPES.items():
        if name in value and not isinstance(value[name], shape):
            faults.append((name, f"must be {'a text' if shape is str else 'an object' if shape is dict else 'a list'}"))
    if not faults:
        faults = [*_pages(value.get("pages", {})), *_rows(value)]
    if faults:
        raise BadBundle(faults)
    return Bundle(**{name: value[name] for name in PARTS if name in value}, made_at=str(value.get("made_at", "")))


def _pages(pages: Mapping[str, Any]) -> list[tuple[str, str]]:
    faults = []
    for brand, languages in pages.items():
        is_shaped = isinstance(languages, dict) and all(
            isinstance(states, dict) and all(isinstance(text, str) for text in states.values()) for states in languages.values()
        )
        if not is_shaped:
            faults.append((f"pages.{brand}", "must be an object of languages, each an object of pages by state"))
    return faults


_ROWS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "drafts": {"brand": (str,), "content": (dict,)},
    "people": {"name": (str,), "role": (str,), "disabled": (bool,)},
    "schedule": {"id": (str,), "queue": (str,), "at": (str,), "changes": (dict, type(None)), "action": (str,), "by": (str,)},
}


def _rows(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    faults = []
    for part, fields in _ROWS.items():
        for number, row in enumerate(value.get(part, ())):
            place = f"{part}[{number}]"
            if not isinstance(row, dict):
                faults.append((place, "must be an object"))
                continue
            faults += [(f"{place}.{name}", "is missing or of another kind") for name, kinds in fields.items()
                       if not isinstance(row.get(name), kinds)]  # fmt: skip
    return faults
