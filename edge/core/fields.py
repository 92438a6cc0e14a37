"""Small checkers for JSON values: one description gives the check, the error text and the JSON Schema.

`check(value, path)` returns the value or raises ConfigError with the path and what is allowed. Times are in edge/core/moments.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from edge.core.errors import ConfigError

_SHOWN_AT_MOST = 80


def _shown(value: Any) -> str:
    """A wrong value as the message shows it, however large it is."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, a list in a list in a list
        text = f"this {type(value).__name__}"
    return text if len(text) <= _SHOWN_AT_MOST else text[:_SHOWN_AT_MOST] + "..."


@dataclass(frozen=True)
class Int:
    """A whole number from `low` to `high`; None too when `optional`."""

    low: int
    high: int
    optional: bool = False

    def check(self, value: Any, path: str) -> int | None:
        """The number. A boolean is not one; 5.0 is the number 5, as it is in JSON Schema."""
        if value is None and self.optional:
            return None
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not is_whole or not self.low <= value <= self.high:
            raise ConfigError(path, f"{_shown(value)} is not allowed: a whole number from {self.low} to {self.high}"
                              + (", or null for none" if self.optional else ""))  # fmt: skip
        return int(value)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        return {"type": ["integer", "null"] if self.optional else "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True)
class Bool:
    """true or false."""

    def check(self, value: Any, path: str) -> bool:
        """The truth value itself; 1 and "true" are not one."""
        if not isinstance(value, bool):
            raise ConfigError(path, f"{_shown(value)} is not allowed: true or false")
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Text:
    """A text that matches `pattern` as a whole; `says` puts the pattern in words."""

    pattern: str
    says: str
    max_length: int
    optional: bool = False

    def __post_init__(self) -> None:
        _ = self._matches  # compiled with the component, not at a request

    @cached_property
    def _matches(self) -> Callable[[str], object]:
        return re.compile(self.pattern).fullmatch

    def check(self, value: Any, path: str) -> str | None:
        """The text."""
        if value is None and self.optional:
            return None
        if not isinstance(value, str) or len(value) > self.max_length or not self._matches(value):
            raise ConfigError(path, f"{_shown(value)} is not allowed: {self.says}, at most {self.max_length} characters")
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        # `$` also matches before a line feed at the end; a bound on what follows closes that.
        kind = ["string", "null"] if self.optional else "string"
        return {"type": kind, "pattern": f"^(?:{self.pattern})$(?!\\n)", "maxLength": self.max_length, "description": self.says}


@dataclass(frozen=True)
class Choice:
    """One of a closed list; None too when `optional`."""

    values: tuple[Any, ...]
    optional: bool = False

    def check(self, value: Any, path: str) -> Any:
        """The value as the list has it: 503.0 is 503, but true is not 1."""
        if value is None and self.optional:
            return None
        for allowed in self.values:
            if value == allowed and isinstance(value, bool) is isinstance(allowed, bool):
                return allowed
        or_null = ", or null" if self.optional else ""
        raise ConfigError(path, f"{_shown(value)} is not allowed: one of {', '.join(map(str, self.values))}{or_null}")

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        return {"enum": [*self.values, None] if self.optional else list(self.values)}


@dataclass(frozen=True)
class ListOf:
    """A list of `item`, with `low` to `high` members, none twice."""

    item: Any
    low: int
    high: int
    optional: bool = False

    def check(self, value: Any, path: str) -> tuple[Any, ...] | None:
        """The members as a tuple."""
        if value is None and self.optional:
            return None
        if not isinstance(value, list) or not self.low <= len(value) <= self.high:
            raise ConfigError(path, f"must be a list of {self.low} to {self.high} members")
        members = tuple(self.item.check(member, f"{path}[{index}]") for index, member in enumerate(value))
        seen: set[Any] = set()
        for index, member in enumerate(members):
            if member in seen:
                raise ConfigError(f"{path}[{index}]", "is in the list already")
            seen.add(member)
        return members

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        kind = ["array", "null"] if self.optional else "array"
        return {"type": kind, "items": self.item.schema(), "minItems": self.low, "maxItems": self.high, "uniqueItems": True}


@dataclass(frozen=True)
class MapOf:
    """An object whose keys are texts of `key`, each with an `item`; at most `high` of them."""

    key: Text
    item: Any
    high: int

    def check(self, value: Any, path: str) -> tuple[tuple[str, Any], ...]:
        """The pairs, in their order."""
        if not isinstance(value, dict) or len(value) > self.high:
            raise ConfigError(path, f"must be an object with at most {self.high} members")
        out = []
        for key, member in value.items():
            where = f"{path}.{key[:_SHOWN_AT_MOST]}"
            out.append((str(self.key.check(key, where)), self.item.check(member, where)))
        return tuple(out)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        return {"type": "object", "propertyNames": self.key.schema(), "additionalProperties": self.item.schema(),
                "maxProperties": self.high}  # fmt: skip


_REQUIRED = object()


@dataclass(frozen=True)
class Field:
    """One key of an object: what it may be, its default, unit and meaning."""

    name: str
    kind: Any
    meaning: str
    default: Any = _REQUIRED
    unit: str = ""

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is _REQUIRED


def _as_json(field: Field) -> Any:
    if isinstance(field.kind, MapOf):
        return dict(field.default)
    return list(field.default) if isinstance(field.default, tuple) else field.default


@dataclass(frozen=True)
class Obj:
    """An object with exactly these keys; `build` makes the value from them."""

    fields: Sequence[Field]
    build: Callable[[Mapping[str, Any]], Any]

    @cached_property
    def _by_name(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        return {field.name: field.default for field in self.fields if not field.required}

    def check(self, value: Any, path: str) -> Any:
        """What `build` makes of the checked members, defaults filled in."""
        if not isinstance(value, dict):
            raise ConfigError(path, "must be an object")
        out = dict(self._defaults)
        start = f"{path}." if path else ""
        for name, member in value.items():
            field = self._by_name.get(name)
            if field is None:
                raise ConfigError(f"{start}{name[:_SHOWN_AT_MOST]}", f"unknown key; known are {', '.join(sorted(self._by_name))}")
            out[name] = field.kind.check(member, start + name)
        if len(out) < len(self.fields):
            field = next(field for field in self.fields if field.name not in out)
            raise ConfigError(start + field.name, f"is missing: {field.meaning}")
        return self.build(out)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this object."""
        members: dict[str, Any] = {}
        for field in self.fields:
            entry = dict(field.kind.schema())
            entry["description"] = field.meaning + (f" (unit: {field.unit})" if field.unit else "")
            if not field.required:
                entry["default"] = _as_json(field)
            members[field.name] = entry
        return {"type": "object", "properties": members, "required": [f.name for f in self.fields if f.required],
                "additionalProperties": False}  # fmt: skip
