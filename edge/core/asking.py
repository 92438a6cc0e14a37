"""Asking Redis from inside a decision: one batch a step, the script by its name and in full when it is unknown there."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from edge.core import commands
from edge.core.calls import Answer, Call
from edge.core.errors import StoreAway, StoreBusy
from edge.core.messages import Batch, Context, Reply, Request
from edge.core.model import Queue
from edge.core.opening import opening
from edge.core.snapshot import Snapshot
from edge.core.tokens import Pass, Place

SNAPSHOT_MAX_AGE_MS = 500  # at most twice a second per node (law 6)
_HOWEVER_OLD_MS = 1 << 53


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
    """What a decision sees of a queue: the snapshot, the time by the clock of Redis, and how long Redis has been away.

    `told`: what became of the token that was asked about on the way.
    """

    snapshot: Snapshot
    now_ms: int
    away_ms: int = 0
    told: Answer | None = None


def look(queue: Queue, request: Request, context: Context, due: Place | Pass | None = None, *,
         wants_in: bool = False) -> Generator[Batch, Reply, View]:  # fmt: skip
    """The shared snapshot. Raises StoreAway or StoreBusy when there is none, not even an old one.

    A newer configuration is offered on the way, a missing state begun. While Redis is away the last snapshot serves.
    `due`: a place or a pass that is likely to be asked about next; where no snapshot is shared that is done on the way.
    """
    found = at_hand(queue, request, context)
    if found is not None:
        return found
    if not context.is_alone or context.snapshots.has(queue.scope):
        due = None
    return (yield from _take(queue, request, context, due, wants_in=wants_in))


def at_hand(queue: Queue, request: Request, context: Context) -> View | None:
    """The snapshot that this node has, if it is young enough to decide by."""
    known = context.snapshots.fresh(queue.scope, request.now_ms, SNAPSHOT_MAX_AGE_MS)
    return None if known is None else View(known[0], known[0].clock_ms + known[1])


def _calls(queue: Queue, request: Request, context: Context, due: Place | Pass | None, *, wants_in: bool) -> list[Call]:
    """The first one answers with the full snapshot, the last one what becomes of the token that is due."""
    scope, random = queue.scope, script_random(request)
    node, visits = context.node.visits(scope, request.now_ms) if queue.start_queueing_above is not None else ("", 0)
    if isinstance(due, Place):
        return [commands.look(scope, due.epoch, due.position, due.visitor, random, line=due.line, wants_in=wants_in, node=node,
                              visits=visits)]  # fmt: skip
    snapshot = commands.take_snapshot(scope, random, node=node, visits=visits)
    return [snapshot] if due is None else [snapshot, commands.renew_pass(due, random)]


def _take(queue: Queue, request: Request, context: Context, due: Place | Pass | None, *,
          wants_in: bool) -> Generator[Batch, Reply, View]:  # fmt: skip
    calls = _calls(queue, request, context, due, wants_in=wants_in)
    name, is_shared = f"{'snapshot' if due is None else 'look'}:{queue.scope}", due is None
    reply = yield Batch(name, calls, is_shared=is_shared, max_age_ms=SNAPSHOT_MAX_AGE_MS)
    if _is_forgotten(reply):
        reply = yield Batch(f"{name} in full", calls, whole=True, is_shared=is_shared, max_age_ms=SNAPSHOT_MAX_AGE_MS)
    if reply.failed:
        return _from_before(reply, queue, request, context)
    told, age_ms = [Answer.read(value) for value in _values(reply, len(calls))], reply.age_ms
    snapshot = told[0].snapshot
    if snapshot is None or snapshot.config_version < queue.config_version:
        offer = commands.configure(queue, script_random(request))
        try:
            told, age_ms = (yield from _run(f"offer {queue.scope}", [offer, *calls]))[1:], 0
        except (StoreAway, StoreBusy):
            if snapshot is None:
                raise
    snapshot = _begun(told)
    doors = opening(queue, snapshot, context.ring, script_random(request))
    if doors is not None:
        opened = (yield from _run(f"open {queue.scope}", [doors, *calls]))[1:]
        if opened[0].snapshot is not None:
            told, snapshot, age_ms = opened, opened[0].snapshot, 0
    context.snapshots.keep(queue.scope, request.now_ms - age_ms, snapshot)
    return View(snapshot, snapshot.clock_ms + age_ms, told=None if due is None else told[-1])


def _from_before(reply: Reply, queue: Queue, request: Request, context: Context) -> View:
    """While Redis does not answer: what it said last, as the host has kept it, or this sandbox where none is shared."""
    away_ms = reply.away_ms if reply.failed == "away" else 0
    known = context.snapshots.fresh(queue.scope, request.now_ms, _HOWEVER_OLD_MS) if context.is_alone else None
    if reply.stale is None and known is not None:
        return View(known[0], known[0].clock_ms + known[1], away_ms)
    kept = reply.stale or reply
    snapshot = _begun([Answer.read(value) for value in _values(kept, 1)])
    return View(snapshot, snapshot.clock_ms + kept.age_ms, away_ms)


def _begun(told: list[Answer]) -> Snapshot:
    snapshot = told[0].snapshot
    if snapshot is None:
        raise StoreBusy("the state of the queue has not begun")
    return snapshot
