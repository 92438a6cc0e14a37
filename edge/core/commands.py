"""The steps against Redis: each makes the call of a script (edge/core/calls.py).

A `Call` is made here, sent by whoever drives the core (or by the admin), and its reply is read by `Answer.read`.
Times are Unix milliseconds. `now_ms` is for simulation only: without it the server's own clock rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from edge.core import scripts
from edge.core.calls import Call, call_of, key_of, keys, member
from edge.core.model import Queue
from edge.core.tokens import Pass

EndReason = Literal["left", "completed", "revoked", "undelivered", "away"]
Action = Literal["open", "resume", "pause", "drain", "close", "maintenance", "reset", "message", "beacon",
                 "pause_lines", "open_lines"]
# The names that operators know, and the names in the state.
LIMITS: Mapping[str, str] = {"admit_per_minute": "rate", "burst": "burst", "max_active": "max_active", "inventory": "inventory"}


def _flag(value: bool) -> str:
    return "1" if value else ""


def join(scope: str, visitor: str, random: str, *, direct: bool = False, wants_in: bool = False, old_epoch: str = "",
         old_position: int = 0, old_line: int = 0, old_arrival: bool = False, line: int = 0, invite: str = "",
         line_without_invite: int = 0, once: bool = False, now_ms: int | None = None) -> Call:  # fmt: skip
    """Gives `visitor` a place in `line`, the same one each time. `direct`: no cookie of ours came back, so only if nobody queues.

    A visitor of a key (edge/core/vouching.py) gets the key's live place, or a new one; with `once` none after a visit.

    Verdicts: waiting, called, inside, ended, lapsed, candidate, recovering, missing, refused (the status that gives no new
    places, or had_visit).
    """
    old = member(old_position, old_line, arrival=old_arrival) if old_position else ""
    return call_of(scripts.JOIN, scope, now_ms, random, visitor, _flag(direct), _flag(wants_in), old_epoch, old, line, invite,
                 line_without_invite, _flag(once))  # fmt: skip


def touch(scope: str, epoch: str, position: int, visitor: str, random: str, *, line: int = 0, arrival: bool = False,
          wants_in: bool = False, now_ms: int | None = None) -> Call:  # fmt: skip
    """Shows life from a place and, with `wants_in`, claims when called.

    Verdicts: waiting, called, inside, ended, lapsed (back or refused), recovering, epoch, missing.
    """
    return call_of(scripts.TOUCH, scope, now_ms, random, epoch, member(position, line, arrival=arrival), visitor, _flag(wants_in))


def renew(scope: str, epoch: str, position: int, visitor: str, expires_ms: int, random: str, *, line: int = 0,
          now_ms: int | None = None) -> Call:  # fmt: skip
    """A pass in use gets a new expiry. Verdicts: inside, ended, missing."""
    return call_of(scripts.RENEW, scope, now_ms, random, epoch, member(position, line), visitor, expires_ms)


def renew_pass(held: Pass, random: str, *, now_ms: int | None = None) -> Call:
    """The same for a pass."""
    return renew(held.scope, held.epoch, held.position, held.visitor, held.expires_ms, random, line=held.line, now_ms=now_ms)


def end(scope: str, epoch: str, position: int, visitor: str, reason: EndReason, random: str, *, line: int = 0,
        arrival: bool = False, units: int = 1, is_report: bool = False, now_ms: int | None = None) -> Call:  # fmt: skip
    """Ends a visit, or gives up a place; away: only the page was closed. `is_report`: the sale has happened, whatever is free.

    Verdicts: freed, left, away, already, late, conflict (free units), overrun (units), epoch, missing.
    """
    place = member(position, line, arrival=arrival)
    return call_of(scripts.END, scope, now_ms, random, epoch, place, visitor, reason, units, _flag(is_report))


def checkout(scope: str, epoch: str, position: int, visitor: str, step: Literal["start", "extend"], random: str, *, line: int = 0,
             now_ms: int | None = None) -> Call:  # fmt: skip
    """The payment begins, or gets its time once more.

    Verdicts: checkout (ends at, expires at, renew at: Unix ms), refused (why: no_checkout, not_started, extended).
    Or: ended, epoch, missing.
    """
    return call_of(scripts.CHECKOUT, scope, now_ms, random, epoch, member(position, line), visitor, step)


def take_snapshot(scope: str, random: str, *, node: str = "", visits: int = 0, now_ms: int | None = None) -> Call:
    """The full snapshot; also the queue's heartbeat. `visits`: new ones that `node` has seen within the last minute.

    Verdicts: ok, missing.
    """
    return call_of(scripts.SNAPSHOT, scope, now_ms, random, node, visits)


def look(scope: str, epoch: str, position: int, visitor: str, random: str, *, line: int = 0, arrival: bool = False,
         wants_in: bool = False, node: str = "", visits: int = 0, now_ms: int | None = None) -> Call:  # fmt: skip
    """`take_snapshot` and then `touch` in one step, answered with the full snapshot. Verdicts: as `touch`."""
    place = member(position, line, arrival=arrival)
    return call_of(scripts.LOOK, scope, now_ms, random, node, visits, epoch, place, visitor, _flag(wants_in))


def open_queue(scope: str, epoch: str, seed: str, key: str, opens_at_ms: int, random: str, *, beacon: str = "",
               now_ms: int | None = None) -> Call:  # fmt: skip
    """Draws the order of the pre-queue (edge/core/draw.py makes seed and key) and opens.

    Verdicts: opened (how many), kept, missing.
    """
    return call_of(scripts.OPEN, scope, now_ms, random, epoch, seed, key, opens_at_ms, beacon)


def control(scope: str, action: Action, request_id: str, random: str, *, text: str = "", now_ms: int | None = None) -> Call:
    """An operator's step; `text`: the message or the value of the beacon.

    A `request_id` may end in "." and a print of what is asked: with another print the same id is refused as reused.
    Verdicts: ok (status, epoch), refused (status), missing, busy, reused.
    """
    return call_of(scripts.CONTROL, scope, now_ms, random, action, request_id, text)


def control_queue(queue: Queue, action: Literal["pause_lines", "open_lines"], request_id: str, random: str, *,
                  now_ms: int | None = None) -> Call:  # fmt: skip
    """Pauses or opens one queue of a group by itself: nobody of its lines is called, whoever has a turn keeps it.

    Verdicts as `control`; refused when the state is of no group.
    """
    lines = range(queue.line, queue.line + queue.line_count)
    weights = ",".join(f"{line}:{queue.line_shares[line]}" for line in lines)
    return control(queue.scope, action, request_id, random, text=weights, now_ms=now_ms)


def admit(scope: str, count: int, request_id: str, random: str, *, over_rate: bool = False, line: int | None = None,
          now_ms: int | None = None) -> Call:  # fmt: skip
    """Calls the next `count` waiting, at most 500 in one step; of one line, or in the order of the lines.

    `request_id` as `control`.
    Verdicts: ok (called), missing, busy, reused, or the state of a queue that calls nobody.
    """
    return call_of(scripts.ADMIT, scope, now_ms, random, count, request_id, _flag(over_rate), line)


def set_limits(scope: str, values: Mapping[str, int | Literal["="] | None], random: str, *, request_id: str = "",
               now_ms: int | None = None) -> Call:  # fmt: skip
    """Live limits by their public names (`LIMITS`); None: no limit; "=": what the configuration says.

    A repeated `request_id` changes nothing; without one a late repeat would undo what was set since. It is as
    that of `control`. Verdicts: ok, missing, busy, reused.
    """
    pairs = [part for name, value in values.items() for part in (LIMITS[name], value)]
    return call_of(scripts.LIMITS, scope, now_ms, random, request_id, *pairs)


def read_limits(scope: str) -> list[str]:
    """A plain command: values in force, in the order of LIMITS, then the names that an operator set, then manual and always."""
    return ["HMGET", keys(scope)[0], *LIMITS.values(), "operator", "manual", "always"]


def read_inside(scope: str, member: str) -> list[str]:
    """A plain command: when the slot of a place is freed (Unix ms); nothing when nobody of it is inside."""
    return ["ZSCORE", key_of(scope, "active"), member]


def find_visitor(scope: str, visitor: str) -> list[list[str]]:
    """Plain commands, one after the other until one tells the place that a visitor has or had."""
    return [["HGET", key_of(scope, part), visitor] for part in ("places", "places-old")]


def read_figures(scope: str) -> list[str]:
    """A plain command: the counts of waits and of times before giving up (edge/core/figures.py reads them)."""
    return ["HGETALL", key_of(scope, "figures")]


def configure(queue: Queue, random: str, *, new: bool = False, now_ms: int | None = None) -> Call:
    """Offers a published configuration.

    `new`: the queue has never run, so it begins as its schedule says; else a missing state recovers.
    Verdicts: created, recovering, taken, kept.
    """
    limits = (queue.admit_per_minute, queue.burst, queue.max_active, queue.inventory, _ms(queue.checkout_s),
              _ms(queue.visit_max_s), queue.start_queueing_above)  # fmt: skip
    seconds = (queue.claim_within_s, queue.idle_s, queue.renew_every_s, queue.settle_s, queue.presence_grace_s,
               queue.candidate_hold_s, queue.late_claim_within_s)  # fmt: skip
    schedule = (queue.prequeue_at_ms or 0, queue.opens_at_ms or 0, queue.closes_at_ms or 0)
    flags = (int(queue.prequeue_order == "draw"), int(queue.draw_beacon is not None), queue.spread_s * 1000,
             int(bool(queue.group)), int(queue.events))  # fmt: skip
    others = (int(queue.manual), int(queue.always_queue), *(value * 1000 for value in seconds), queue.late_share_percent * 10,
              *schedule, *flags)  # fmt: skip
    return call_of(scripts.CONFIGURE, queue.scope, now_ms, random, _flag(new), queue.config_version, *limits, *others,
                 queue.late_claim, ",".join(map(str, queue.line_shares)))  # fmt: skip


def _ms(seconds: int | None) -> int | None:
    return None if seconds is None else seconds * 1000
