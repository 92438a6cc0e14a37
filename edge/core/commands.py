"""Every step against Redis as a value: which script, which keys, which arguments; and how its answer reads.

A `Call` is made here, sent by whoever drives the core (or by the admin), and its reply is read by `Answer.read`.
Times are Unix milliseconds. `now_ms` is for simulation only: without it the server's own clock rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from edge.core import quick_json, scripts, snapshot
from edge.core.errors import StoreBusy
from edge.core.model import Queue
from edge.core.scripts import Flavour, Script
from edge.core.snapshot import Snapshot
from edge.core.tokens import Pass

_PARTS = ("state", "places", "places-old", "ready", "seen", "called", "active", "used", "left", "gone", "ended", "claims",
          "reentry", "requests", "visits", "passed", "invites", "nodes", "sample", "events", "holders", "joins",
          "figures")  # fmt: skip

# One replacement makes all keys of a scope, as they are and as JSON: a step for each costs a fresh sandbox more than the rest.
_KEYS = "\n".join(f"st:{{*}}:{part}" for part in _PARTS)
_KEYS_WRITTEN = ",".join(f'"st:{{*}}:{part}"' for part in _PARTS)
# Between arguments that are escaped together: no argument of ours holds it, and one that does is written by itself.
_BETWEEN, _BETWEEN_WRITTEN = "\x7f", "\\u007f"

EndReason = Literal["left", "completed", "revoked", "undelivered", "away"]
Action = Literal["open", "resume", "pause", "drain", "close", "maintenance", "reset", "message", "beacon",
                 "pause_lines", "open_lines"]
# The names that operators know, and the names in the state.
LIMITS: Mapping[str, str] = {"admit_per_minute": "rate", "burst": "burst", "max_active": "max_active", "inventory": "inventory"}


@lru_cache(maxsize=1024)
def keys(scope: str) -> tuple[str, ...]:
    """The keys of a scope, in the order of `scripts/head.lua`; one hash tag, so one slot of a cluster."""
    return tuple(_KEYS.replace("*", scope).split("\n"))


def member(position: int, line: int = 0, *, arrival: bool = False) -> str:
    """A place as the scripts name it. `arrival`: the number was given before the opening."""
    name = str(position) if line == 0 else f"{line}:{position}"
    return f"a{name}" if arrival else name


def read_member(name: str) -> tuple[int, int]:
    """Line and position of a place as the scripts name it. Raises ValueError when it is none."""
    line, _, position = name.rpartition(":")
    return int(line or 0), int(position)


@dataclass(slots=True)
class Call:
    """One script with its keys and arguments, ready to be sent by EVALSHA, or by EVAL when the server has forgotten it."""

    script: Script
    scope: str
    args: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Its keys; made when it is sent, for most snapshots are at hand."""
        return keys(self.scope)

    def evalsha(self, flavour: Flavour = "redis") -> list[str]:
        """The command that names the script by its SHA-1; the server may answer NOSCRIPT."""
        return ["EVALSHA", self.script.sha[flavour], str(len(_PARTS)), *self.keys, *self.args]

    def eval(self, flavour: Flavour = "redis") -> list[str]:
        """The command that carries the whole script."""
        return ["EVAL", self.script.text[flavour], str(len(_PARTS)), *self.keys, *self.args]

    def written(self, flavour: Flavour = "redis", *, whole: bool = False) -> str:
        """The same command as JSON; `whole`: the one that carries the script."""
        args = quick_json.written(_BETWEEN.join(self.args)).replace(_BETWEEN_WRITTEN, '","')
        if args.count('","') != len(self.args) - 1:
            return quick_json.write(self.eval(flavour) if whole else self.evalsha(flavour))
        head = f'"EVAL",{quick_json.written(self.script.text[flavour])}' if whole else f'"EVALSHA","{self.script.sha[flavour]}"'
        keys_written = _KEYS_WRITTEN.replace("*", quick_json.written(self.scope)[1:-1])
        return f'[{head},"{len(_PARTS)}",{keys_written},{args}]'


