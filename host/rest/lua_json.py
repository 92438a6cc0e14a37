"""`cjson` as Redis ships it: 14 digits, `/` escaped, an empty table is an object.

Results are (True, value) or (False, problem).

Source: lua-cjson's documented defaults (encode_sparse_array: off, 2, 10; depth 1000; numbers with 14 digits).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from hashlib import sha1
from typing import Any

_MAX_DEPTH = 1000
#: Above this index a table with holes counts as sparse when less than half of it is filled.
_SAFE_INDEX, _SPARSE_RATIO = 10, 2
_ESCAPES = {
    **{code: f"\\u{code:04x}".encode() for code in [*range(0x20), 0x7F]},
    **{code: b"\\" + bytes([letter]) for code, letter in zip(b'"\\/\b\t\n\f\r', b'"\\/btnfr', strict=True)},
}
_TO_ESCAPE = re.compile(rb'[\x00-\x1f\x7f"\\/]')
Outcome = tuple[bool, Any]


def sha1hex(text: bytes) -> bytes:
    """`redis.sha1hex`."""
    return sha1(text).hexdigest().encode()


class Codec:
    """Encodes Lua values and decodes to them; `null` stands for JSON's null."""

    def __init__(self, lua_type: Callable[[Any], str | None], table_from: Callable[..., Any], null: object) -> None:
        self._lua_type = lua_type
        self._table_from = table_from
        self._null = null

    def encode(self, *values: Any) -> Outcome:
        """`cjson.encode(value)`."""
        if len(values) != 1:
            return False, b"bad argument #1 to 'encode' (expected 1 argument)"
        try:
            return True, self._text(values[0], 1)
        except ValueError as error:
            return False, str(error).encode()

    def decode(self, *texts: Any) -> Outcome:
        """`cjson.decode(text)`. Numbers become doubles, as Lua has no others."""
        if len(texts) != 1 or not isinstance(texts[0], bytes):
            return False, b"bad argument #1 to 'decode' (string expected)"
        try:
            value = json.loads(texts[0].decode("utf-8", "surrogateescape"), parse_int=float)
            return True, self._lua_value(value, 1)
        except (ValueError, RecursionError) as error:
            return False, f"Expected value but found invalid token ({error})".encode("utf-8", "replace")

    def _lua_value(self, value: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ValueError(f"too many nested data structures ({depth})")
        if value is None:
            return self._null
        if isinstance(value, str):
            return value.encode("utf-8", "surrogateescape")
        if isinstance(value, list):
            return self._table_from([self._lua_value(item, depth + 1) for item in value])
        if isinstance(value, dict):
            return self._table_from(
                {name.encode("utf-8", "surrogateescape"): self._lua_value(item, depth + 1) for name, item in value.items()}
            )
        return value

    def _text(self, value: Any, depth: int) -> bytes:
        if value is None or value is self._null:
            return b"null"
        if isinstance(value, bytes):
            return _quoted(value)
        if isinstance(value, bool):
            return b"true" if value else b"false"
        if isinstance(value, (int, float)):
            return _number(value)
        kind = self._lua_type(value) or "userdata"
        if kind != "table":
            raise ValueError(f"Cannot serialise {kind}: type not supported")
        if depth > _MAX_DEPTH:
            raise ValueError(f"Cannot serialise, excessive depth ({depth})")
        pairs = list(value.items())
        length = _array_length([key for key, _ in pairs])
        if length is None:
            return b"{" + b",".join(self._pair(key, item, depth) for key, item in pairs) + b"}"
        return b"[" + b",".join(self._text(value[index], depth + 1) for index in range(1, length + 1)) + b"]"

    def _pair(self, key: Any, item: Any, depth: int) -> bytes:
        if isinstance(key, bytes):
            name = _quoted(key)
        elif isinstance(key, (int, float)) and not isinstance(key, bool):
            name = b'"' + _number(key) + b'"'
        else:
            kind = "boolean" if isinstance(key, bool) else self._lua_type(key) or "userdata"
            raise ValueError(f"Cannot serialise {kind}: table key must be a number or string")
        return name + b":" + self._text(item, depth + 1)


def _array_length(keys: list[Any]) -> int | None:
    """The highest index when the table is an array; None for an object. Raises ValueError when it is sparse."""
    if not keys or not all(type(key) is int and key > 0 for key in keys):
        return None
    highest: int = max(keys)
    if highest > _SAFE_INDEX and highest > len(keys) * _SPARSE_RATIO:
        raise ValueError("Cannot serialise table: excessively sparse array")
    return highest


def _number(value: float) -> bytes:
    if not math.isfinite(value):
        raise ValueError("Cannot serialise number: must not be NaN or Inf")
    return format(float(value), ".14g").encode()


def _quoted(text: bytes) -> bytes:
    return b'"' + _TO_ESCAPE.sub(lambda match: _ESCAPES[match[0][0]], text) + b'"'
