"""JSON that people write, read in one way everywhere: configurations, bodies of requests, brands, published draws.

Stricter than Python's own reader, and every fault has a place and says what to do.
"""

from __future__ import annotations

import json
import re
from typing import Any

from edge.core.errors import ConfigError

DEPTH_AT_MOST = 32  # a configuration needs seven
DIGITS_AT_MOST = 400  # more than any number of ours, also as a fraction
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]', re.DOTALL)
_BOM = "\ufeff"
# What Python says, and what that means for whoever wrote the text.
_MEANS = {
    "Expecting value": "a value was expected",
    "Expecting property name enclosed in double quotes": "a key in double quotes was expected",
    "Expecting ':' delimiter": "a colon was expected after the key",
    "Expecting ',' delimiter": "a comma was expected, or the end of the list or object",
    "Extra data": "the value ends before this, and something follows",
    "Unterminated string starting at": "this text has no closing quote",
    "Invalid control character at": "a line break or another control character stands in a text: write it as \\n",
    "Invalid \\escape": "this backslash begins no escape: write \\\\ for a backslash",
    "Invalid \\uXXXX escape": "\\u takes four hex digits",
}  # fmt: skip


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ConfigError(key[:80], "this key stands twice in one object: leave one of them out")
        out[key] = value
    return out


def _no_constant(name: str) -> Any:
    raise ConfigError("", f"is not JSON: {name} is not a number that JSON has; write a number, or null for none")


def _whole(digits: str) -> int:
    count = len(digits.lstrip("-"))
    if count > DIGITS_AT_MOST:
        raise ConfigError("", f"has a number of {count} digits: at most {DIGITS_AT_MOST} can be read")
    return int(digits)


def _depth(text: str) -> int:
    """How deep brackets stand in one another. The component's stack is small, and a parser that runs out of it ends the gate."""
    depth = deepest = 0
    for mark in _BRACKETS.findall(text):
        depth += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, depth)
    return deepest


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError("", f"is not UTF-8 ({error.reason} at byte {error.start}): save it as UTF-8") from error


def _check_characters(text: str, parsed: Any) -> None:
    """Refuses half characters: JSON can spell them, but no UTF-8 text can hold them."""
    shown = json.dumps(parsed, ensure_ascii=False) if "\\u" in text else text
    try:
        shown.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(shown[error.start]):04x}"
        raise ConfigError("", f"has half a character, {half}: such an escape stands for one only together with its other half"
                          ) from error  # fmt: skip


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text from anywhere. Raises ConfigError, whose problem reads on from the text's name.

    Refused: what is not UTF-8, a byte order mark, objects and lists too deep in one another, a key twice in one object, NaN and
    infinities, numbers of more than DIGITS_AT_MOST digits, half characters (lone surrogates), and what is no JSON.
    """
    if isinstance(text, bytes):
        text = _decoded(text)
    if text.startswith(_BOM):
        raise ConfigError("", "begins with a byte order mark: save it as UTF-8 without one")
    if _depth(text) > DEPTH_AT_MOST:
        raise ConfigError("", f"has objects and lists deeper than {DEPTH_AT_MOST} in one another")
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant, parse_int=_whole)
    except json.JSONDecodeError as error:
        what = _MEANS.get(error.msg, error.msg)
        raise ConfigError("", f"is not JSON: line {error.lineno}, column {error.colno}: {what}") from error
    except RecursionError as error:
        raise ConfigError("", f"has objects and lists deeper than {DEPTH_AT_MOST} in one another") from error
    _check_characters(text, value)
    return value
