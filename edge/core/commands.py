"""Every step against Redis as a value: which script, which keys, which arguments; and how its answer reads.

A `Call` is made here, sent by whoever drives the core (or by the admin), and its reply is read by `Answer.read`.
Times are Unix milliseconds. `now_ms` is for simulation only: without it the server's own clock rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from edge.core import scripts, snapshot
from edge.core.errors import StoreBusy
from edge.core.model import Queue
from edge.core.scripts import Flavour, Script
from edge.core.snapshot import Snapshot

_PARTS = ("state", "places", "places-old", "ready", "seen", "called", "active", "used", "left", "gone", "ended", "claims",
          "reentry", "requests")  # fmt: skip

EndReason = Literal["left", "completed", "revoked", "undelivered"]
# The names that operators know, and the names in the state.
LIMITS: Mapping[str, str] = {"admit_per_minute": "rate", "burst": "burst", "max_active": "max_active", "inventory": "inventory"}


@lru_cache(maxsize=1024)
def keys(scope: str) -> tuple[str, ...]:
    """The keys of a scope, in the order of `scripts/head.lua`; one hash tag, so one slot of a cluster."""
    return tuple(f"st:{{{scope}}}:{part}" for part in _PARTS)


@dataclass(frozen=True)
class Call:
    """One script with its keys and arguments, ready to be sent by EVALSHA, or by EVAL when the server has forgotten it."""

    script: Script
    keys: tuple[str, ...]
    args: tuple[str, ...]

    def evalsha(self, flavour: Flavour = "redis") -> list[str]:
        """The command that names the script by its SHA-1; the server may answer NOSCRIPT."""
        return ["EVALSHA", self.script.sha[flavour], str(len(self.keys)), *self.keys, *self.args]

    def eval(self, flavour: Flavour = "redis") -> list[str]:
        """The command that carries the whole script."""
        return ["EVAL", self.script.text[flavour], str(len(self.keys)), *self.keys, *self.args]


@dataclass(frozen=True)
class Answer:
    """What a script said: a verdict, its details in the order of the script's header, and the snapshot that rode along."""

    verdict: str
    details: tuple[str, ...]
    snapshot: Snapshot | None

    def number(self, index: int) -> int:
        """Detail `index` as a whole number. Raises StoreBusy when the script did not say one."""
        try:
            return int(self.details[index])
        except (ValueError, IndexError) as error:
            raise StoreBusy(f"the store answered {self.verdict} without its numbers") from error

    @staticmethod
    def read(reply: object) -> Answer:
        """Reads a reply. Raises StoreBusy when it is not one of ours (a proxy's answer, another version's)."""
        try:
            verdict, snap = _as_list(_as_list(reply)[0]), _as_list(_as_list(reply)[1])
            return Answer(str(verdict[0]), tuple(map(str, verdict[1:])), snapshot.parse(snap) if snap else None)
        except (TypeError, ValueError, IndexError) as error:
            raise StoreBusy(f"the store answered with something that no script of ours says: {str(reply)[:80]!r}") from error


def _as_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"a list was expected, not {type(value).__name__}")
    return value


def _call(script: Script, scope: str, now_ms: int | None, random: str, *args: object) -> Call:
    head = ("" if now_ms is None else str(now_ms), random)
    return Call(script, keys(scope), head + tuple("" if arg is None else str(arg) for arg in args))


def _flag(value: bool) -> str:
    return "1" if value else ""


def join(scope: str, visitor: str, random: str, *, direct: bool = False, wants_in: bool = False, old_epoch: str = "",
         old_position: int = 0, now_ms: int | None = None) -> Call:  # fmt: skip
    """Gives `visitor` a place, the same one each time. `direct`: no cookie of ours came back, so only if nobody queues.

    Verdicts: waiting, called, inside, ended, candidate, recovering, missing.
    """
    return _call(scripts.JOIN, scope, now_ms, random, visitor, _flag(direct), _flag(wants_in), old_epoch, old_position or "")


