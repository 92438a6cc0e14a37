"""What a waiting visitor is told, computed from the snapshot: the wait as a range, and when to ask again."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edge.core.config import POLL_FAR_S
from edge.core.model import Queue
from edge.core.snapshot import Snapshot

# Near the head a visitor shows life this often; the edge reads the last time from the place token.
BEAT_MS = 20_000
# Far back only the sample does, once a minute (design.md, law 6).
SAMPLE_BEAT_MS = 55_000
# The range is this much around the expected wait, and one poll is added. Measured by simulated sales: with a rate and slots nine
# of ten waits lie between 0.8 and 1.3 of it.
_LOW, _HIGH = 0.78, 1.28
_WAIT_KNOWN_UP_TO_S = 7 * 86_400
# In these states the line moves, or will in a moment.
_MOVES = ("open", "draining")


@dataclass(frozen=True, slots=True)
class WaitRange:
    """Expected wait from `low_s` to `high_s`, seconds."""

    low_s: int
    high_s: int


def outflow_per_minute(snapshot: Snapshot) -> float | None:
    """Admissions a minute to reckon with, or None when nothing is known. Of a short snapshot only the rate is."""
    if snapshot.outflow_per_minute is not None:
        return snapshot.outflow_per_minute or None
    return float(snapshot.admit_per_minute or 0) or None if snapshot.max_active is None else None


def ahead_present(snapshot: Snapshot, ahead: int) -> float:
    """Of the `ahead` people before someone, how many are likely still there.

    Those in the head window show life; of those further back a sample tells the share.
    """
    asked = snapshot.ahead(snapshot.horizon + 1)
    in_window = min(ahead, asked)
    present = in_window * min(1.0, snapshot.line_ready / asked) if asked and snapshot.full else float(in_window)
    return present + (ahead - in_window) * snapshot.present_share


def admissions_before(snapshot: Snapshot, ahead: int, position: int) -> float:
    """How many come in until `position` is called.

    By how the line has moved with each admission, once that was seen; until then by who is likely still there.
    """
    if snapshot.moves_per_admission > 0.001:
        return max(0, position - 1 - snapshot.cursor) / snapshot.moves_per_admission
    return ahead_present(snapshot, ahead)


def wait_range(queue: Queue, snapshot: Snapshot, ahead: int, position: int) -> WaitRange | None:
    """The wait of someone at `position` with `ahead` people before; None rather than a guess. A snapshot seen from one line."""
    if snapshot.status not in _MOVES or (queue.manual and not snapshot.is_dormant):
        return None
    per_minute = outflow_per_minute(snapshot)
    if not per_minute:
        return None
    before = admissions_before(snapshot, ahead, position)
    if snapshot.inventory_left is not None and before >= snapshot.inventory_left:
        return None  # whether a unit comes back, and when, is up to those who hold it
    expected_s = (before + 1) * 60 / per_minute
    if expected_s > _WAIT_KNOWN_UP_TO_S:
        return None
    return WaitRange(math.floor(expected_s * _LOW), math.ceil(expected_s * _HIGH) + queue.poll_s)


def poll_s(queue: Queue, snapshot: Snapshot, position: int, wait: WaitRange | None) -> int:
    """Seconds until the next question: often near the head, seldom far back, always well within `settle_s`.

    And within the time that a turn is kept: an operator may call people from far back.
    """
    if position <= snapshot.horizon and (wait is None or wait.low_s < 120):
        return queue.poll_s
    farthest = max(queue.poll_s, min(POLL_FAR_S, queue.settle_s // 2, queue.claim_within_s // 2))
    return farthest if wait is None else min(farthest, max(queue.poll_s, wait.low_s // 20))


def needs_touch(snapshot: Snapshot, position: int, touched_ms: int, now_ms: int) -> bool:
    """Whether this poll has to reach Redis.

    Called or passed by; or in the window with the last sign of life getting old; or in the sample of those far back.
    """
    if position <= snapshot.cursor:
        return True
    if position <= snapshot.horizon:
        return now_ms - touched_ms >= BEAT_MS
    return snapshot.sample_every > 0 and position % snapshot.sample_every == 0 and now_ms - touched_ms >= SAMPLE_BEAT_MS
