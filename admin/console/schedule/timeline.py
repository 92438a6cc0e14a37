"""The timeline of one queue: the rate in steps, and marks for what opens, holds or closes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from admin.console.words import limit
from admin.operate import schedule
from admin.state.schedule import Step
from admin.words import _
from edge.core.model import Queue

WIDTH, HEIGHT = 900, 90
# Room at both ends, as a part of the whole span; the least span that is drawn.
_MARGIN = 0.06
_LEAST_MS = 3600_000
MARKS_AT_MOST = 40


@dataclass(frozen=True)
class Mark:
    """Something at a moment. `x` in percent; `from_config`: said by the published configuration."""

    x: float
    label: str
    when: str
    from_config: bool


@dataclass(frozen=True)
class Timeline:
    """`path` is the rate over time in a box of WIDTH x HEIGHT; `top` the rate at its upper edge."""

    marks: Sequence[Mark]
    path: str
    top: int
    begins: str
    ends: str
    now_x: float


def of(queue: Queue, steps: Sequence[Step], now_ms: int, zone: ZoneInfo) -> Timeline | None:
    """The timeline from now on; None when nothing is to come."""
    configured = [
        (at_ms, says)
        for at_ms, says in (
            (queue.prequeue_at_ms, _("pre-queue")), (queue.opens_at_ms, _("opens")), (queue.closes_at_ms, _("closes")),
        )
        if at_ms is not None and at_ms > now_ms
    ]  # fmt: skip
    if steps:
        # What the configuration says of years to come would press the steps together; the page tells it in words.
        near_ms = now_ms + max(_LEAST_MS, 3 * (steps[-1].at_ms - now_ms))
        configured = [(at_ms, text) for at_ms, text in configured if at_ms <= near_ms]
    moments = [step.at_ms for step in steps] + [at_ms for at_ms, _says in configured]
    if not moments:
        return None
    span = max(_LEAST_MS, max(moments) - now_ms)
    begin, end = now_ms - span * _MARGIN, now_ms + span * (1 + _MARGIN)

    def x(at_ms: float) -> float:
        return round(100 * (at_ms - begin) / (end - begin), 2)

    def when(at_ms: float) -> str:
        return datetime.fromtimestamp(at_ms / 1000, zone).strftime("%Y-%m-%d %H:%M")

    marks = [Mark(x(step.at_ms), says(step), when(step.at_ms), False) for step in steps[:MARKS_AT_MOST]]
    marks += [Mark(x(at_ms), text, when(at_ms), True) for at_ms, text in configured]
    path, top = _rates(queue, steps, now_ms, x)
    return Timeline(sorted(marks, key=lambda mark: mark.x), path, top, when(begin), when(end), x(now_ms))


def _rates(queue: Queue, steps: Sequence[Step], now_ms: int, x: Callable[[float], float]) -> tuple[str, int]:
    changes = [(now_ms, schedule.at_moment(queue, steps, now_ms).admit_per_minute)]
    changes += [
        (step.at_ms, schedule.at_moment(queue, steps, step.at_ms + 1).admit_per_minute)
        for step in steps if step.changes and "admit_per_minute" in step.changes
    ]  # fmt: skip
    top = max([1, *(rate or 0 for _at, rate in changes)])
    parts: list[str] = []
    for at_ms, rate in changes:
        # No limit is drawn at the upper edge.
        height = round(HEIGHT - (HEIGHT - 6) * (top if rate is None else rate) / top, 1)
        place = round(x(at_ms) * WIDTH / 100, 1)
        parts.append(f"M{place:g} {height:g}" if not parts else f"H{place:g} V{height:g}")
    return " ".join([*parts, f"H{WIDTH}"]), top


def says(step: Step) -> str:
    """What a step does, in words."""
    if step.changes is None:
        words = {"open": _("open"), "pause": _("pause"), "drain": _("drain"), "close": _("close")}
        return words.get(step.action, _("maintenance"))
    names = {"admit_per_minute": _("rate"), "burst": _("burst"), "max_active": _("inside, at most"), "inventory": _("inventory")}
    return ", ".join(f"{names[name]} {_value(name, value)}" for name, value in step.changes.items())


def _value(name: str, value: object) -> str:
    return _("as configured") if value == "config" else limit(value if isinstance(value, int) else None, name)
