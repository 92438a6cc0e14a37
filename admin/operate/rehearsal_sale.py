"""The sale that a rehearsal holds: the settings of a queue as they are in force, and people as the form describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from admin.limits import BadValue
from admin.queue_view import QueueView

# Name: least, most, default. Bounds keep a rehearsal within minutes on a small machine.
NUMBERS: Mapping[str, tuple[int, int, int]] = {
    "people": (10, 20_000, 2_000),
    "arrive_within_s": (1, 7_200, 300),
    "lasts_s": (60, 14_400, 3_600),
    "closers_percent": (0, 100, 20),
    "absent_when_called_percent": (0, 100, 3),
    "visit_s": (1, 3_600, 120),
    "seed": (0, 1_000_000, 1),
}
SHAPES = ("rush", "even", "ramp")
_TIMERS = (
    "claim_within_s", "idle_s", "renew_every_s", "settle_s", "presence_grace_s", "late_claim", "late_claim_within_s",
    "late_share_percent",
)  # fmt: skip
_LIMITS = ("admit_per_minute", "burst", "max_active", "inventory")


@dataclass(frozen=True)
class Asked:
    """What the form says; numbers by NUMBERS."""

    people: int
    arrive_within_s: int
    lasts_s: int
    closers_percent: int
    absent_when_called_percent: int
    visit_s: int
    seed: int
    shape: str

    def values(self) -> dict[str, Any]:
        """As the audit log keeps it."""
        return asdict(self)


def check(given: Mapping[str, Any]) -> Asked:
    """Fills in defaults. Raises BadValue."""
    for name in given:
        if name not in NUMBERS and name != "shape":
            raise BadValue(repr(name)[:60], f"is not known here; this takes {', '.join((*NUMBERS, 'shape'))}")
    numbers = {name: _number(name, given.get(name, default), low, high) for name, (low, high, default) in NUMBERS.items()}
    shape = given.get("shape", SHAPES[0])
    if shape not in SHAPES:
        raise BadValue("shape", f"must be one of {', '.join(SHAPES)}")
    asked = Asked(**numbers, shape=shape)
    if asked.arrive_within_s >= asked.lasts_s:
        raise BadValue("arrive_within_s", "must be less than lasts_s, or some arrive after the end")
    return asked


def _number(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadValue(name, f"must be a whole number from {low} to {high}")
    return value


def sale_text(view: QueueView, asked: Asked) -> str:
    """The file of the sale (docs/simulation.md). Schedule and draw are left out: it begins open."""
    queue, limits = view.queue, view.limits
    lines = [f"name = {_quoted(f'Rehearsal of {queue.name}')}", f"seed = {asked.seed}", f"lasts_s = {asked.lasts_s}"]
    lines += ["", "[queue]"]
    lines += [f"{name} = {getattr(limits, name)}" for name in _LIMITS if getattr(limits, name) is not None]
    lines += [f"{name} = true" for name, is_set in (("always_queue", limits.always_queue),) if is_set]
    lines += [f"{name} = {_plain(getattr(queue, name))}" for name in _TIMERS]
    for index, lane in enumerate(queue.lanes):
        lines += ["", "[[queue.lanes]]", f"name = {_quoted(lane.name)}", f"share = {lane.share}"]
        # Rules look at headers, which the people of a simulation do not send: they come by invitation.
        lines += ["invite = true"] if index else []
    lines += ["", "[[arrivals]]", f"people = {asked.people}", f"to_s = {asked.arrive_within_s}", f'shape = "{asked.shape}"']
    lines += ["", "[people]"]
    lines += [f"{name} = {getattr(asked, name)}" for name in ("closers_percent", "absent_when_called_percent", "visit_s")]
    if limits.manual:
        # A manual queue calls nobody: the operator of the rehearsal calls a tenth of the people every minute.
        for minute in range(1, min(60, asked.lasts_s // 60)):
            lines += ["", "[[changes]]", f"at_s = {60 * minute}", f"admit = {max(1, asked.people // 10)}"]
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> str:
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'
