"""Small checkers for JSON values: one description gives the check, the error text and the JSON Schema.

`check(value, path)` returns the value or raises ConfigError with the path and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edge.core.errors import ConfigError


@dataclass(frozen=True)
class Int:
    """A whole number from `low` to `high`; None too when `optional`."""

    low: int
    high: int
    optional: bool = False

    def check(self, value: Any, path: str) -> int | None:
        """The number. A boolean or a float is not one."""
        if value is None and self.optional:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise ConfigError(path, f"{value!r} is not allowed: a whole number from {self.low} to {self.high}"
                              + (", or null for none" if self.optional else ""))  # fmt: skip
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        return {"type": ["integer", "null"] if self.optional else "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True)
class Bool:
    """true or false."""

    def check(self, value: Any, path: str) -> bool:
        """The truth value itself; 1 and "true" are not one."""
        if not isinstance(value, bool):
            raise ConfigError(path, f"{value!r} is not allowed: true or false")
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

    def check(self, value: Any, path: str) -> str | None:
        """The text."""
        if value is None and self.optional:
            return None
        if not isinstance(value, str) or len(value) > self.max_length or not re.fullmatch(self.pattern, value):
            raise ConfigError(path, f"{str(value)[:80]!r} is not allowed: {self.says}, at most {self.max_length} characters")
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        # `$` also matches before a line feed at the end; a bound on what follows closes that.
        kind = ["string", "null"] if self.optional else "string"
        return {"type": kind, "pattern": f"^(?:{self.pattern})$(?!\\n)", "maxLength": self.max_length, "description": self.says}


@dataclass(frozen=True)
class Choice:
    """One of a closed list."""

    values: tuple[Any, ...]

    def check(self, value: Any, path: str) -> Any:
        """The value, one of the list and of the same type."""
        if not any(value == allowed and type(value) is type(allowed) for allowed in self.values):
            raise ConfigError(path, f"{value!r} is not allowed: one of {', '.join(map(str, self.values))}")
        return value

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        return {"enum": list(self.values)}


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
        for index, member in enumerate(members):
            if member in members[:index]:
                raise ConfigError(f"{path}[{index}]", "is in the list already")
        return members

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        kind = ["array", "null"] if self.optional else "array"
        return {"type": kind, "items": self.item.schema(), "minItems": self.low, "maxItems": self.high, "uniqueItems": True}


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


@dataclass(frozen=True)
class Obj:
    """An object with exactly these keys; `build` makes the value from them."""

    fields: Sequence[Field]
    build: Callable[[Mapping[str, Any]], Any]

    def check(self, value: Any, path: str) -> Any:
        """What `build` makes of the checked members, defaults filled in."""
        if not isinstance(value, dict):
            raise ConfigError(path, "must be an object")
        known = {field.name for field in self.fields}
        for name in value:
            if name not in known:
                raise ConfigError(f"{path}.{name}" if path else name, f"unknown key; known are {', '.join(sorted(known))}")
        out: dict[str, Any] = {}
        for field in self.fields:
            where = f"{path}.{field.name}" if path else field.name
            if field.name in value:
                out[field.name] = field.kind.check(value[field.name], where)
            elif field.required:
                raise ConfigError(where, f"is missing: {field.meaning}")
            else:
                out[field.name] = field.default
        return self.build(out)

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this object."""
        members: dict[str, Any] = {}
        for field in self.fields:
            entry = dict(field.kind.schema())
            entry["description"] = field.meaning + (f" (unit: {field.unit})" if field.unit else "")
            if not field.required:
                entry["default"] = list(field.default) if isinstance(field.default, tuple) else field.default
            members[field.name] = entry
        return {"type": "object", "properties": members, "required": [f.name for f in self.fields if f.required],
                "additionalProperties": False}  # fmt: skip