def touch(scope: str, epoch: str, position: int, visitor: str, random: str, *, wants_in: bool = False,
          now_ms: int | None = None) -> Call:  # fmt: skip
    """Shows life from a place and, with `wants_in`, claims when called.

    Verdicts: waiting, called, inside, ended, recovering, epoch, missing.
    """
    return _call(scripts.TOUCH, scope, now_ms, random, epoch, position, visitor, _flag(wants_in))


def renew(scope: str, epoch: str, position: int, visitor: str, expires_ms: int, random: str, *,
          now_ms: int | None = None) -> Call:  # fmt: skip
    """Gives a pass in use a new expiry. Verdicts: inside, ended, missing."""
    return _call(scripts.RENEW, scope, now_ms, random, epoch, position, visitor, expires_ms)


def end(scope: str, epoch: str, position: int, visitor: str, reason: EndReason, random: str, *, units: int = 1,
        now_ms: int | None = None) -> Call:  # fmt: skip
    """Ends a visit, or gives up a place. Verdicts: freed, left, already, late, conflict (free units), epoch, missing."""
    return _call(scripts.END, scope, now_ms, random, epoch, position, visitor, reason, units)


def take_snapshot(scope: str, random: str, *, now_ms: int | None = None) -> Call:
    """The full snapshot; also the queue's heartbeat. Verdicts: ok, missing."""
    return _call(scripts.SNAPSHOT, scope, now_ms, random)


def control(scope: str, action: Literal["pause", "resume", "reset"], request_id: str, random: str, *,
            now_ms: int | None = None) -> Call:  # fmt: skip
    """An operator's step. Verdicts: ok (status, epoch), missing, busy."""
    return _call(scripts.CONTROL, scope, now_ms, random, action, request_id)


def admit(scope: str, count: int, request_id: str, random: str, *, now_ms: int | None = None) -> Call:
    """Calls the next `count` waiting, at most 500 in one step. Verdicts: ok (called), paused, recovering, missing, busy."""
    return _call(scripts.ADMIT, scope, now_ms, random, count, request_id)


def set_limits(scope: str, values: Mapping[str, int | Literal["="] | None], random: str, *, request_id: str = "",
               now_ms: int | None = None) -> Call:  # fmt: skip
    """Live limits by their public names (`LIMITS`); None: no limit; "=": what the configuration says.

    A repeated `request_id` changes nothing; without one a late repeat would undo what was set since. Verdicts: ok, missing, busy.
    """
    pairs = [part for name, value in values.items() for part in (LIMITS[name], value)]
    return _call(scripts.LIMITS, scope, now_ms, random, request_id, *pairs)


def read_limits(scope: str) -> list[str]:
    """A plain command: values in force, in the order of LIMITS, then the names that an operator set, then manual and always."""
    return ["HMGET", keys(scope)[0], *LIMITS.values(), "operator", "manual", "always"]


def pipeline(calls: Sequence[Call], flavour: Flavour = "redis") -> list[list[str]]:
    """The body of POST /pipeline for `calls`."""
    return [call.evalsha(flavour) for call in calls]


def configure(queue: Queue, random: str, *, new: bool = False, now_ms: int | None = None) -> Call:
    """Offers a published configuration. `new`: the queue has never run, so it opens at once; else a missing state recovers.

    Verdicts: created, recovering, taken, kept.
    """
    limits = (queue.admit_per_minute, queue.burst, queue.max_active, queue.inventory, int(queue.manual), int(queue.always_queue))
    seconds = (queue.claim_within_s, queue.idle_s, queue.renew_every_s, queue.settle_s, queue.presence_grace_s,
               queue.candidate_hold_s)  # fmt: skip
    times_ms = (value * 1000 for value in seconds)
    return _call(scripts.CONFIGURE, queue.scope, now_ms, random, _flag(new), queue.config_version, *limits, *times_ms)
