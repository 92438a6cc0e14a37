"""The steps that visitors, an operator and time can take.

A visitor may send anything that any answer so far could have led to, at any time: so every answer may have been lost, every
request may be repeated at any point, and cookies of any age come back. What visitors hold is then no part of a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from edge.core import commands
from edge.core.calls import Call
from tests.scripts.walk.view import View

SCOPE = "q"
QUANTUM_MS = 15_000  # the timers of the walked queues are multiples of it
SILENCE_MS = 45_000  # longer than a visit without a request
_RANDOM = "0123456789ab"
# What there is to send in each situation: at once, and a quantum later (then the sweep runs in the same step).
_SENDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "new": (("join", "join and claim"), ("join", "join and claim")),
    "in line": (("join and claim", "touch", "claim", "leave", "away"),) * 2,
    "inside": (("join and claim", "renew", "leave", "complete", "away"), ("claim", "renew", "leave", "complete")),
    "over": (("join and claim", "touch", "claim", "leave"), ()),
    "was inside": (("claim", "renew", "leave", "complete"), ("renew",)),
}
_REASON: dict[str, commands.EndReason] = {"leave": "left", "complete": "completed", "away": "away"}


class Step(NamedTuple):
    """One thing that can happen: `who` is the visitor's number, -1 for an operator or time; `after_ms`: how much later."""

    what: str
    who: int = -1
    after_ms: int = 0
    is_retry: bool = False

    def __str__(self) -> str:
        who = f"v{self.who} " if self.who >= 0 else ""
        return f"{who}{self.what}" + (f" after {self.after_ms // 1000} s" if self.after_ms else "")


def steps(visitors: int, view: View, *, direct: bool, with_operator: bool) -> Iterator[Step]:
    """Everything that can happen next. Of newcomers, who are all alike, the first acts for all. `direct`: some have no cookie."""
    for who in range(min(visitors, len(view.places) + 1)):
        situation = view.situation(view.place_of(who))
        more = ("join without a cookie",) if direct and situation == "new" else ()
        for after_ms, sends in zip((0, QUANTUM_MS), _SENDS[situation], strict=True):
            for what in (*sends, *more):
                yield Step(what, who, after_ms)
    yield Step("look", -1, QUANTUM_MS)
    if not view.ready and not view.called:
        yield Step("look", -1, SILENCE_MS)
    if with_operator:
        yield from _operator(view)


def _operator(view: View) -> Iterator[Step]:
    """One pause and one resume, and the request for each repeated at any time later."""
    done = {name.split()[0] for name in view.operator_steps}
    for what, after in (("pause", ""), ("resume", "pause")):
        if what in done:
            yield Step(what, is_retry=True)
        elif not after or after in done:
            yield Step(what)
            yield Step(what, after_ms=QUANTUM_MS)


def call(step: Step, view: View, now_ms: int) -> Call:
    """The script of a step."""
    what, name, epoch = step.what, f"v{step.who}", view.state["epoch"]
    if what == "look":
        return commands.take_snapshot(SCOPE, _RANDOM, now_ms=now_ms)
    if step.who < 0:
        return commands.control(SCOPE, "pause" if what == "pause" else "resume", "once", _RANDOM, now_ms=now_ms)
    if what.startswith("join"):
        direct = what == "join without a cookie"
        return commands.join(SCOPE, name, _RANDOM, direct=direct, wants_in=direct or what == "join and claim", now_ms=now_ms)
    position = view.place_of(step.who)
    if what in ("touch", "claim"):
        return commands.touch(SCOPE, epoch, position, name, _RANDOM, wants_in=what == "claim", now_ms=now_ms)
    if what == "renew":
        # An ended pass may still be in its time.
        return commands.renew(SCOPE, epoch, position, name, now_ms + QUANTUM_MS, _RANDOM, now_ms=now_ms)
    return commands.end(SCOPE, epoch, position, name, _REASON[what], _RANDOM, now_ms=now_ms)
