"""What Redis holds of a queue, read from its keys (their meaning: edge/core/scripts/head.lua), not from what scripts answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edge.core import commands
from sim.store import Store

ENDS = ("completed", "left", "checkout_expired", "pass_expired", "idle_expired", "expired")


@dataclass(frozen=True)
class Held:
    """The queue at one moment. `called`: member to lease deadline, lease ms; `inside`: to when its slot is freed, clock ms.

    `ends`: how many visits and places ended how; `expired` is all that ended by themselves.
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


def _scores(flat: list[str]) -> dict[str, float]:
    return dict(zip(flat[::2], map(float, flat[1::2]), strict=True))


def read(store: Store, scope: str) -> Held | None:
    """The queue as it is now; None when Redis has none."""
    keys = {key.rpartition(":")[2]: key for key in commands.keys(scope)}
    flat, called, inside = store.run([
        ["HGETALL", keys["state"]],
        ["ZRANGE", keys["called"], "0", "-1", "WITHSCORES"],
        ["ZRANGE", keys["active"], "0", "-1", "WITHSCORES"],
    ])  # fmt: skip
    state = dict(zip(flat[::2], flat[1::2], strict=True))
    if not state:
        return None
    clock_ms = int(state["clock"])
    lines = ["", *range(1, int(state["line_count"]))]
    return Held(
        clock_ms=clock_ms,
        lease_ms=clock_ms - int(state["lease_behind"]),
        epoch=state["epoch"],
        status=state["status"],
        sold=int(state["sold"]),
        lengths=tuple(int(state.get(f"length{line}", 0)) for line in lines),
        cursors=tuple(int(state.get(f"cursor{line}", 0)) for line in lines),
        called=_scores(called),
        inside=_scores(inside),
        max_active=int(state["max_active"]) if state.get("max_active") else None,
        inventory=int(state["inventory"]) if state.get("inventory") else None,
        ends={name: int(state.get(name, 0)) for name in ENDS},
    )
