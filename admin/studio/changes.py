"""What differs between two states of a brand: in words for its values, line by line for its files."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from admin.studio.content import BRAND_FILE, TEXT_NAME, Content

#: Lines around a change that are shown with it.
CONTEXT_LINES = 2


@dataclass(frozen=True)
class ValueChange:
    """A value of brand.json, by its dotted path. None: there is none."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class FileChange:
    """A file. `what`: added, removed or changed; `lines`: of a unified diff, empty for a picture."""

    name: str
    what: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """Everything that differs."""

    values: tuple[ValueChange, ...]
    files: tuple[FileChange, ...]

    def __bool__(self) -> bool:
        return bool(self.values or self.files)


def changes(before: Content | None, after: Content) -> Changes:
    """What became of `before`; None: there was nothing."""
    old, new = (before.values if before else {}), after.values
    return Changes(tuple(_values(old, new)), tuple(_files(before.files if before else {}, after.files)))


def _values(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "") -> Iterator[ValueChange]:
    for key in sorted(old.keys() | new.keys()):
        one, other = old.get(key), new.get(key)
        if one == other:
            continue
        here = f"{path}{key}"
        if isinstance(one, dict | None) and isinstance(other, dict | None):
            yield from _values(one or {}, other or {}, f"{here}.")
        else:
            yield ValueChange(here, _shown(one), _shown(other))


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _files(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[FileChange]:
    for name in sorted((old.keys() | new.keys()) - {BRAND_FILE}):
        one, other = old.get(name), new.get(name)
        if one != other:
            what = "added" if one is None else "removed" if other is None else "changed"
            yield FileChange(name, what, _lines(name, one or b"", other or b""))


def _lines(name: str, one: bytes, other: bytes) -> tuple[str, ...]:
    if not TEXT_NAME.fullmatch(name):
        return ()
    found = difflib.unified_diff(one.decode().splitlines(), other.decode().splitlines(), lineterm="", n=CONTEXT_LINES)
    return tuple(found)[2:]
