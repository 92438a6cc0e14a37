"""A queue as an operator sees it: state from Redis beside what its configuration says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from admin.limits import configured
from admin.store import COUNTS, Limits, Reading
from admin.words import _
from edge.core.lines import own_status
from edge.core.model import Queue
from edge.core.moments import moment_text
from edge.core.snapshot import Snapshot
from edge.core.states import opening_is_due

MISSING = "missing"
Awaited = Literal["beacon", "draw"]


@dataclass(frozen=True)
class LaneView:
    """One lane of the queue; a queue without lanes has one that has no name. `share`: its part of the calls in the scope."""

    name: str | None
    share: int
    waiting: int


@dataclass(frozen=True)
class QueueView:
    """One look at one queue. In a group everything but `lanes` is the whole group's: they share one line-up and its totals.

    `arrived`: places given in all lines; `present`: of those who wait, how many still show life.
    `status` is the queue's own: `paused` too when it is paused by itself (`paused_alone`). It is `missing` when Redis has no
    state for it: then counts are 0 and limits are those that the configuration says.
    """

    queue: Queue
    status: str
    epoch: str | None
    length: int
    cursor: int
    waiting: int
    called: int
    inside: int
    admitted_last_minute: int
    limits: Limits
    config_version: int | None
    inventory_left: int | None = None
    mode: str = "open"
    opens_at_ms: int | None = None
    closes_at_ms: int | None = None
    opened_at_ms: int = 0
    message: str = ""
    beacon: str = ""
    awaits: Awaited | None = None
    paused_alone: bool = False
    lanes: tuple[LaneView, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    outflow_per_minute: float | None = None
    present_share: float | None = None
    members: tuple[str, ...] = ()
    arrived: int = 0
    present: int = 0
    is_alone: bool = False

    @property
    def concerned(self) -> str:
        """What an operator's step concerns: this queue, or all queues of its group; after a step on it alone, that one."""
        if not self.queue.group:
            return _("this queue")
        if self.is_alone:
            return f"the queue {self.id} alone, of the group {self.queue.group}"
        return _("all queues of the group %(group)s: %(queues)s") % {"group": self.queue.group, "queues": ", ".join(self.members)}

    @property
    def concerned_subject(self) -> str:
        """The same as the beginning of a sentence about a state."""
        return f"the group {self.queue.group} is" if self.queue.group else "the queue is"

    @property
    def id(self) -> str:
        """The queue's id."""
        return self.queue.id

    @property
    def slots_left(self) -> int | None:
        """How many more may be called or inside now; None: no cap and no inventory."""
        room = []
        if self.limits.max_active is not None:
            room.append(self.limits.max_active - self.inside - self.called)
        if self.inventory_left is not None:
            room.append(self.inventory_left)
        return max(0, min(room)) if room else None

    def public(self) -> dict[str, Any]:
        """The queue as the API answers it."""
        limits = self.limits
        return {
            "id": self.id,
            "status": self.status,
            "epoch": self.epoch,
            "length": self.length,
            "cursor": self.cursor,
            "waiting": self.waiting,
            "called": self.called,
            "inside": self.inside,
            "admitted_last_minute": self.admitted_last_minute,
            "limits": {
                "admit_per_minute": limits.admit_per_minute,
                "burst": limits.burst,
                "max_active": limits.max_active,
                "inventory": limits.inventory,
                "manual": limits.manual,
                "always_queue": limits.always_queue,
                "live": list(limits.live),
            },
            "config_version": self.config_version,
            "mode": self.mode,
            "opens_at": _moment(self.opens_at_ms),
            "closes_at": _moment(self.closes_at_ms),
            "opened_at": _moment(self.opened_at_ms or None),
            "message": self.message,
            "beacon": self.beacon,
            "awaits": self.awaits,
            "paused_alone": self.paused_alone,
            "group": self.queue.group or None,
            "concerned": self.concerned,
            "lanes": [asdict(lane) for lane in self.lanes],
            "counts": {name: self.counts.get(name, 0) for name in COUNTS},
            "inventory_left": self.inventory_left,
            "outflow_per_minute": self.outflow_per_minute,
            "present_share": self.present_share,
        }


def _moment(ms: int | None) -> str | None:
    return None if ms is None else moment_text(ms)


def _awaited(queue: Queue, snap: Snapshot) -> Awaited | None:
    """What a queue whose time has come still waits for before it opens: a value from an operator, or the next request."""
    if queue.prequeue_order != "draw" or not opening_is_due(snap.status, snap.clock_ms, snap.opens_at_ms):
        return None
    return "beacon" if queue.draw_beacon is not None and not snap.beacon else "draw"


def _lanes(queue: Queue, snap: Snapshot | None) -> tuple[LaneView, ...]:
    names: list[str | None] = [lane.name for lane in queue.lanes] or [None]
    lanes = []
    for line, name in enumerate(names, queue.line):
        seen = snap.line(line) if snap else None
        share = queue.line_shares[line] if line < len(queue.line_shares) else 1
        lanes.append(LaneView(name, share, seen.ahead(seen.length + 1) if seen else 0))
    return tuple(lanes)


def _present(snap: Snapshot) -> int:
    """Of those who wait, how many still show life: near the head they are counted, beyond it a sample says."""
    beyond = sum(max(0, line.length - line.horizon) for line in snap.lines)
    return min(snap.waiting, snap.ready + round(snap.present_share * beyond))


def view(queue: Queue, reading: Reading, members: tuple[str, ...] = ()) -> QueueView:
    """The view from a full snapshot, the limits in force and the counters; `members`: the queues of its scope."""
    snap = reading.answer.snapshot
    if reading.answer.verdict == MISSING or snap is None:
        return QueueView(
            queue, MISSING, None, 0, 0, 0, 0, 0, 0, configured(queue), None, queue.inventory, members=members,
            opens_at_ms=queue.opens_at_ms, closes_at_ms=queue.closes_at_ms, lanes=_lanes(queue, None),
        )  # fmt: skip
    return QueueView(
        queue=queue,
        status=own_status(snap.status, snap.line(queue.line).weight),
        epoch=snap.epoch,
        length=snap.length,
        cursor=snap.cursor,
        waiting=snap.waiting,
        called=snap.called,
        inside=snap.inside,
        admitted_last_minute=snap.admitted_last_minute,
        limits=reading.limits,
        config_version=snap.config_version,
        inventory_left=snap.inventory_left,
        mode=snap.mode,
        opens_at_ms=snap.opens_at_ms,
        closes_at_ms=snap.closes_at_ms,
        opened_at_ms=snap.opened_at_ms,
        message=snap.message,
        beacon=snap.beacon,
        awaits=_awaited(queue, snap),
        paused_alone=bool(queue.group) and not snap.line(queue.line).weight,
        lanes=_lanes(queue, snap),
        counts=reading.counts,
        outflow_per_minute=snap.outflow_per_minute,
        present_share=snap.present_share,
        members=members,
        arrived=sum(line.length for line in snap.lines),
        present=_present(snap),
    )
