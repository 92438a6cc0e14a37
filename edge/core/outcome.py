"""What a step leads to, and the rules that need no question to Redis: a pass that is good as it is, a place that just waits."""

from __future__ import annotations

from dataclasses import dataclass

from edge.core import admission, standing
from edge.core.asking import at_hand
from edge.core.cookies import PLACE_MAX_AGE_S
from edge.core.identity import Visitor
from edge.core.lines import dressed, numbered, seated, seen_from
from edge.core.messages import Context, Request
from edge.core.model import Queue
from edge.core.node import network_of
from edge.core.snapshot import Snapshot
from edge.core.standing import Standing
from edge.core.states import QUEUE_STATES
from edge.core.tokens import Pass, Place

# States in which turns and presence run: there those near the head show life.
MOVING = frozenset(name for name, state in QUEUE_STATES.items() if state.lease_clock)


@dataclass(slots=True)
class Outcome:
    """Inside (`admission`), or a standing. `fresh`: admitted just now, without a place cookie to come back with."""

    why: str
    admission: Pass | None = None
    standing: Standing | None = None
    set_cookies: tuple[str, ...] = ()
    fresh: bool = False
    is_refused: bool = False  # 429: too many places from this network, or an overloaded store


def is_ended(held: Pass, snapshot: Snapshot) -> bool:
    """Whether a pass was ended before its time (law 7)."""
    return snapshot.is_ended(held.position, held.line) and held.epoch == snapshot.epoch


def needs_nothing(held: Pass, snapshot: Snapshot, now_ms: int) -> bool:
    """Whether a pass opens the door as it is: of this epoch, not ended, not due for renewal. Let in without Redis: too."""
    if held.marked:
        return True
    return now_ms < held.renew_at_ms and held.epoch == snapshot.epoch and not snapshot.is_ended(held.position, held.line)


def waits_on(place: Place, queue: Queue, snapshot: Snapshot, now_ms: int) -> Standing | None:
    """Where a place stands, if that can be told without a question to Redis; None if it has to be asked."""
    if snapshot.epoch != place.epoch or place.expires_ms <= now_ms:
        return None
    if place.arrival:
        return numbered(queue, snapshot, place.position, place.line, now_ms)
    seen = seen_from(snapshot, place.line)
    beat_ms = admission.beat_ms(queue.presence_grace_s)
    if snapshot.status in MOVING and admission.needs_touch(seen, place.position, place.touched_ms, now_ms, beat_ms):
        return None
    return dressed(standing.in_line(queue, seen, place.position, now_ms), seen, place.line, place.number or None)


def from_memory(visitor: Visitor, request: Request, context: Context) -> Outcome | None:
    """The outcome for most requests of a sale: who is inside or waits, and nothing is due. None: a step has to be taken."""
    queue, held, place = visitor.queue, visitor.admission, visitor.place
    if visitor.is_behind or visitor.dead_candidate or (held is None and place is None):
        return None
    view = at_hand(queue, request, context)
    if view is None:
        return None
    if held is not None:
        if queue.max_networks is not None:
            context.node.seen_from.note(held, network_of(request.client))
        return Outcome("pass", held) if needs_nothing(held, view.snapshot, view.now_ms) else None
    if place is None or is_half_spent(place, view.now_ms):
        return None
    if place.arrival and seated(place, view.snapshot) is not place:
        return None
    where = waits_on(place, queue, view.snapshot, view.now_ms)
    return Outcome(f"place {place.position}", standing=where) if where is not None else None


def is_half_spent(place: Place, now_ms: int) -> bool:
    """Whether a place is to be issued again."""
    return place.expires_ms - now_ms <= PLACE_MAX_AGE_S * 500
