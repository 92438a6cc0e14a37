"""What the audit log says of an operator's steps on a queue: the values before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from admin.limits import Value
from admin.operations import Admitted, LimitsChange
from admin.queue_view import QueueView
from admin.steps import Action

Values = dict[str, Any]


def stepped(action: Action, before: QueueView, after: QueueView) -> tuple[Values, Values]:
    """Of a step that changes the state, the message or the beacon."""
    if action in ("message", "beacon"):
        return {action: getattr(before, action)}, {action: getattr(after, action)}
    return _state(action, before), _state(action, after)


def _state(action: Action, view: QueueView) -> Values:
    counts = {"epoch": view.epoch, "waiting": view.waiting, "inside": view.inside} if action == "reset" else {}
    return {"status": view.status, "mode": view.mode, **counts}


def changed(change: LimitsChange, changes: Mapping[str, Value]) -> tuple[Values, Values]:
    """Of live limits: those that were changed, and which of them an operator holds."""
    return tuple(  # type: ignore[return-value]
        {
            **{name: getattr(view.limits, name) for name in changes},
            "live": [name for name in view.limits.live if name in changes],
        }
        for view in (change.before, change.after)
    )


def admitted(done: Admitted, *, over_rate: bool, lane: str | None) -> Values:
    """Of a batch."""
    return {"asked": done.asked, "called": done.called, "note": done.note, "over_rate": over_rate, "lane": lane}
