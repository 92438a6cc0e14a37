"""The keys of a sale file: one table that checks them and makes the reference page (docs/simulation.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from edge.core.commands import LIMITS
from edge.core.errors import ConfigError
from edge.core.fields import Choice, Field, Int, ListOf, Obj, Text
from edge.core.model import LINES_AT_MOST, QUEUE_FIELDS
from sim.sale import Arrivals, Bots, Change, Fault, People

_DAY_S = 86_400
_SECONDS = Int(0, 7 * _DAY_S)
_PERCENT = Int(0, 100)
_PEOPLE = Int(0, 5_000_000)
_LIMIT_KINDS = {field.name: field.kind for field in QUEUE_FIELDS if field.name in LIMITS}


class _LimitsOf:
    """Live limits by their public names; -1 takes a limit away."""

    says, optional, left_out = f"{', '.join(LIMITS)}; -1: no limit", False, "none"

    def check(self, value: Any, path: str) -> tuple[tuple[str, int | None], ...]:
        """The limits, None for none."""
        if not isinstance(value, dict):
            raise ConfigError(path, "must be a table, as { admit_per_minute = 300 }")
        out: dict[str, int | None] = {}
        for name, number in value.items():
            if name not in LIMITS:
                raise ConfigError(f"{path}.{name[:80]}", f"unknown limit; known are {', '.join(LIMITS)}")
            is_none = type(number) is int and number == -1
            try:
                out[name] = None if is_none else _LIMIT_KINDS[name].check(number, f"{path}.{name}")
            except ConfigError as error:
                raise ConfigError(error.path, error.problem.replace("null for none", "-1 for none")) from error
        return tuple(out.items())


@dataclass(frozen=True)
class Table:
    """A table that is looked into later, with what stands beside it."""

    says: str
    optional: bool = False
    left_out: str = "none"

    def check(self, value: Any, path: str) -> Any:
        """The table itself."""
        if not isinstance(value, dict):
            raise ConfigError(path, f"must be a table with {self.says}")
        return value


ARRIVALS_FIELDS = (
    Field("from_s", _SECONDS, "when the first of them comes", 0, "s"),
    Field("to_s", _SECONDS, "when the last of them comes", 60, "s"),
    Field("people", _PEOPLE, "how many come"),
    Field("shape", Choice(("even", "rush", "ramp")),
          "even: all the time alike; rush: most at once, then fewer; ramp: more and more", "even"),
    Field("queue", Text("[a-z0-9-]*", "the id of a queue of the group", 48), "which queue they come to; left out: the first", ""),
)  # fmt: skip
PEOPLE_FIELDS = (
    Field("closers_percent", _PERCENT, "close the tab while they wait", 0, "%"),
    Field("closers_after_s", _SECONDS, "how long a closer waits on average", 300, "s"),
    Field("returners_percent", _PERCENT, "of the closers: come back with their cookie", 0, "%"),
    Field("returners_after_s", _SECONDS, "how long a returner is away on average", 120, "s"),
    Field("leavers_percent", _PERCENT, "give up their place with the page's button, after as long as a closer; with the "
          "closers at most 100", 0, "%"),
    Field("vip_percent", _PERCENT, "stand in the second lane of their queue: by an invitation, where the lane takes these",
          0, "%"),
    Field("invites_shared_percent", _PERCENT, "of those with an invitation: hand their link to the next one who comes, too; it "
          "is good for one of the two", 0, "%"),
    Field("two_tabs_percent", _PERCENT, "have the page open in two tabs", 0, "%"),
    Field("sleepers_percent", _PERCENT, "wait on a phone that sleeps once", 0, "%"),
    Field("sleep_s", _SECONDS, "how long it sleeps", 180, "s"),
    Field("hidden_percent", _PERCENT, "wait in a hidden tab, which asks once a minute at most", 0, "%"),
    Field("absent_when_called_percent", _PERCENT, "show life to the end and do not come in when called", 0, "%"),
    Field("claim_after_s", Int(1, 3600), "from reading that it is their turn to coming in, at most", 8, "s"),
    Field("visit_s", Int(1, _DAY_S), "an ordinary visit, on average", 120, "s"),
    Field("request_every_s", Int(1, 3600), "inside: from request to request", 20, "s"),
    Field("buyers_percent", _PERCENT, "buy one unit at the end of the visit; the others leave", 80, "%"),
    Field("checkout_percent", _PERCENT, "of the buyers: begin to pay half way through the visit, which starts the checkout "
          "timer of the queue", 0, "%"),
    Field("checkout_extends_percent", _PERCENT, "of these: ask for the time once more, and then again in vain", 0, "%"),
    Field("checkout_runs_out_percent", _PERCENT, "of those who begin to pay: do not manage in time", 0, "%"),
    Field("slow_payers_percent", _PERCENT, "stay longer, and are silent while they pay", 0, "%"),
    Field("slow_visit_s", Int(1, _DAY_S), "a slow payer's visit, on average", 480, "s"),
    Field("vanish_inside_percent", _PERCENT, "vanish inside: the visit ends by itself", 0, "%"),
)  # fmt: skip
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
    Field("queue", Text("[a-z0-9-]*", "the id of a queue of the group", 48),
          "pause and resume: of this queue by itself; left out: of all", ""),
)  # fmt: skip
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


class _Tables(Table):
    """A list of such tables."""

    def check(self, value: Any, path: str) -> Any:
        """The tables themselves."""
        if not isinstance(value, list) or not 2 <= len(value) <= LINES_AT_MOST:
            raise ConfigError(path, f"must be 2 to {LINES_AT_MOST} tables [[{path}]] with {self.says}")
        return tuple(super(_Tables, self).check(member, f"{path}[{index}]") for index, member in enumerate(value))


def _obj(fields: tuple[Field, ...], kind: Any) -> Obj:
    return Obj(fields, lambda values: kind(**values))


def _as_written(values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(values)


_PEOPLE_KIND, _BOTS_KIND = _obj(PEOPLE_FIELDS, People), _obj(BOTS_FIELDS, Bots)
SALE_FIELDS = (
    Field("name", Text(r"[^\x00-\x1f]+", "a line of text", 120), "what the report is headed with"),
    Field("seed", Int(0, 2**31), "of everything that is left to chance: the same seed, the same sale", 1),
    Field("lasts_s", Int(1, 7 * _DAY_S), "the end at the latest; it ends earlier when nobody is left", 7200, "s"),
    Field("nodes", Int(1, 200), "edge nodes, each with a snapshot of its own", 4),
    Field("clocks_off_ms", Int(0, 3_600_000), "clocks of the nodes are off by up to so much, either way", 0, "ms"),
    Field("aof", Choice(("no", "always", "everysec")), "what Redis writes to its append-only file", "no"),
    Field("check_every_s", Int(1, 3600), "on average so often the account is held against what Redis has", 15, "s"),
    Field("queue", Table("keys of a queue"), "the queue; or, instead of it, `group` and `queues`", None),
    Field("group", Table("keys of a group"), "queues that share totals: what they share, and `quotas`", None),
    Field("queues", _Tables("keys of a queue"), "the queues of the group, each with its `id`", ()),
    Field("arrivals", ListOf(_obj(ARRIVALS_FIELDS, Arrivals), 1, 1000), "pieces of the arrival curve"),
    Field("people", _PEOPLE_KIND, "who they are; left out: the defaults below", _PEOPLE_KIND.check({}, "people")),
    Field("bots", _BOTS_KIND, "who they are not; left out: none", _BOTS_KIND.check({}, "bots")),
    Field("changes", ListOf(_obj(CHANGE_FIELDS, Change), 0, 1000), "what the operator does", ()),
    Field("faults", ListOf(_obj(FAULT_FIELDS, Fault), 0, 1000), "trouble of the store", ()),
)
SALE = Obj(SALE_FIELDS, _as_written)
TABLES: dict[str, tuple[Field, ...]] = {
    "": SALE_FIELDS, "[[arrivals]]": ARRIVALS_FIELDS, "[people]": PEOPLE_FIELDS, "[bots]": BOTS_FIELDS,
    "[[changes]]": CHANGE_FIELDS, "[[faults]]": FAULT_FIELDS,
}  # fmt: skip
