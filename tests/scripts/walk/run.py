"""The walk: breadth first, every step from every state, until no new state appears or the depth is reached."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from edge.core import commands
from edge.core.calls import Answer
from tests.scripts.line import START_MS, queue
from tests.scripts.walk import laws
from tests.scripts.walk.people import Step, call, steps
from tests.scripts.walk.view import Settings, View
from tests.scripts.walk.wire import Wire

# Multiples of a quantum, as short as a configuration allows, so that few distances in time exist.
TIMERS: dict[str, Any] = {
    "claim_within_s": 30, "idle_s": 30, "renew_every_s": 15, "poll_s": 5, "settle_s": 15, "presence_grace_s": 30,
    "candidate_hold_s": 15, "late_claim_within_s": 86_400,
}  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """What is walked: `visitors` people at a queue with these settings.

    `direct`: some come without a cookie. `depth`: so many steps in a row; None: until nothing is new.
    """

    name: str
    visitors: int
    settings: dict[str, Any]
    with_operator: bool = False
    direct: bool = False
    depth: int | None = None


@dataclass(frozen=True)
class Count:
    """What was walked. `is_whole`: no new state appears any more."""

    states: int
    steps: int
    depth: int
    is_whole: bool


class _Node(NamedTuple):
    blob: bytes
    now_ms: int
    path: tuple[Any, ...]


class Broken(AssertionError):
    """A law was broken; says by which steps."""


class Walk:
    """One walk of a scope."""

    def __init__(self, wire: Wire, scope: Scope) -> None:
        self._wire, self._scope = wire, scope
        self._seen: set[bytes] = set()
        self._steps = 0
        self._queue = queue(**TIMERS, **scope.settings)
        rate = self._queue.admit_per_minute or 0
        burst = max(1, self._queue.burst or rate // 6)
        timers = (self._queue.claim_within_s * 1000, self._queue.presence_grace_s * 1000)
        self._settings = Settings(rate, burst, *timers, scope.direct)

    def run(self, report: Callable[[Count], None] = lambda count: None) -> Count:
        """Walks; `report` hears of each depth. Raises Broken at the first law that does not hold."""
        level, depth = [self._beginning()], 0
        count = Count(1, 0, 0, False)
        while level and (self._scope.depth is None or depth < self._scope.depth):
            level = [found for node in level for found in self._from(node)]
            depth += 1
            count = Count(len(self._seen), self._steps, depth, not level)
            report(count)
        return count

    def _beginning(self) -> _Node:
        configure = commands.configure(self._queue, "0123456789ab", new=True, now_ms=START_MS)
        blob = self._wire.begin(configure)
        self._is_new(View(blob, self._settings))
        return _Node(zlib.compress(blob, 1), START_MS, ())

    def _from(self, node: _Node) -> Iterator[_Node]:
        blob, scope = zlib.decompress(node.blob), self._scope
        was = View(blob, self._settings)
        todo = list(steps(scope.visitors, was, direct=scope.direct, with_operator=scope.with_operator))
        done = self._wire.each(blob, [call(step, was, node.now_ms + step.after_ms) for step in todo])
        views: dict[bytes, View] = {}  # many steps lead to the same
        for step, (answer, told) in zip(todo, done, strict=True):
            self._steps += 1
            is_first = told not in views
            now, path = views.setdefault(told, View(told, self._settings)), (node.path, step)
            self._check(was, now, step, answer, path)
            if is_first and self._is_new(now):
                yield _Node(zlib.compress(told, 1), node.now_ms + step.after_ms, path)

    def _check(self, was: View, now: View, step: Step, answer: Answer, path: tuple[Any, ...]) -> None:
        try:
            if step.is_retry:
                assert now.everything == was.everything, "a repeated request changed something"
            laws.check(laws.Done(was, now, step, answer, was.place_of(step.who)))
        except AssertionError as error:
            steps_ = " > ".join(map(str, _in_order(path)))
            raise Broken(f"{error}\n  {self._scope.name}: {steps_}\n  answer: {answer.verdict} {answer.details}") from error

    def _is_new(self, view: View) -> bool:
        digest = hashlib.blake2b(repr(view.same_as).encode(), digest_size=12).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True


def _in_order(path: tuple[Any, ...]) -> list[Step]:
    told: list[Step] = []
    while path:
        path, step = path
        told.append(step)
    return told[::-1]
