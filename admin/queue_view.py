"""A queue as an operator sees it: state from Redis beside what its configuration says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from admin.limits import configured
from admin.store import Limits
from edge.core.commands import Answer
from edge.core.model import Queue

MISSING = "missing"


@dataclass(frozen=True)
class QueueView:
    """One look at one queue.

    `status` is `missing` when Redis has no state for it: then counts are 0 and limits are those that the configuration says.
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
        }


def view(queue: Queue, answer: Answer, limits: Limits) -> QueueView:
    """The view from a full snapshot and the limits in force."""
    snap = answer.snapshot
    if answer.verdict == MISSING or snap is None:
        return QueueView(queue, MISSING, None, 0, 0, 0, 0, 0, 0, configured(queue), None, queue.inventory)
    return QueueView(
        queue=queue,
        status=snap.status,
        epoch=snap.epoch,
        length=snap.length,
        cursor=snap.cursor,
        waiting=snap.waiting,
        called=snap.called,
        inside=snap.inside,
        admitted_last_minute=snap.admitted_last_minute,
        limits=limits,
        config_version=snap.config_version,
        inventory_left=snap.inventory_left,
    )
