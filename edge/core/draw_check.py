"""A published draw, read and recomputed by whoever doubts it: every shape that no edge publishes is refused.

What the record alone can show: that the key is made of the seed, and the seed fits the commitment. That the commitment was there
before the opening, and who came, only those know who noted it (`stanchion draw verify --commitment, --arrivals`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edge.core import draw
from edge.core.draw_record import HOW, INFLUENCE
from edge.core.errors import ConfigError
from edge.core.model import LINES_AT_MOST
from edge.core.moments import Moment

PLACES_AT_MOST = 99_999_999  # of one line
_ID = re.compile("[a-z0-9-]{1,48}").fullmatch
_LANE = re.compile("[a-z0-9-]{1,32}").fullmatch
_HEX_SHA256 = re.compile("[0-9a-f]{64}").fullmatch
_HEX_SHA1 = re.compile("[0-9a-f]{40}").fullmatch


class BadRecord(ValueError):
    """A published record that cannot be read, or that contradicts itself; the message says where."""


@dataclass(frozen=True)
class Drawn:
    """A record that was read and whose commitment and key were recomputed. `lines`: of the queue's lanes, by name."""

    queue: str
    commitment: str
    key: str
    counts: tuple[int, ...]
    chain: str
    beacon: str | None
    lines: Mapping[str, int]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1000 and value.isprintable()


def _is_moment(value: Any) -> bool:
    try:
        return Moment().check(value, "") is not None
    except ConfigError:
        return False


def _is_counts(value: Any) -> bool:
    numbers = isinstance(value, list) and 0 < len(value) <= LINES_AT_MOST
    return numbers and all(type(count) is int and 0 <= count <= PLACES_AT_MOST for count in value)


def _is_lines(value: Any) -> bool:
    if not isinstance(value, dict) or not value or not all(map(_LANE, value)):
        return False
    numbers = list(value.values())
    return all(type(line) is int and 0 <= line < LINES_AT_MOST for line in numbers) and len(set(numbers)) == len(numbers)


def _matches(pattern: Callable[[str], object]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and bool(pattern(value))


def _or_null(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


# Every key of a record after the opening: what it has to be, in words and as a check.
_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "queue": ("the id of a queue", _matches(_ID)),
    "scope": ("the id of a queue or group", _matches(_ID)),
    "epoch": ("the generation, a text", _is_text),
    "opens_at": ("a moment in UTC", _is_moment),
    "opened_at": ("a moment in UTC", _is_moment),
    "order": ('"draw"', lambda value: value == "draw"),
    "commitment": ("64 hex digits", _matches(_HEX_SHA256)),
    "beacon": ("a text, or null", _or_null(_is_text)),
    "beacon_value": ("a text, or null", _or_null(_is_text)),
    "lines": ("the line of each lane by its name", _is_lines),
    "seed": ("64 hex digits", _matches(_HEX_SHA256)),
    "key": ("64 hex digits", _matches(_HEX_SHA256)),
    "counts": ("a list of how many came in each line", _is_counts),
    "chain": ("40 hex digits, or an empty text when nobody came", lambda value: value == "" or _matches(_HEX_SHA1)(value)),
    "how": ("the words of rules that this program knows; a newer one may know these", lambda value: value == HOW),
    "operator_could_influence": ("null with a beacon, else the words that say so", _or_null(lambda value: value == INFLUENCE)),
}  # fmt: skip


def _check_shape(value: Mapping[str, Any]) -> None:
    for key in value:
        if key not in _KEYS:
            raise BadRecord(f"{key[:80]}: no key of a record; it has {', '.join(_KEYS)}")
    for key, (says, is_right) in _KEYS.items():
        if key not in value:
            raise BadRecord(f"{key}: is missing; expected: {says}")
        if not is_right(value[key]):
            raise BadRecord(f"{key}: {str(value[key])[:80]!r} cannot be; expected: {says}")


def read_record(value: Any) -> Drawn:
    """Reads a published record and recomputes commitment and key. Raises BadRecord for what is missing or does not fit."""
    if not isinstance(value, dict):
        raise BadRecord("the record is no JSON object")
    if value.get("order") == "arrival":
        raise BadRecord("nothing was drawn: this queue takes people in the order of arrival")
    if "seed" in value and value["seed"] is None:
        raise BadRecord("the seed is not published: the queue has not opened yet; the commitment can be checked afterwards")
    _check_shape(value)
    counts, lines, beacon = tuple(value["counts"]), value["lines"], value["beacon_value"]
    outside = next((name for name, line in lines.items() if line >= len(counts)), None)
    if outside is not None:
        raise BadRecord(f"lines: {outside} is line {lines[outside]}, and counts has lines 0 to {len(counts) - 1}")
    if value["chain"] and not sum(counts):
        raise BadRecord("chain: somebody came by the chain, and nobody by counts")
    if value["beacon"] and not beacon and sum(counts):
        raise BadRecord("beacon_value: a beacon was named, and its value is missing")
    if (value["beacon"] is None) is (value["operator_could_influence"] is None):
        raise BadRecord("operator_could_influence: null with a beacon, else the words that say so")
    found, made = draw.commitment(value["seed"]), draw.key(value["seed"], beacon or "")
    if value["commitment"] != found:
        raise BadRecord(f"commitment: the record says {value['commitment']}, the seed makes {found}")
    if value["key"] != made:
        raise BadRecord(f"key: the record says {value['key']}, seed and beacon make {made}")
    return Drawn(value["queue"], found, made, counts, value["chain"], beacon, lines)


def place_in(drawn: Drawn, line: int, number: int) -> int:
    """The place of an arrival. Raises BadRecord for a line or a number that the record does not have."""
    if not 0 <= line < len(drawn.counts):
        raise BadRecord(f"line {line}: the record has lines 0 to {len(drawn.counts) - 1}")
    try:
        return draw.place(drawn.key, line, number, drawn.counts[line])
    except ValueError as error:
        raise BadRecord(str(error)) from error


def check_permutation(drawn: Drawn, line: int, places: Sequence[int]) -> None:
    """Raises BadRecord unless the places of all arrivals of a line are each of 1..N once."""
    if sorted(places) != list(range(1, drawn.counts[line] + 1)):
        raise BadRecord(f"line {line}: the places are not each of 1 to {drawn.counts[line]} once")


def check_chain(drawn: Drawn, arrivals: Sequence[tuple[int, int, str]]) -> None:
    """Raises BadRecord unless these arrivals, in this order, make the published counts and the published head."""
    counts = [0] * len(drawn.counts)
    for line, number, _ in arrivals:
        if not 0 <= line < len(counts) or number != counts[line] + 1:
            raise BadRecord(f"arrivals: number {number} of line {line} is out of turn")
        counts[line] = number
    if tuple(counts) != drawn.counts:
        raise BadRecord(f"arrivals: {counts} came by the list, {list(drawn.counts)} by the record")
    head = draw.chain_head(arrivals)
    if head != drawn.chain:
        raise BadRecord(f"chain: the record says {drawn.chain}, the arrivals make {head}")
