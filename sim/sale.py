"""A sale as a file: TOML, checked by one table that also makes the reference page (docs/simulation.md)."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from edge.core.config import load_config
from edge.core.errors import ConfigError
from edge.core.fields import Choice, Field, Int, ListOf, Obj, Text
from edge.core.model import Queue

Shape = Literal["even", "rush", "ramp"]
FaultKind = Literal["away", "errors", "lost_answers", "stall", "flush", "clock", "kill"]
ChangeKind = Literal["limits", "pause", "resume", "reset", "admit"]

SALE_FILE_MAX_BYTES = 1_000_000
_DAY_S = 86_400
_SECONDS = Int(0, 7 * _DAY_S)
_PERCENT = Int(0, 100)
_PEOPLE = Int(0, 5_000_000)


@dataclass(frozen=True)
class Arrivals:
    """A piece of the arrival curve."""

    from_s: int
    to_s: int
    people: int
    shape: Shape


@dataclass(frozen=True)
class People:
    """Who they are: shares in percent of all, times in seconds."""

    closers_percent: int
    closers_after_s: int
    returners_percent: int
    returners_after_s: int
    leavers_percent: int
    vip_percent: int
    two_tabs_percent: int
    sleepers_percent: int
    sleep_s: int
    hidden_percent: int
    absent_when_called_percent: int
    claim_after_s: int
    visit_s: int
    request_every_s: int
    buyers_percent: int
    slow_payers_percent: int
    slow_visit_s: int
    vanish_inside_percent: int


@dataclass(frozen=True)
class Bots:
    """Hits without a cookie, and bots that send it back and so take places, from few networks."""

    hits: int
    from_s: int
    to_s: int
    with_cookies: int
    networks: int


@dataclass(frozen=True)
class Change:
    """What an operator does at a moment."""

    at_s: int
    action: ChangeKind
    count: int
    limits: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True)
class Fault:
    """Trouble of the store for a while."""

    at_s: int
    for_s: int
    kind: FaultKind
    percent: int
    clock_by_s: int
    lose_s: int


@dataclass(frozen=True)
class Sale:
    """One sale. Times are seconds after it begins."""

    name: str
    seed: int
    lasts_s: int
    nodes: int
    clocks_off_ms: int
    aof: Literal["no", "always", "everysec"]
    check_every_s: int
    queue: Queue
    arrivals: tuple[Arrivals, ...]
    people: People
    bots: Bots
    changes: tuple[Change, ...]
    faults: tuple[Fault, ...]

    @property
    def persons(self) -> int:
        """How many people come, bots apart."""
        return sum(piece.people for piece in self.arrivals)


def _as_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _QueueOf:
    """Keys of a queue's configuration; id, name and routes have defaults here."""

    says, optional = "keys of a queue", False

    def check(self, value: Any, path: str) -> Queue:
        """The queue, through the same check as a configuration that is published."""
        if not isinstance(value, dict):
            raise ConfigError(path, "must be a table with keys of a queue")
        # TOML has times of its own; the configuration takes them as text.
        value = {key: _as_text(each) if isinstance(each, datetime) else each for key, each in value.items()}
        named = {"id": "sale", "name": "The sale", "routes": [{"host": "*", "path": "/*"}]}
        try:
            text = json.dumps({"queues": [named | value]})
        except (TypeError, ValueError) as error:
            raise ConfigError(path, f"times and dates are written as text: {error}") from error
        try:
            queue = load_config(text).queues[0]
        except ConfigError as error:
            raise ConfigError(error.path.replace("queues[0]", path), error.problem) from error
        if queue.on_store_error == "admit":
            raise ConfigError(f"{path}.on_store_error", "admissions without Redis are not simulated: leave it at hold")
        return queue


class _LimitsOf:
    """Live limits by their public names; -1 takes a limit away."""

    says, optional = "admit_per_minute, burst, max_active, inventory; -1: no limit", False
    names = ("admit_per_minute", "burst", "max_active", "inventory")

    def check(self, value: Any, path: str) -> tuple[tuple[str, int | None], ...]:
        """The limits, None for none."""
        if not isinstance(value, dict):
            raise ConfigError(path, "must be a table")
        out: dict[str, int | None] = {}
        for name, number in value.items():
            if name not in self.names:
                raise ConfigError(f"{path}.{name}", f"unknown limit; known are {', '.join(self.names)}")
            checked = Int(-1, 100_000_000).check(number, f"{path}.{name}")
            out[name] = None if checked == -1 else checked
        return tuple(out.items())


