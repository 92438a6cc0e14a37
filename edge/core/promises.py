"""What a queue's settings promise to whoever waits, as numbers that a page can say: how long a place is kept, and a turn."""

from __future__ import annotations

from functools import lru_cache

from edge.core.cookies import PLACE_MAX_AGE_S
from edge.core.model import Queue

_UNITS = ((3600, "h"), (60, "min"))
# Up to here seconds are said as such when they make no whole minutes; above, a part of a minute is dropped.
_SECONDS_UP_TO = 300


def duration(seconds: int) -> tuple[str, str]:
    """A duration as a number and one unit (h, min, s): exact where it can be, else a little shorter, never longer."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            return str(seconds // size), unit
    return (str(seconds), "s") if seconds < _SECONDS_UP_TO else (str(seconds // 60), "min")


@lru_cache(maxsize=256)
def promises(queue: Queue) -> dict[str, str]:
    """The slots that follow from a queue's settings alone.

    grace: how long a place lives without a visit. claim: the time that a called visitor has. late_claim: what becomes of who
    comes later than that: head, back or refused; late: within which time.
    """
    grace, grace_unit = duration(PLACE_MAX_AGE_S)
    claim, claim_unit = duration(queue.claim_within_s)
    late, late_unit = duration(queue.late_claim_within_s)
    return {
        "grace": grace, "grace_unit": grace_unit, "claim": claim, "claim_unit": claim_unit, "late": late, "late_unit": late_unit,
        "spread_s": str(queue.spread_s), "late_claim": queue.late_claim, "order": queue.prequeue_order or "draw",
    }  # fmt: skip
