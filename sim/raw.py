"""What Redis holds of a queue, read from its keys (their meaning: edge/core/scripts/head.lua), not from what scripts answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edge.core import calls
from sim.store import Store

_UNITS = 60_000  # of the bucket, for one admission (head.lua)
ENDS = ("completed", "left", "checkout_expired", "pass_expired", "idle_expired", "expired")


@dataclass(frozen=True)
class Held:
    """The queue at one moment. `called`: member to lease deadline, lease ms; `inside`: to when its slot is freed, clock ms.

    `ends`: how many visits and places ended how; `expired` is all that ended by themselves. By line: `held`, the slots that it
    counts as its own; `weights`, 0 when it is paused by itself; `settled`, up to where people have had the time to show life.
    `ready`: who did and is not called, if that was asked for. `pump_at_ms`: when the next sweep is due, clock ms. `tokens`: whole
    admissions that the bucket holds, None without a rate.
    """

    clock_ms: int
    lease_ms: int
    epoch: str
    status: str
    sold: int
    lengths: tuple[int, ...]
    cursors: tuple[int, ...]
    called: Mapping[str, float]
    inside: Mapping[str, float]
    max_active: int | None
    inventory: int | None
    ends: Mapping[str, int]
    held: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()
    settled: tuple[int, ...] = ()
    ready: frozenset[str] = frozenset()
    pump_at_ms: int = 0
    tokens: int | None = None


def _scores(flat: list[str]) -> dict[str, float]:
    return dict(zip(flat[::2], map(float, flat[1::2]), strict=True))


def read(store: Store, scope: str, *, with_ready: bool = False) -> Held | None:
    """The queue as it is now; None when Redis has none. `with_ready`: who is present, too."""
    keys = {key.rpartition(":")[2]: key for key in calls.keys(scope)}
    flat, called, inside, *ready = store.run([
        ["HGETALL", keys["state"]],
        ["ZRANGE", keys["called"], "0", "-1", "WITHSCORES"],
        ["ZRANGE", keys["active"], "0", "-1", "WITHSCORES"],
        *([["ZRANGE", keys["ready"], "0", "-1"]] if with_ready else ()),
    ])  # fmt: skip
    state = dict(zip(flat[::2], flat[1::2], strict=True))
    if not state:
        return None
    clock_ms = int(state["clock"])
    lines = ["", *range(1, int(state["line_count"]))]

    def by_line(name: str) -> tuple[int, ...]:
        return tuple(int(state.get(f"{name}{line}", 0)) for line in lines)

    return Held(
        clock_ms=clock_ms,
        lease_ms=clock_ms - int(state["lease_behind"]),
        epoch=state["epoch"],
        status=state["status"],
        sold=int(state["sold"]),
        lengths=by_line("length"),
        cursors=by_line("cursor"),
        called=_scores(called),
        inside=_scores(inside),
        max_active=int(state["max_active"]) if state.get("max_active") else None,
        inventory=int(state["inventory"]) if state.get("inventory") else None,
        ends={name: int(state.get(name, 0)) for name in ENDS},
        held=by_line("held"),
        weights=by_line("weight"),
        settled=by_line("settled"),
        ready=frozenset(ready[0]) if ready else frozenset(),
        pump_at_ms=int(state["pump_at"]),
        tokens=int(state["units"]) // _UNITS if state.get("rate") else None,
    )