ARRIVALS_FIELDS = (
    Field("from_s", _SECONDS, "when the first of them comes", 0, "s"),
    Field("to_s", _SECONDS, "when the last of them comes", 60, "s"),
    Field("people", _PEOPLE, "how many come"),
    Field("shape", Choice(("even", "rush", "ramp")),
          "even: all the time alike; rush: most at once, then fewer; ramp: more and more", "even"),
)  # fmt: skip
PEOPLE_FIELDS = (
    Field("closers_percent", _PERCENT, "close the tab while they wait", 0, "%"),
    Field("closers_after_s", _SECONDS, "how long a closer waits on average", 300, "s"),
    Field("returners_percent", _PERCENT, "of the closers: come back with their cookie", 0, "%"),
    Field("returners_after_s", _SECONDS, "how long a returner is away on average", 120, "s"),
    Field("leavers_percent", _PERCENT, "give up their place with the page's button, after as long as a closer", 0, "%"),
    Field("vip_percent", _PERCENT, "stand in the second lane of the queue, if it has one", 0, "%"),
    Field("two_tabs_percent", _PERCENT, "have the page open in two tabs", 0, "%"),
    Field("sleepers_percent", _PERCENT, "wait on a phone that sleeps once", 0, "%"),
    Field("sleep_s", _SECONDS, "how long it sleeps", 180, "s"),
    Field("hidden_percent", _PERCENT, "wait in a hidden tab, which asks once a minute at most", 0, "%"),
    Field("absent_when_called_percent", _PERCENT, "show life to the end and do not come in when called", 0, "%"),
    Field("claim_after_s", Int(1, 3600), "from reading that it is their turn to coming in, at most", 8, "s"),
    Field("visit_s", Int(1, _DAY_S), "an ordinary visit, on average", 120, "s"),
    Field("request_every_s", Int(1, 3600), "inside: from request to request", 20, "s"),
    Field("buyers_percent", _PERCENT, "buy one unit at the end of the visit; the others leave", 80, "%"),
    Field("slow_payers_percent", _PERCENT, "stay longer, and are silent while they pay", 0, "%"),
    Field("slow_visit_s", Int(1, _DAY_S), "a slow payer's visit, on average", 480, "s"),
    Field("vanish_inside_percent", _PERCENT, "vanish inside: the visit ends by itself", 0, "%"),
)
BOTS_FIELDS = (
    Field("hits", _PEOPLE, "requests without any cookie", 0),
    Field("from_s", _SECONDS, "when they begin", 0, "s"),
    Field("to_s", _SECONDS, "when they end", 600, "s"),
    Field("with_cookies", _PEOPLE, "bots that send the cookie back, and never come in", 0),
    Field("networks", Int(1, 100_000), "client networks that all bots come from", 8),
)
CHANGE_FIELDS = (
    Field("at_s", _SECONDS, "when", 0, "s"),
    Field("action", Choice(("limits", "pause", "resume", "reset", "admit")), "what the operator does", "limits"),
    Field("count", Int(0, 100_000), "admit: how many are called", 0),
    Field("limits", _LimitsOf(), "limits: the live values", ()),
)
FAULT_FIELDS = (
    Field("at_s", _SECONDS, "when", 0, "s"),
    Field("for_s", _SECONDS, "for how long", 0, "s"),
    Field("kind", Choice(("away", "errors", "lost_answers", "stall", "flush", "clock", "kill")),
          "away: no connection; errors: refusals before any effect; lost_answers: the effect, but no answer; stall: silence, "
          "then all at once; flush: FLUSHALL; clock: the clock of Redis is set; kill: kill -9 and a restart after `for_s`"),
    Field("percent", _PERCENT, "errors and lost_answers: of how many requests", 100, "%"),
    Field("clock_by_s", Int(-_DAY_S, _DAY_S), "clock: by how much; negative: back", 0, "s"),
    Field("lose_s", Int(0, 60), "kill: so much of the append-only file is cut off, as everysec may lose", 0, "s"),
)  # fmt: skip


def _obj(fields: tuple[Field, ...], kind: Any) -> Obj:
    return Obj(fields, lambda values: kind(**values))


