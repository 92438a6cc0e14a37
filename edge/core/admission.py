"""What a waiting visitor is told, computed from the snapshot: the wait as a range, and when to ask again."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edge.core.config import POLL_FAR_S
from edge.core.model import Queue
from edge.core.snapshot import Snapshot

# Near the head a visitor shows life this often at least; the edge reads the last time from the place token.
BEAT_MS = 20_000
# And so often within `presence_grace_s`, that a lost answer makes nobody absent.
BEATS_IN_GRACE = 3
# Far back only the sample does, once a minute (design.md, law 6).
SAMPLE_BEAT_MS = 55_000
# The range is this much around the expected wait, and one poll is added, for that is when the turn is read. Measured by simulated
# sales (bench/estimate.py): nine of ten waits lie within it.
_SPREAD = 0.24
# While slots hold people they wait for visits to end, and when few have to, that varies by this over the root of how many.
_SPREAD_OF_ONE = 0.8
# So many have to be seen coming in before a short wait is told.
_COME_AT_LEAST = 5
# Of a shorter time than this nothing is concluded.
_UNSEEN_AT_LEAST_S = 15
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


def ahead_present(snapshot: Snapshot, ahead: int) -> tuple[float, float]:
    """Of the `ahead` people before someone, how many are likely there: in the head window, and beyond it.

    Those in the head window show life; of those further back a sample tells the share.
    """
    asked = snapshot.ahead(snapshot.horizon + 1)
    in_window = min(ahead, asked)
    share = min(1.0, snapshot.line_present / asked) if snapshot.full and asked else 1.0
    return in_window * share, (ahead - in_window) * snapshot.present_share


def going_per_s(snapshot: Snapshot) -> float:
    """What part of those who are there goes away in a second: as many as to make those who did not come when called."""
    if snapshot.unseen_s < _UNSEEN_AT_LEAST_S or not 0 < snapshot.coming_share < 1:
        return 0.0
    return -math.log(snapshot.coming_share) / snapshot.unseen_s


def drained_s(people: float, per_s: float, going: float) -> float:
    """Seconds until `people` have come in, `per_s` a second, or gone away, a part `going` of them a second.

    The solution of m' = -per_s - going m.
    """
    part = going * people / per_s
    return people / per_s * (math.log1p(part) / part if part > 0.001 else 1.0)


def among_lines(snapshot: Snapshot, near: float, far: float, per_s: float) -> tuple[float, float, float]:
    """All who are called before someone, in whatever line: near, far, and how many are in the windows of all lines.

    Calls go round by the weights, and a line that has run out lends its turns: so of each other line as many come before as its
    weight gives it until then, but no more than are there or come while `per_s` are called in a second.
    """
    per_weight, own, others = (near + far + 1) / max(1, snapshot.weight), snapshot.seen_line, snapshot.crowds
    seconds, window = _seconds_among(snapshot, near + far + 1, per_s), float(snapshot.line_present)
    for index, (weight, others_near, others_far, arriving) in enumerate(others):
        if index == own or not weight:
            continue
        before, window = per_weight * weight, window + others_near
        if before <= others_near:
            near += before
        else:
            near, far = near + others_near, far + min(others_far + arriving * seconds, before - others_near)
    return near, far, window


def _seconds_among(snapshot: Snapshot, people: float, per_s: float) -> float:
    """How long it takes about until `people` of the line have been called, with those who come into shorter lines meanwhile."""
    per_weight, arriving, before = people / max(1, snapshot.weight), 0.0, people
    for index, crowd in enumerate(snapshot.crowds):
        if index != snapshot.seen_line and crowd.weight:
            there, share = crowd.near + crowd.far, per_weight * crowd.weight
            before += min(there, share)
            if there < share:
                arriving += crowd.per_s
    return before / max(per_s - arriving, per_s / 10)


def wait_until_s(snapshot: Snapshot, ahead: int, per_minute: float) -> float:
    """Seconds until all before someone have come in or gone: a line from which people go moves the faster the longer it is.

    Of those in the head window so many come in as of those called lately, fewer if they will have been there for longer by
    then. Of those beyond it some go until they are asked.
    """
    (near, far), per_s, going = ahead_present(snapshot, ahead), per_minute / 60, going_per_s(snapshot)
    window = float(snapshot.line_present)
    if snapshot.crowds:
        near, far, window = among_lines(snapshot, near, far, per_s / max(0.01, snapshot.coming_share))
    near, far = near * snapshot.coming_share + 1, far * snapshot.coming_share
    whole_s = max(1.0, window * snapshot.coming_share / per_s)
    near_s = drained_s(near, per_s, going * max(0.0, 1 - snapshot.unseen_s / whole_s))
    return near_s + drained_s(far * math.exp(-going * near_s), per_s, going)


def free_slots(snapshot: Snapshot) -> float:
    """Slots that nobody has; below 0 as long as more are inside than a lowered limit allows."""
    return math.inf if snapshot.max_active is None else snapshot.max_active - snapshot.inside - snapshot.called


def ends_are_unknown(snapshot: Snapshot, ahead: int, per_minute: float) -> bool:
    """Whether visits have to end before this turn, for too few slots are free, and nothing is known of how long they last."""
    if snapshot.max_active is None or snapshot.ending_per_minute is not None:
        return False
    near, far = ahead_present(snapshot, ahead)
    if snapshot.crowds:
        near, far, _ = among_lines(snapshot, near, far, per_minute / 60)
    return (near + far) * snapshot.coming_share + 1 > free_slots(snapshot)


def has_not_begun(snapshot: Snapshot, per_minute: float) -> bool:
    """Whether a shop has free slots and yet hardly anybody came in lately: after an opening it is first asked who is there.

    When they are taken hangs on that; where there are no slots the rate is told at once.
    """
    few = min(_COME_AT_LEAST, per_minute / 2)
    return snapshot.max_active is not None and snapshot.admitted_last_minute < few and free_slots(snapshot) > 0


def emptied(snapshot: Snapshot, per_minute: float) -> tuple[float, float]:
    """Seconds until no more are inside than a lowered limit allows, and admissions a minute from then on."""
    cap, ending = snapshot.max_active, snapshot.ending_per_minute
    if not cap or not ending or free_slots(snapshot) >= 0:
        return 0.0, per_minute
    return 60 / ending * math.log((snapshot.inside + snapshot.called) / cap), min(per_minute, ending * cap)


def _spread(snapshot: Snapshot, admissions: float) -> float:
    """Half of the range over the expected wait, in which there are so many admissions: wider for the ends of a few visits."""
    if free_slots(snapshot) > 0:
        return _SPREAD
    return min(1.0, math.hypot(_SPREAD, _SPREAD_OF_ONE / math.sqrt(max(1.0, admissions))))


def wait_range(queue: Queue, snapshot: Snapshot, ahead: int) -> WaitRange | None:
    """The wait of someone with `ahead` people before; None rather than a guess. A snapshot seen from one line."""
    if snapshot.status not in _MOVES or (queue.manual and not snapshot.is_dormant):
        return None
    per_minute = outflow_per_minute(snapshot)
    if not per_minute or ends_are_unknown(snapshot, ahead, per_minute):
        return None
    first_s, per_minute = emptied(snapshot, per_minute)
    moving_s = wait_until_s(snapshot, ahead, per_minute)
    expected_s, admissions = first_s + moving_s, moving_s * per_minute / 60
    if snapshot.inventory_left is not None and admissions > snapshot.inventory_left:
        return None  # whether a unit comes back, and when, is up to those who hold it
    if expected_s > _WAIT_KNOWN_UP_TO_S or (has_not_begun(snapshot, per_minute) and expected_s * _SPREAD < queue.settle_s):
        return None
    spread = _spread(snapshot, admissions)
    return WaitRange(math.floor(expected_s * (1 - spread)), math.ceil(expected_s * (1 + spread)) + queue.poll_s)


def poll_s(queue: Queue, snapshot: Snapshot, position: int, wait: WaitRange | None) -> int:
    """Seconds until the next question: often near the head, seldom far back, always well within `settle_s`.

    And within the time that a turn is kept: an operator may call people from far back.
    """
    if position <= snapshot.horizon and (wait is None or wait.low_s < 120):
        return queue.poll_s
    farthest = max(queue.poll_s, min(POLL_FAR_S, queue.settle_s // 2, queue.claim_within_s // 2))
    return farthest if wait is None else min(farthest, max(queue.poll_s, wait.low_s // 20))


def beat_ms(presence_grace_s: int) -> int:
    """How often a visitor near the head shows life, where silence of `presence_grace_s` counts as absence."""
    return min(BEAT_MS, presence_grace_s * 1000 // BEATS_IN_GRACE)


def needs_touch(snapshot: Snapshot, position: int, touched_ms: int, now_ms: int, beat_ms: int = BEAT_MS) -> bool:
    """Whether this poll has to reach Redis.

    Called or passed by; or in the window with the last sign of life getting old; or in the sample of those far back.
    """
    if position <= snapshot.cursor:
        return True
    if position <= snapshot.horizon:
        return now_ms - touched_ms >= beat_ms
    return snapshot.sample_every > 0 and position % snapshot.sample_every == 0 and now_ms - touched_ms >= SAMPLE_BEAT_MS
