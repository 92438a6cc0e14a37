"""Where a visitor stands, as the answer says it: the status JSON, one shape for every state."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from edge.core import admission
from edge.core.admission import WaitRange
from edge.core.model import Queue
from edge.core.snapshot import Snapshot

STATES = ("candidate", "waiting", "called", "inside", "not_open", "prequeue", "paused", "closed", "sold_out", "lapsed",
          "ended", "unavailable")  # fmt: skip
CANDIDATE_POLL_S = 1
UNAVAILABLE_POLL_S = 10
# A turn that lapses while the page says so is worse than one taken early: the page is told a little less.
CLAIM_MARGIN_S = 2


_as_json = lru_cache(maxsize=256)(json.dumps)


@dataclass(slots=True)
class Standing:
    """One visitor's state in one queue. `page`: which page shows it, when that is not the one of the state."""

    queue: Queue
    state: str
    now_ms: int
    epoch: str = ""
    position: int | None = None
    ahead: int | None = None
    wait: WaitRange | None = None
    poll_s: int = 5
    claim_left_s: int = 0
    page: str = ""

    def status(self) -> dict[str, object]:
        """The status JSON: every key always present (the contract of docs/http.md)."""
        wait = {"low": self.wait.low_s, "high": self.wait.high_s} if self.wait else None
        return {"queue": self.queue.id, "state": self.state, "position": self.position, "ahead": self.ahead, "wait_s": wait,
                "poll_s": self.poll_s, "epoch": self.epoch or None, "now": self.now_ms}  # fmt: skip

    def status_text(self) -> str:
        """The status as compact JSON; written out, for every poll of every visitor makes one."""
        wait = f'{{"low":{self.wait.low_s},"high":{self.wait.high_s}}}' if self.wait else "null"
        position = "null" if self.position is None else self.position
        ahead = "null" if self.ahead is None else self.ahead
        epoch = _as_json(self.epoch) if self.epoch else "null"
        return (
            f'{{"queue":"{self.queue.id}","state":"{self.state}","position":{position},"ahead":{ahead},"wait_s":{wait},'
            f'"poll_s":{self.poll_s},"epoch":{epoch},"now":{self.now_ms}}}'
        )


def candidate(queue: Queue, now_ms: int, epoch: str = "", poll_s: int = CANDIDATE_POLL_S) -> Standing:
    """Holds no position; the cookie has to come back first."""
    return Standing(queue, "candidate", now_ms, epoch, poll_s=poll_s)


def unavailable(queue: Queue, now_ms: int, position: int | None = None, epoch: str = "") -> Standing:
    """Nothing can be said: we will be right back. A place that the visitor holds is named."""
    return Standing(queue, "unavailable", now_ms, epoch, position, poll_s=UNAVAILABLE_POLL_S)


def in_line(queue: Queue, snapshot: Snapshot, position: int, now_ms: int) -> Standing:
    """Waiting at `position`; while the queue is paused or closed that is the state, and the position stays."""
    ahead = snapshot.ahead(position)
    state = snapshot.status if snapshot.status in ("paused", "closed", "sold_out", "not_open") else "waiting"
    wait = admission.wait_range(queue, snapshot, ahead)
    poll_s = admission.poll_s(queue, snapshot, position, wait)
    return Standing(queue, state, now_ms, snapshot.epoch, position, ahead, wait, poll_s)


def called(queue: Queue, snapshot: Snapshot, position: int, now_ms: int, lease_left_ms: int, retry_ms: int) -> Standing:
    """The turn has come. With `retry_ms` the minute is full: the turn is kept, and that is when to come in."""
    if snapshot.status != "open":
        return in_line(queue, snapshot, position, now_ms)
    poll_s = max(1, -(-retry_ms // 1000)) if retry_ms else queue.poll_s
    left_s = max(1, lease_left_ms // 1000 - CLAIM_MARGIN_S)
    return Standing(queue, "called", now_ms, snapshot.epoch, position, 0, WaitRange(0, poll_s if retry_ms else 0), poll_s, left_s)