SALE_FIELDS = (
    Field("name", Text(r"[^\x00-\x1f]+", "a line of text", 120), "what the report is headed with"),
    Field("seed", Int(0, 2**31), "of everything that is left to chance: the same seed, the same sale", 1),
    Field("lasts_s", Int(1, 7 * _DAY_S), "the end at the latest; it ends earlier when nobody is left", 7200, "s"),
    Field("nodes", Int(1, 200), "edge nodes, each with a snapshot of its own", 4),
    Field("clocks_off_ms", Int(0, 3_600_000), "clocks of the nodes are off by up to so much, either way", 0, "ms"),
    Field("aof", Choice(("no", "always", "everysec")), "what Redis writes to its append-only file", "no"),
    Field("check_every_s", Int(1, 3600), "on average so often the account is held against what Redis has", 15, "s"),
    Field("queue", _QueueOf(), "the queue"),
    Field("arrivals", ListOf(_obj(ARRIVALS_FIELDS, Arrivals), 1, 1000), "pieces of the arrival curve"),
    Field("people", _obj(PEOPLE_FIELDS, People), "who they are"),
    Field("bots", _obj(BOTS_FIELDS, Bots), "who they are not"),
    Field("changes", ListOf(_obj(CHANGE_FIELDS, Change), 0, 1000), "what the operator does", ()),
    Field("faults", ListOf(_obj(FAULT_FIELDS, Fault), 0, 1000), "trouble of the store", ()),
)
SALE = _obj(SALE_FIELDS, Sale)
TABLES: dict[str, tuple[Field, ...]] = {
    "": SALE_FIELDS, "[[arrivals]]": ARRIVALS_FIELDS, "[people]": PEOPLE_FIELDS, "[bots]": BOTS_FIELDS,
    "[[changes]]": CHANGE_FIELDS, "[[faults]]": FAULT_FIELDS,
}  # fmt: skip


def _check_together(sale: Sale) -> None:
    """What no single key shows."""
    for index, piece in enumerate(sale.arrivals):
        if piece.to_s < piece.from_s:
            raise ConfigError(f"arrivals[{index}].to_s", f"{piece.to_s} is before from_s, {piece.from_s}")
        if piece.from_s >= sale.lasts_s:
            raise ConfigError(f"arrivals[{index}].from_s", f"is after the end of the sale: raise lasts_s, {sale.lasts_s}")
    if sale.bots.to_s < sale.bots.from_s:
        raise ConfigError("bots.to_s", f"{sale.bots.to_s} is before from_s, {sale.bots.from_s}")
    if sale.persons == 0:
        raise ConfigError("arrivals", "nobody comes: give at least one piece some people")
    end_s = -1
    for index, fault in sorted(enumerate(sale.faults), key=lambda pair: pair[1].at_s):
        if fault.at_s <= end_s:
            raise ConfigError(f"faults[{index}].at_s", f"begins before the one before it has ended, at {end_s} s")
        end_s = fault.at_s + fault.for_s
        if fault.kind in ("away", "errors", "lost_answers", "stall") and not fault.for_s:
            raise ConfigError(f"faults[{index}].for_s", f"{fault.kind} lasts for a while: give its seconds")
        if fault.kind == "clock" and not fault.clock_by_s:
            raise ConfigError(f"faults[{index}].clock_by_s", "give the seconds by which the clock is set")
        if fault.kind == "kill" and sale.aof == "no":
            raise ConfigError("aof", "a killed Redis without an append-only file comes back empty: say always or everysec, "
                              "or use the fault flush")  # fmt: skip


def read_sale(text: str) -> Sale:
    """A sale from TOML. Raises ConfigError with the place of the fault."""
    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("", f"this is no TOML: {error}") from error
    for table in ("people", "bots"):
        values.setdefault(table, {})
    sale: Sale = SALE.check(values, "")
    _check_together(sale)
    return sale


def load_sale(path: Path, seed: int | None = None) -> Sale:
    """A sale from a file, with another seed if one is given. Raises ConfigError, also for a file that cannot be read."""
    try:
        data = path.read_bytes()
        if len(data) > SALE_FILE_MAX_BYTES:
            raise ConfigError(str(path), f"is larger than {SALE_FILE_MAX_BYTES} bytes")
        sale = read_sale(data.decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), f"cannot be read: {error}") from error
    return sale if seed is None else replace(sale, seed=seed)
