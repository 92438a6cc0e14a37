"""The audit log for whoever has a request: `await audit(request).record("queue.pause", "queue:sale", before=…, after=…)`."""

from __future__ import annotations

from starlette.requests import Request

from admin.access.actor import Actor, actor
from admin.desk import Desk, desk
from admin.recorder import Recorder


def audit(request: Request) -> Recorder:
    """The recorder for who asks. Raises SignInNeeded for nobody."""
    return audit_for(desk(request), actor(request))


def audit_for(room: Desk, who: Actor) -> Recorder:
    """The recorder for somebody else: the schedule, or one who is signing in."""
    return Recorder(room.db, who, int(room.unix_s() * 1000))
