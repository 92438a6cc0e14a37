"""Where a visitor stands, as the answer says it: the status JSON, one shape for every state."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from edge.core import admission
from edge.core.admission import WaitRange
from edge.core.model import Queue
from edge.core.snapshot import Snapshot
from edge.core.states import QUEUE_STATES
from edge.core.work import Challenge

STATES = ("candidate", "waiting", "called", "inside", "not_open", "prequeue", "paused", "closed", "sold_out", "maintenance",
          "lapsed", "ended", "unavailable", "sign_in", "had_visit")  # fmt: skip
CANDIDATE_POLL_S = 1
UNAVAILABLE_POLL_S = 10
_IN_LINE_SEE = {name: state.waiting_sees for name, state in QUEUE_STATES.items()}
# A turn that lapses while the page says so is worse than one taken early: the page is told a little less.
CLAIM_MARGIN_S = 2


_as_json = lru_cache(maxsize=256)(json.dumps)
_NOTHING_MORE = (
    '"claim_left_s":null,"opens_at":null,"message":null,"arrival":null,"draw":null,"lane":null,"sign_in":null,"challenge":null}'
)


@lru_cache(maxsize=64)
def moment(unix_ms: int) -> str:
    """A time as the status says it: RFC 3339, UTC, whole seconds."""
    return datetime.fromtimestamp(unix_ms // 1000, UTC).isoformat()[:19] + "Z"


@dataclass(slots=True)
class Standing:
    """One visitor's state in one queue. `page`: which page shows it, when that is not the one of the state.

    claim_left_s: how long the turn is kept, while called. opens_at_ms: when the line opens, if that is set and not past.
    message: the operator's. arrival: the number of an arrival before the opening; drawn: whether the places were drawn by lot;
    draw_url: where that can be checked. lane: the name of the visitor's lane, when the queue has several.
    sign_in_url: where one signs in who has to. challenge: the work that a candidate has to do first.
    """

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
    opens_at_ms: int | None = None
    message: str = ""
    arrival: int | None = None
    drawn: bool = False
    draw_url: str = ""
    lane: str = ""
    sign_in_url: str = ""
    challenge: Challenge | None = None

    def status(self) -> dict[str, object]:
        """The status JSON: every key always present (the contract of docs/http.md)."""
        wait = {"low": self.wait.low_s, "high": self.wait.high_s} if self.wait else None
        return {"queue": self.queue.id, "state": self.state, "position": self.position, "ahead": self.ahead, "wait_s": wait,
                "poll_s": self.poll_s, "epoch": self.epoch or None, "now": self.now_ms, **self._more()}  # fmt: skip

    def _more(self) -> dict[str, object]:
        """The keys that most visitors have nothing under."""
        return {"claim_left_s": self.claim_left_s if self.state == "called" else None,
                "opens_at": None if self.opens_at_ms is None else moment(self.opens_at_ms), "message": self.message or None,
                "arrival": self.arrival, "draw": self.draw_url or None, "lane": self.lane or None,
                "sign_in": self.sign_in_url or None, "challenge": self.challenge and self.challenge.public()}  # fmt: skip

    def _has_more(self) -> bool:
        return (self.state == "called" or self.opens_at_ms is not None or self.arrival is not None
                or bool(self.message or self.draw_url or self.lane or self.sign_in_url or self.challenge))  # fmt: skip

    def status_text(self) -> str:
        """The status as compact JSON; written out, for every poll of every visitor makes one."""
        wait = f'{{"low":{self.wait.low_s},"high":{self.wait.high_s}}}' if self.wait else "null"
        position = "null" if self.position is None else self.position
        ahead = "null" if self.ahead is None else self.ahead
        epoch = _as_json(self.epoch) if self.epoch else "null"
        more = json.dumps(self._more(), separators=(",", ":"))[1:] if self._has_more() else _NOTHING_MORE
        return (
            f'{{"queue":"{self.queue.id}","state":"{self.state}","position":{position},"ahead":{ahead},"wait_s":{wait},'
            f'"poll_s":{self.poll_s},"epoch":{epoch},"now":{self.now_ms},{more}'
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
    state = _IN_LINE_SEE.get(snapshot.status, "waiting")
    wait = admission.wait_range(queue, snapshot, ahead)
    poll_s = admission.poll_s(queue, snapshot, position, wait)
    return Standing(queue, state, now_ms, snapshot.epoch, position, ahead, wait, poll_s)


def called(queue: Queue, snapshot: Snapshot, position: int, now_ms: int, lease_left_ms: int, retry_ms: int, *,
           status: str = "") -> Standing:  # fmt: skip
    """The turn has come. With `retry_ms` the minute is full: the turn is kept, and that is when to come in.

    `status`: of the whole group; a queue that is paused by itself lets those in who have their turn.
    """
    status = status or snapshot.status
    if status in QUEUE_STATES and not QUEUE_STATES[status].claims:
        return in_line(queue, snapshot, position, now_ms)
    poll_s = max(1, -(-retry_ms // 1000)) if retry_ms else queue.poll_s
    left_s = max(1, lease_left_ms // 1000 - CLAIM_MARGIN_S)
    return Standing(queue, "called", now_ms, snapshot.epoch, position, 0, WaitRange(0, poll_s if retry_ms else 0), poll_s, left_s)
