"""What is published of a draw at /.stanchion/<queue>/draw, and how anyone checks it.

Before opening: the commitment and how the order will be made. Afterwards: seed, beacon, N of each line and the chain's head.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edge.core import draw
from edge.core.moments import moment_text

_HOW = (
    "key = HMAC-SHA256(seed, beacon_value or nothing); a place is the keyed permutation (eight Feistel rounds of SHA-1, cycle "
    "walking) of the arrival number over 1..N of its line"
)
_INFLUENCE = "the operator knows the seed in advance and could add arrivals to choose N, and so the order"
_HEX_SHA256 = re.compile("[0-9a-f]{64}").fullmatch


@dataclass(frozen=True)
class Opening:
    """The facts of one opening. `counts`: N of each line of the scope, empty before; `seed`: hex, shown only afterwards.

    `is_drawn`: the order is drawn; else it is that of arrival, and there is nothing to commit to.
    """

    is_drawn: bool
    scope: str
    epoch: str
    opens_at_ms: int
    opened_at_ms: int
    seed: str
    beacon_name: str | None
    beacon: str
    counts: tuple[int, ...]
    chain: str

    @property
    def is_open(self) -> bool:
        """Whether the order stands."""
        return self.opened_at_ms > 0


def record(queue_id: str, lines: Mapping[str, int], opening: Opening) -> dict[str, Any]:
    """The published JSON. `lines`: the queue's lanes by name with their line in the scope."""
    shown = opening.is_open and opening.is_drawn
    return {
        "queue": queue_id,
        "scope": opening.scope,
        "epoch": opening.epoch,
        "opens_at": moment_text(opening.opens_at_ms),
        "opened_at": moment_text(opening.opened_at_ms) if opening.is_open else None,
        "order": "draw" if opening.is_drawn else "arrival",
        "commitment": draw.commitment(opening.seed) if opening.is_drawn else None,
        "beacon": opening.beacon_name,
        "beacon_value": opening.beacon or None,
        "lines": dict(lines),
        "seed": opening.seed if shown else None,
        "key": draw.key(opening.seed, opening.beacon) if shown else None,
        "counts": list(opening.counts) if shown else None,
        "chain": opening.chain if opening.is_open else None,
        "how": _HOW if opening.is_drawn else "in the order of arrival",
        "operator_could_influence": _INFLUENCE if opening.is_drawn and not opening.beacon_name else None,
    }


class BadRecord(ValueError):
    """A published record that cannot be read, or that contradicts itself; the message says where."""


@dataclass(frozen=True)
class Drawn:
    """A record that was read and whose commitment and key were recomputed."""

    queue: str
    commitment: str
    key: str
    counts: tuple[int, ...]
    chain: str
    beacon: str | None


def read_record(value: Any) -> Drawn:
    """Reads a published record and recomputes commitment and key. Raises BadRecord for what is missing or does not fit."""
    if not isinstance(value, dict):
        raise BadRecord("the record is no JSON object")
    if value.get("order") == "arrival":
        raise BadRecord("nothing was drawn: this queue takes people in the order of arrival")
    if value.get("seed") is None:
        raise BadRecord("the seed is not published: the queue has not opened yet; the commitment can be checked afterwards")
    seed_hex, counts = value["seed"], value.get("counts")
    if not isinstance(seed_hex, str) or not _HEX_SHA256(seed_hex):
        raise BadRecord("seed: 64 hex digits were expected")
    if not isinstance(counts, list) or not all(type(count) is int and count >= 0 for count in counts):
        raise BadRecord("counts: a list of how many came in each line was expected")
    found = draw.commitment(seed_hex)
    if value.get("commitment") != found:
        raise BadRecord(f"commitment: the record says {value.get('commitment')}, the seed makes {found}")
    beacon = value.get("beacon_value")
    if value.get("beacon") and not beacon:
        raise BadRecord("beacon_value: a beacon was named, and its value is missing")
    if beacon is not None and not isinstance(beacon, str):
        raise BadRecord("beacon_value: a text was expected")
    made = draw.key(seed_hex, beacon or "")
    if value.get("key") != made:
        raise BadRecord(f"key: the record says {value.get('key')}, seed and beacon make {made}")
    return Drawn(str(value.get("queue")), found, made, tuple(counts), str(value.get("chain") or ""), beacon)


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
