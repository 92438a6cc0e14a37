"""The opening of a drawn pre-queue: it needs no process to be awake, for the first request that sees it due opens it, once."""

from __future__ import annotations

from edge.core import commands, draw
from edge.core.calls import Call
from edge.core.draw_record import Opening
from edge.core.keyring import Keyring
from edge.core.model import Queue
from edge.core.snapshot import Snapshot
from edge.core.states import opening_is_due


def _seed(queue: Queue, snapshot: Snapshot, ring: Keyring) -> str:
    return draw.seed(ring.draw_master, queue.scope, snapshot.epoch, snapshot.opens_at_ms or 0)


def opening(queue: Queue, snapshot: Snapshot, ring: Keyring, random: str) -> Call | None:
    """The call that draws the order and opens, if it is due: past opens_at, and the beacon's value known where one is named."""
    if not opening_is_due(snapshot.status, snapshot.clock_ms, snapshot.opens_at_ms) or queue.prequeue_order != "draw":
        return None
    if queue.draw_beacon is not None and not snapshot.beacon:
        return None
    seed, beacon = _seed(queue, snapshot, ring), snapshot.beacon
    key, opens_at_ms = draw.key(seed, beacon), snapshot.opens_at_ms or 0
    return commands.open_queue(queue.scope, snapshot.epoch, seed, key, opens_at_ms, random, beacon=beacon)


def facts(queue: Queue, snapshot: Snapshot, ring: Keyring) -> Opening:
    """What is known of the draw. After the opening the seed is the one that the state was opened with."""
    return Opening(
        is_drawn=queue.prequeue_order == "draw",
        scope=queue.scope,
        epoch=snapshot.epoch,
        opens_at_ms=snapshot.opens_at_ms or queue.opens_at_ms or 0,
        opened_at_ms=snapshot.opened_at_ms,
        seed=snapshot.draw_seed or _seed(queue, snapshot, ring),
        beacon_name=queue.draw_beacon,
        beacon=snapshot.beacon,
        counts=tuple(line.drawn for line in snapshot.lines),
        chain=snapshot.chain,
    )
