"""The schedule of live steps: what a step may say, which ones clash, and what becomes of a late one.

A step is carried out within a second of its time by one of the admin processes. After a silence of all of them, steps that are
at most LATE_AT_MOST_S late are carried out in their order; older ones are skipped, and say so: what was meant for the opening
must not happen to the crowd of the next morning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from admin import limits
from admin.limits import BadValue
from admin.state.schedule import Step
from admin.store import Limits
from edge.core.model import Queue
from edge.core.moments import moment_text

ACTIONS = ("open", "pause", "drain", "close", "maintenance")
LATE_AT_MOST_S = 900
AHEAD_AT_MOST_S = 400 * 24 * 3600
STEPS_AT_MOST = 200
MINUTE_MS = 60_000


@dataclass(frozen=True)
class Wanted:
    """What somebody wants to happen: live limits or an action."""

    at_ms: int
    changes: Mapping[str, Any] | None
    action: str


class Clash(Exception):
    """Two steps that cannot both be meant. `with_id`: the one that is there already."""

    def __init__(self, text: str, with_id: str) -> None:
        super().__init__(text)
        self.with_id = with_id


def check(at_ms: int, changes: Any, action: Any, now_ms: int) -> Wanted:
    """A step that can be meant. Raises BadValue for one in the past or too far off, for two contents or none, for bad values."""
    if at_ms <= now_ms:
        raise BadValue("at", "lies in the past; change the queue itself for what is to happen now")
    if at_ms > now_ms + AHEAD_AT_MOST_S * 1000:
        raise BadValue("at", "is more than 400 days ahead")
    if (changes is None) == (action is None or action == ""):
        raise BadValue("body", "must have either changes (limits) or an action, not both and not neither")
    if changes is not None:
        return Wanted(at_ms, limits.check_changes(changes), "")
    if action not in ACTIONS:
        raise BadValue("action", f"{str(action)[:40]!r} cannot be scheduled; allowed: {', '.join(ACTIONS)}")
    return Wanted(at_ms, None, action)


def check_against(wanted: Wanted, queue: Queue, others: Sequence[Step]) -> None:
    """Raises Clash or BadValue when the step cannot be meant beside the schedule and the configuration.

    `others`: what is to come in the scope of the queue.
    """
    if len(others) >= STEPS_AT_MOST:
        raise BadValue("at", f"the queue has {STEPS_AT_MOST} steps to come; take some back first")
    for other in others:
        if other.at_ms // MINUTE_MS == wanted.at_ms // MINUTE_MS:
            _refuse_same_minute(wanted, other)
    closes = queue.closes_at_ms
    if wanted.action == "open" and closes is not None and wanted.at_ms >= closes:
        raise Clash("the queue's closes_at is before that: it would stay closed", "configuration")
    if wanted.changes:
        limits.after(at_moment(queue, others, wanted.at_ms), queue, wanted.changes)


def _refuse_same_minute(wanted: Wanted, other: Step) -> None:
    if wanted.action and other.action:
        raise Clash(f"the queue is already to {other.action} in that minute; take that back first", other.id)
    both = sorted(set(wanted.changes or ()) & set(other.changes or ()))
    if both:
        raise Clash(f"{', '.join(both)} already changes in that minute; take that step back first", other.id)


def at_moment(queue: Queue, steps: Sequence[Step], at_ms: int) -> Limits:
    """The limits that the configuration and the steps before `at_ms` would have put in force."""
    found = limits.configured(queue)
    for step in steps:
        if step.at_ms < at_ms and step.changes:
            try:
                found = limits.after(found, queue, step.changes)
            except BadValue:
                continue
    return found


def is_missed(step: Step, now_ms: int) -> bool:
    """Whether it is too late for a step."""
    return now_ms - step.at_ms > LATE_AT_MOST_S * 1000


def outcome(step: Step, now_ms: int, refused: str = "") -> str:
    """What is said of a step that is over."""
    late_s = max(0, now_ms - step.at_ms) // 1000
    if refused:
        return f"refused: {refused}"
    return "done" if late_s < 5 else f"done, {late_s} s late"


def public(step: Step) -> dict[str, Any]:
    """A step as the API answers it."""
    return {
        "id": step.id,
        "queue": step.queue,
        "at": moment_text(step.at_ms),
        "changes": None if step.changes is None else dict(step.changes),
        "action": step.action or None,
        "by": step.by,
        "done_at": None if step.done_at_ms is None else moment_text(step.done_at_ms),
        "outcome": step.outcome,
    }
