"""How each kind of value stands in a form: as texts under names, and back.

Nothing typed is lost: what cannot be read stays a text. The core judges what comes out; a text where a number should be gets the
core's own words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from admin.configure.zones import BadMoment, local_text, same_moment, utc_moment
from edge.core.errors import ConfigError
from edge.core.fields import Bool, Choice, Field, Int, ListOf, MapOf, Obj, Text
from edge.core.json_text import read_json
from edge.core.moments import Moment

# Names and texts of a form, as it was sent.
Typed = Mapping[str, Sequence[str]]
ROWS_AT_MOST = 250
SHOWN = "shown"  # names the fields that a form has, for an unticked box sends nothing
_NUMBER = re.compile(r"-?[0-9]{1,18}").fullmatch
_GROUPED = re.compile(r"(?<=[0-9])[ ,_.'\u00a0\u202f](?=[0-9]{3}(?![0-9]))")


class Unreadable(Exception):
    """Something that only the form can say is wrong. `path` is within the entry."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path
        self.problem = problem


def widget_of(field: Field) -> str:
    """Which kind of control a field gets."""
    kind = field.kind
    if field.name == "countries":
        return "countries"
    if isinstance(kind, Int):
        return "number"
    if isinstance(kind, Bool):
        return "check"
    if isinstance(kind, Choice):
        return "choice"
    if isinstance(kind, Moment):
        return "moment"
    if isinstance(kind, Text):
        return "text"
    if isinstance(kind, ListOf) and isinstance(kind.item, Obj):
        return "rows"
    if isinstance(kind, ListOf) and isinstance(kind.item, (Text, Choice)):
        return "lines"
    return "json"


def is_optional(field: Field) -> bool:
    """Whether null is a value of it."""
    return bool(getattr(field.kind, "optional", False))


# --- to the form ----------------------------------------------------------------------------------------------------


def as_text(field: Field, value: Any, zone: str) -> str:
    """A plain value as its control shows it."""
    widget = widget_of(field)
    if value is None:
        return ""
    if widget == "moment":
        return local_text(value, zone) if isinstance(value, str) else str(value)
    if widget in ("lines", "countries") and isinstance(value, list):
        return "\n".join(map(str, value))
    if widget == "json":
        return json.dumps(value, indent=2, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


# --- from the form --------------------------------------------------------------------------------------------------


def first(typed: Typed, name: str) -> str:
    """The text under a name, or an empty one."""
    values = typed.get(name, ())
    return values[0].strip() if values else ""


def read_field(field: Field, typed: Typed, name: str, old: Any, zone: str) -> Any:
    """The value of one control. `old`: what the entry says now, kept where it means the same. Raises Unreadable."""
    widget = widget_of(field)
    if widget == "check":
        return bool(first(typed, name))
    if widget == "rows":
        return _rows(field.kind.item.fields, typed, name, old, zone)
    if widget in ("lines", "countries"):
        return _lines(field, typed.get(name, ()))
    text = first(typed, name)
    if widget == "moment":
        return _moment(text, old, zone, name)
    if widget == "number":
        return _number(text, field)
    if widget == "json":
        return _json(text, field, name)
    return None if not text and is_optional(field) else _choice(field, text)


def _number(text: str, field: Field) -> Any:
    if not text and is_optional(field):
        return None
    plain = _GROUPED.sub("", text)
    return int(plain) if _NUMBER(plain) else text


def _choice(field: Field, text: str) -> Any:
    """A choice may be a number, as the status of a held answer."""
    values = field.kind.values if isinstance(field.kind, Choice) else ()
    return next((value for value in values if str(value) == text), text)


def _lines(field: Field, texts: Sequence[str]) -> list[str] | None:
    found = [line.strip() for text in texts for line in re.split(r"[\r\n]+", text)]
    found = list(dict.fromkeys(line for line in found if line))
    return None if not found and is_optional(field) else found


def _moment(text: str, old: Any, zone: str, name: str) -> str | None:
    if isinstance(old, str) and same_moment(text, old, zone):
        return old
    try:
        return utc_moment(text, zone)
    except BadMoment as error:
        raise Unreadable(name, str(error)) from error


def _json(text: str, field: Field, name: str) -> Any:
    if not text:
        return {} if isinstance(field.kind, MapOf) else None
    try:
        return read_json(text)
    except ConfigError as error:
        raise Unreadable(name, str(error)) from error


def _rows(fields: Sequence[Field], typed: Typed, name: str, old: Any, zone: str) -> list[dict[str, Any]]:
    """The rows of a table that have anything in them. A row that says what it said stays as it was written."""
    before = old if isinstance(old, list) else []
    out = []
    for number in _row_numbers(typed, name):
        start = f"{name}[{number}]"
        values = {each.name: _cell(each, typed, f"{start}.{each.name}", zone) for each in fields}
        if any(values[each.name] not in (None, "", [], False) and not _is_default(each, values[each.name]) for each in fields):
            out.append(_as_written(fields, values, before))
    return out


def _row_numbers(typed: Typed, name: str) -> list[int]:
    pattern = re.compile(rf"{re.escape(name)}\[([0-9]{{1,4}})\]\.")
    return sorted({int(found[1]) for key in typed if (found := pattern.match(key))})[:ROWS_AT_MOST]


def _cell(field: Field, typed: Typed, name: str, zone: str) -> Any:
    if widget_of(field) == "lines":  # a cell has one line: words
        return [word for text in typed.get(name, ()) for word in re.split(r"[\s,]+", text.strip()) if word]
    value = read_field(field, typed, name, None, zone)
    return field.default if value == "" and not field.required else value


def _default(field: Field) -> Any:
    """As JSON has it; None where there is none."""
    if field.required:
        return None
    return list(field.default) if isinstance(field.default, tuple) else field.default


def _is_default(field: Field, value: Any) -> bool:
    return not field.required and value == _default(field)


def _as_written(fields: Sequence[Field], values: dict[str, Any], before: Sequence[Any]) -> dict[str, Any]:
    for row in before:
        if isinstance(row, dict) and all(row.get(each.name, _default(each)) == values[each.name] for each in fields):
            return row
    return {each.name: values[each.name] for each in fields if not _is_default(each, values[each.name])}
