"""One line of a scope: what a snapshot says to those who stand in it, and where an arrival of the pre-queue stands afterwards."""

from __future__ import annotations

from dataclasses import replace

from edge.core import draw
from edge.core.model import Queue
from edge.core.snapshot import Crowd, LineView, Snapshot
from edge.core.standing import Standing
from edge.core.states import QUEUE_STATES
from edge.core.tokens import Place

# Who cannot be given a place asks again this often, seconds: an operator may open the doors at any time.
CLOSED_POLL_S = 30


def seen_from(snapshot: Snapshot, line: int) -> Snapshot:
    """The snapshot as if the line were the only one: its length, cursor and window.

    The limits stay those of the whole scope: of the other lines people (`crowds`) are called in between, by the weights.
    """
    if not snapshot.more_lines:
        return snapshot
    if snapshot.views is None:  # once for all who ask while this snapshot is the newest
        snapshot.views = {}
        snapshot.crowds = _crowds(snapshot)
    view = snapshot.views.get(line)
    if view is None:
        view = snapshot.views[line] = _view(snapshot, line)
    return view


def _view(snapshot: Snapshot, line: int) -> Snapshot:
    own = snapshot.line(line)
    return replace(
        snapshot, status=own_status(snapshot.status, own.weight), length=own.length, cursor=own.cursor, horizon=own.horizon,
        drawn=own.drawn, weight=own.weight, line_present=own.present, gone_every=own.gone_every, gone=own.gone, more_lines=(),
        seen_line=line, views=None,
    )  # fmt: skip


def _crowds(snapshot: Snapshot) -> tuple[Crowd, ...]:
    lines, share = snapshot.lines, snapshot.present_share
    coming = snapshot.arriving_per_s if len(snapshot.arriving_per_s) == len(lines) else (0.0,) * len(lines)
    return tuple([_crowd(line, share, per_s) for line, per_s in zip(lines, coming, strict=True)])


def _crowd(line: LineView, present_share: float, per_s: float) -> Crowd:
    in_window = line.ahead(line.horizon + 1)
    beyond = line.ahead(line.length + 1) - in_window
    return Crowd(line.weight, min(line.present, in_window), beyond * present_share, per_s)


def own_status(status: str, weight: int) -> str:
    """The state as those who wait in a line see it: without weight it is of a queue of a group that is paused by itself."""
    return "paused" if not weight and status in QUEUE_STATES and QUEUE_STATES[status].calls else status


def completed(last: Snapshot, short: Snapshot, line: int) -> Snapshot:
    """The last full snapshot as of now, by the short one that rode along with an answer about `line`, seen from that line."""
    seen = seen_from(last, line)
    if short is last:
        return seen
    return seen.moved(short.clock_ms, own_status(short.status, seen.weight), short.length, short.cursor, short.horizon)


def seated(place: Place, snapshot: Snapshot) -> Place:
    """The place once the doors are open: of an arrival before the opening, the drawn one, or the number itself without a draw."""
    if not place.arrival or not snapshot.opened_at_ms or place.epoch != snapshot.epoch:
        return place
    count = snapshot.line(place.line).drawn
    position = place.position
    if snapshot.draw_key and 1 <= position <= count:
        position = draw.place(snapshot.draw_key, place.line, position, count)
    return replace(place, position=position, arrival=False, touched_ms=0, number=place.position)


def dressed(where: Standing, snapshot: Snapshot, line: int, arrival: int | None = None) -> Standing:
    """The standing with what is told beside it: opening, message, number of arrival, draw and lane."""
    queue = where.queue
    if snapshot.status == "open" and not (queue.lanes or snapshot.draw_key or snapshot.message or arrival):
        return where  # most polls
    if where.state in ("not_open", "prequeue", "candidate") and not snapshot.opened_at_ms:
        where.opens_at_ms = snapshot.opens_at_ms
    where.message, where.lane, where.arrival = snapshot.message, queue.lane_of(line), arrival
    position = where.position or 0
    where.drawn = bool(snapshot.draw_key) and 0 < position <= _drawn(snapshot, line)
    if queue.prequeue_order is not None and (arrival is not None or where.drawn):
        where.draw_url = f"/.stanchion/{queue.id}/draw"
    return where


def _drawn(snapshot: Snapshot, line: int) -> int:
    return snapshot.drawn if not snapshot.more_lines else snapshot.line(line).drawn


def numbered(queue: Queue, snapshot: Snapshot, number: int, line: int, now_ms: int) -> Standing:
    """Before the opening: a number of arrival, no place yet. While the queue stands still in another way, that is the state."""
    state = QUEUE_STATES[snapshot.status].waiting_sees if snapshot.status in QUEUE_STATES else "prequeue"
    left_s = -(-((snapshot.opens_at_ms or now_ms) - now_ms) // 1000)
    poll_s = max(queue.poll_s, min(CLOSED_POLL_S, left_s))
    where = Standing(queue, "prequeue" if state == "waiting" else state, now_ms, snapshot.epoch, poll_s=poll_s)
    return dressed(where, snapshot, line, number)


def turned_away(queue: Queue, snapshot: Snapshot, status: str, now_ms: int) -> Standing:
    """What a newcomer sees where no places are given; near the opening the page asks in time."""
    state = QUEUE_STATES[status].newcomer_sees if status in QUEUE_STATES else "closed"
    due_ms = queue.prequeue_at_ms or snapshot.opens_at_ms
    left_s = -(-(due_ms - now_ms) // 1000) if state == "not_open" and due_ms is not None else CLOSED_POLL_S
    where = Standing(queue, state, now_ms, snapshot.epoch, poll_s=max(1, min(CLOSED_POLL_S, left_s)))
    return dressed(where, snapshot, queue.line)


def gives_no_places(snapshot: Snapshot) -> bool:
    """Whether newcomers get nothing but a page now."""
    return snapshot.status in QUEUE_STATES and not QUEUE_STATES[snapshot.status].joins
