"""What is published of a draw at /.stanchion/<queue>/draw; edge/core/draw_check.py checks it as anyone can.

Before opening: the commitment and how the order will be made. Afterwards: seed, beacon, N of each line and the chain's head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edge.core import draw
from edge.core.moments import moment_text

# Exactly these words: another edge that draws in another way says so.
HOW = (
    "key = HMAC-SHA256(seed, beacon_value or nothing); a place is the keyed permutation (eight Feistel rounds of SHA-1, cycle "
    "walking) of the arrival number over 1..N of its line"
)
INFLUENCE = "the operator knows the seed in advance and could add arrivals to choose N, and so the order"


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
        "how": HOW if opening.is_drawn else "in the order of arrival",
        "operator_could_influence": INFLUENCE if opening.is_drawn and not opening.beacon_name else None,
    }