@dataclass(slots=True)
class Answer:
    """What a script said: a verdict, its details in the order of the script's header, and the snapshot that rode along.

    `visitor`: whom a key stands for now, where the step was one of a key; else empty.
    """

    verdict: str
    details: tuple[str, ...]
    snapshot: Snapshot | None
    visitor: str = ""

    def number(self, index: int) -> int:
        """Detail `index` as a whole number; of a place its position. Raises StoreBusy when the script did not say one."""
        try:
            return int(self.details[index].rpartition(":")[2])
        except (ValueError, IndexError) as error:
            raise StoreBusy(f"the store answered {self.verdict} without its numbers") from error

    @property
    def line(self) -> int:
        """The line of the place that the answer names."""
        return read_member(self.details[0])[0] if self.details else 0

    @property
    def is_arrival(self) -> bool:
        """Whether the place is a number of arrival from before the opening."""
        return self.verdict == "waiting" and self.details[1:2] == ("arrival",)

    @staticmethod
    def read(reply: object) -> Answer:
        """Reads a reply. Raises StoreBusy when it is not one of ours (a proxy's answer, another version's)."""
        try:
            verdict, snap = _as_list(_as_list(reply)[0]), _as_list(_as_list(reply)[1])
            whom = str(_as_list(reply)[2]) if len(_as_list(reply)) > 2 else ""
            return Answer(str(verdict[0]), tuple(map(str, verdict[1:])), snapshot.parse(snap) if snap else None, whom)
        except (TypeError, ValueError, IndexError) as error:
            raise StoreBusy(f"the store answered with something that no script of ours says: {str(reply)[:80]!r}") from error


def _as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    return value


def _call(script: Script, scope: str, now_ms: int | None, random: str, *args: object) -> Call:
    head = ("" if now_ms is None else str(now_ms), random)
    return Call(script, scope, (*head, *["" if arg is None else str(arg) for arg in args]))


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
    return _call(scripts.JOIN, scope, now_ms, random, visitor, _flag(direct), _flag(wants_in), old_epoch, old, line, invite,
                 line_without_invite, _flag(once))  # fmt: skip


def touch(scope: str, epoch: str, position: int, visitor: str, random: str, *, line: int = 0, arrival: bool = False,
          wants_in: bool = False, now_ms: int | None = None) -> Call:  # fmt: skip
    """Shows life from a place and, with `wants_in`, claims when called.

    Verdicts: waiting, called, inside, ended, lapsed (back or refused), recovering, epoch, missing.
    """
    return _call(scripts.TOUCH, scope, now_ms, random, epoch, member(position, line, arrival=arrival), visitor, _flag(wants_in))


def renew(scope: str, epoch: str, position: int, visitor: str, expires_ms: int, random: str, *, line: int = 0,
          now_ms: int | None = None) -> Call:  # fmt: skip
    """A pass in use gets a new expiry. Verdicts: inside, ended, missing."""
    return _call(scripts.RENEW, scope, now_ms, random, epoch, member(position, line), visitor, expires_ms)


def renew_pass(held: Pass, random: str) -> Call:
    """The same for a pass."""
    return renew(held.scope, held.epoch, held.position, held.visitor, held.expires_ms, random, line=held.line)


def end(scope: str, epoch: str, position: int, visitor: str, reason: EndReason, random: str, *, line: int = 0,
        arrival: bool = False, units: int = 1, is_report: bool = False, now_ms: int | None = None) -> Call:  # fmt: skip
    """Ends a visit, or gives up a place; away: only the page was closed. `is_report`: the sale has happened, whatever is free.

    Verdicts: freed, left, away, already, late, conflict (free units), overrun (units), epoch, missing.
    """
    place = member(position, line, arrival=arrival)
    return _call(scripts.END, scope, now_ms, random, epoch, place, visitor, reason, units, _flag(is_report))


def checkout(scope: str, epoch: str, position: int, visitor: str, step: Literal["start", "extend"], random: str, *, line: int = 0,
             now_ms: int | None = None) -> Call:  # fmt: skip
    """The payment begins, or gets its time once more.

    Verdicts: checkout (ends at, expires at, renew at: Unix ms), refused (why: no_checkout, not_started, extended).
    Or: ended, epoch, missing.
    """
    return _call(scripts.CHECKOUT, scope, now_ms, random, epoch, member(position, line), visitor, step)


