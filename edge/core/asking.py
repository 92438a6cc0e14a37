"""Asking Redis from inside a decision: one batch a step, the script by its name and in full when it is unknown there."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from edge.core import commands
from edge.core.commands import Answer, Call
from edge.core.errors import StoreAway, StoreBusy
from edge.core.messages import Batch, Context, Reply, Request
from edge.core.model import Queue
from edge.core.opening import opening
from edge.core.snapshot import Snapshot

SNAPSHOT_MAX_AGE_MS = 500  # at most twice a second per node (law 6)


def script_random(request: Request) -> str:
    """Random hex for the scripts: a part of the request's own that nothing else uses."""
    return request.random[24:40]


def _raise_failure(reply: Reply) -> None:
    if reply.failed == "away":
        raise StoreAway(reply.away_ms)
    if reply.failed:
        raise StoreBusy(f"the store is {reply.failed}")


def _values(reply: Reply, expected: int) -> list[object]:
    _raise_failure(reply)
    if len(reply.results) != expected:
        raise StoreBusy("the store left a command unanswered")
    for result in reply.results:
        if "error" in result:
            raise StoreBusy(f"the store answered: {str(result['error'])[:200]}")
    return [result.get("result") for result in reply.results]


def _is_forgotten(reply: Reply) -> bool:
    return any(str(result.get("error", "")).startswith("NOSCRIPT") for result in reply.results)


def _run(name: str, calls: list[Call]) -> Generator[Batch, Reply, list[Answer]]:
    reply = yield Batch(name, calls)
    if _is_forgotten(reply):
        reply = yield Batch(f"{name} in full", calls, whole=True)
    return [Answer.read(value) for value in _values(reply, len(calls))]


def ask(call: Call, queue: Queue, request: Request, name: str = "") -> Generator[Batch, Reply, Answer]:
    """The answer to one script. Begins a state that is missing. Raises StoreAway or StoreBusy.

    `name`: of the batch, when one decision may run the same script twice; replies are found again by it.
    """
    name = name or call.script.name
    (answer,) = yield from _run(name, [call])
    if answer.verdict == "missing":
        # Redis lost the state: the configuration begins it anew, in recovery.
        offer = commands.configure(queue, script_random(request))
        answer = (yield from _run(f"begin and {name}", [offer, call]))[1]
    if answer.verdict == "missing":
        raise StoreBusy("the state of the queue has not begun")
    return answer


@dataclass(slots=True)
class View:
    """What a decision sees of a queue: the snapshot, the time by the clock of Redis, and how long Redis has been away."""

    snapshot: Snapshot
    now_ms: int
    away_ms: int = 0


def look(queue: Queue, request: Request, context: Context) -> Generator[Batch, Reply, View]:
    """The shared snapshot. Raises StoreAway or StoreBusy when there is none, not even an old one.

    A newer configuration is offered on the way, a missing state begun. While Redis is away the last snapshot serves.
    """
    return at_hand(queue, request, context) or (yield from _take(queue, request, context))


def at_hand(queue: Queue, request: Request, context: Context) -> View | None:
    """The snapshot that this node has, if it is young enough to decide by."""
    known = context.snapshots.fresh(queue.scope, request.now_ms, SNAPSHOT_MAX_AGE_MS)
    return None if known is None else View(known[0], known[0].clock_ms + known[1])


def _take(queue: Queue, request: Request, context: Context) -> Generator[Batch, Reply, View]:
    node, visits = context.node.visits(queue.scope, request.now_ms) if queue.start_queueing_above is not None else ("", 0)
    call = commands.take_snapshot(queue.scope, script_random(request), node=node, visits=visits)
    name = f"snapshot:{queue.scope}"
    reply = yield Batch(name, [call], is_shared=True, max_age_ms=SNAPSHOT_MAX_AGE_MS)
    if _is_forgotten(reply):
        reply = yield Batch(f"{name} in full", [call], whole=True, is_shared=True, max_age_ms=SNAPSHOT_MAX_AGE_MS)
    away_ms = reply.away_ms if reply.failed == "away" else 0
    is_old = bool(reply.failed)
    if reply.failed and reply.stale is not None:
        reply = reply.stale
    snapshot, age_ms = Answer.read(_values(reply, 1)[0]).snapshot, reply.age_ms
    if not is_old and (snapshot is None or snapshot.config_version < queue.config_version):
        offer = commands.configure(queue, script_random(request))
        try:
            snapshot, age_ms = (yield from _run(f"offer {queue.scope}", [offer, call]))[1].snapshot, 0
        except (StoreAway, StoreBusy):
            if snapshot is None:
                raise
    if snapshot is None:
        raise StoreBusy("the state of the queue has not begun")
    doors = None if is_old else opening(queue, snapshot, context.ring, script_random(request))
    if doors is not None:
        opened = (yield from _run(f"open {queue.scope}", [doors, call]))[1].snapshot
        snapshot, age_ms = (snapshot, age_ms) if opened is None else (opened, 0)
    if not is_old:
        context.snapshots.keep(queue.scope, request.now_ms - age_ms, snapshot)
    return View(snapshot, snapshot.clock_ms + age_ms, away_ms)
