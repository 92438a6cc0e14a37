"""A quarter of an hour of a sale in virtual time: people arrive, show life, come in and leave, by the core's own scripts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from edge.core import commands
from edge.core.calls import Answer, Call
from edge.core.model import Queue
from tests.admin.world import Visitors

STEP_MS = 10_000
RANDOM = "0" * 32
# People a minute, minute by minute: the doors open, the crowd, the rest.
ARRIVALS = (60, 240, 900, 1300, 1100, 700, 420, 300, 260, 240, 210, 180, 160, 150, 140)


def run_sale(visitors: Visitors, queue: Queue, end_ms: int, on_step: Callable[[Answer, int], None]) -> None:
    """Runs the sale so that it ends at `end_ms`; `on_step` gets a full snapshot and its time after each step."""
    chance = random.Random(7)
    begin_ms = end_ms - len(ARRIVALS) * 60_000
    visitors.run(commands.configure(queue, RANDOM, new=True, now_ms=begin_ms))
    arrived, inside = 0, set[int]()
    snap = visitors.run(commands.take_snapshot(queue.scope, RANDOM, now_ms=begin_ms)).snapshot
    for now_ms in range(begin_ms, end_ms, STEP_MS):
        assert snap
        newcomers = ARRIVALS[(now_ms - begin_ms) // 60_000] * STEP_MS // 60_000
        calls = [commands.join(queue.scope, f"v{arrived + k + 1:08d}", RANDOM, now_ms=now_ms) for k in range(newcomers)]
        arrived += newcomers
        # Those whose turn may have come look every time, the others near the head every 40 s.
        near = range(max(1, snap.cursor - 80), min(snap.horizon, snap.length) + 1)
        turn = now_ms // STEP_MS % 4
        claims = [p for p in near if p not in inside and (p <= snap.cursor + 50 or p % 4 == turn)]
        calls += [
            commands.touch(queue.scope, snap.epoch, position, f"v{position:08d}", RANDOM, wants_in=True, now_ms=now_ms)
            for position in claims
        ]
        answers = _run(visitors, calls)[newcomers:]
        inside |= {position for position, answer in zip(claims, answers, strict=True) if answer.verdict == "inside"}
        gone = [position for position in sorted(inside) if chance.random() < 0.045]
        inside -= set(gone)
        ends = [commands.end(queue.scope, snap.epoch, p, f"v{p:08d}", "left", RANDOM, now_ms=now_ms) for p in gone]
        _run(visitors, ends)
        seen = visitors.run(commands.take_snapshot(queue.scope, RANDOM, now_ms=now_ms))
        snap = seen.snapshot
        on_step(seen, now_ms)


def _run(visitors: Visitors, calls: Iterable[Call]) -> list[Answer]:
    """Sends many calls at once; the server knows every script that is used here after the first of its kind."""
    known: set[str] = set()
    answers = []
    pipeline = visitors.client.pipeline(transaction=False)
    for call in calls:
        if call.script.name not in known:
            known.add(call.script.name)
            visitors.client.script_load(call.script.text["redis"])
        pipeline.execute_command(*call.evalsha())  # type: ignore[no-untyped-call]
    for reply in pipeline.execute():
        answers.append(Answer.read(reply))
    return answers