def take_snapshot(scope: str, random: str, *, node: str = "", visits: int = 0, now_ms: int | None = None) -> Call:
    """The full snapshot; also the queue's heartbeat. `visits`: new ones that `node` has seen within the last minute.

    Verdicts: ok, missing.
    """
    return _call(scripts.SNAPSHOT, scope, now_ms, random, node, visits)


def look(scope: str, epoch: str, position: int, visitor: str, random: str, *, line: int = 0, arrival: bool = False,
         wants_in: bool = False, node: str = "", visits: int = 0, now_ms: int | None = None) -> Call:  # fmt: skip
    """`take_snapshot` and then `touch` in one step, answered with the full snapshot. Verdicts: as `touch`."""
    place = member(position, line, arrival=arrival)
    return _call(scripts.LOOK, scope, now_ms, random, node, visits, epoch, place, visitor, _flag(wants_in))


def open_queue(scope: str, epoch: str, seed: str, key: str, opens_at_ms: int, random: str, *, beacon: str = "",
               now_ms: int | None = None) -> Call:  # fmt: skip
    """Draws the order of the pre-queue (edge/core/draw.py makes seed and key) and opens.

    Verdicts: opened (how many), kept, missing.
    """
    return _call(scripts.OPEN, scope, now_ms, random, epoch, seed, key, opens_at_ms, beacon)


def control(scope: str, action: Action, request_id: str, random: str, *, text: str = "", now_ms: int | None = None) -> Call:
    """An operator's step; `text`: the message or the value of the beacon.

    A `request_id` may end in "." and a print of what is asked: with another print the same id is refused as reused.
    Verdicts: ok (status, epoch), refused (status), missing, busy, reused.
    """
    return _call(scripts.CONTROL, scope, now_ms, random, action, request_id, text)


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
    return _call(scripts.ADMIT, scope, now_ms, random, count, request_id, _flag(over_rate), line)


def set_limits(scope: str, values: Mapping[str, int | Literal["="] | None], random: str, *, request_id: str = "",
               now_ms: int | None = None) -> Call:  # fmt: skip
    """Live limits by their public names (`LIMITS`); None: no limit; "=": what the configuration says.

    A repeated `request_id` changes nothing; without one a late repeat would undo what was set since. It is as
    that of `control`. Verdicts: ok, missing, busy, reused.
    """
    pairs = [part for name, value in values.items() for part in (LIMITS[name], value)]
    return _call(scripts.LIMITS, scope, now_ms, random, request_id, *pairs)


def read_limits(scope: str) -> list[str]:
    """A plain command: values in force, in the order of LIMITS, then the names that an operator set, then manual and always."""
    return ["HMGET", keys(scope)[0], *LIMITS.values(), "operator", "manual", "always"]


def read_inside(scope: str, member: str) -> list[str]:
    """A plain command: when the slot of a place is freed (Unix ms); nothing when nobody of it is inside."""
    return ["ZSCORE", keys(scope)[_PARTS.index("active")], member]


def find_visitor(scope: str, visitor: str) -> list[list[str]]:
    """Plain commands, one after the other until one tells the place that a visitor has or had."""
    return [["HGET", keys(scope)[_PARTS.index(part)], visitor] for part in ("places", "places-old")]


def read_figures(scope: str) -> list[str]:
    """A plain command: the counts of waits and of times before giving up (edge/core/figures.py reads them)."""
    return ["HGETALL", keys(scope)[_PARTS.index("figures")]]


def pipeline(calls: Sequence[Call], flavour: Flavour = "redis") -> list[list[str]]:
    """What POST /pipeline takes for `calls`."""
    return [call.evalsha(flavour) for call in calls]


def pipeline_body(calls: Sequence[Call], flavour: Flavour = "redis", *, whole: bool = False) -> str:
    """The body of POST /pipeline for `calls`, which is JSON; `whole`: with the text of the scripts."""
    return f"[{','.join([call.written(flavour, whole=whole) for call in calls])}]"


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
    return _call(scripts.CONFIGURE, queue.scope, now_ms, random, _flag(new), queue.config_version, *limits, *others,
                 queue.late_claim, ",".join(map(str, queue.line_shares)))  # fmt: skip


def _ms(seconds: int | None) -> int | None:
    return None if seconds is None else seconds * 1000
