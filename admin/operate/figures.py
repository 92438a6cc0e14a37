"""The figures of a queue: the funnel of its visitors, how long they waited, and when those who gave up did.

Counted in this epoch by the scripts: docs/metrics.md says what is counted and what is estimated. In a group they are the group's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from admin.queue_view import QueueView
from admin.store import Store
from edge.core.figures import LAST_BUCKET, Figures, Times, bucket_from_s
from edge.core.moments import moment_text

FRESH_S = 0.9
QUANTILES = (0.1, 0.5, 0.9, 0.99)
# The order of the funnel. `absent`: passed over or let their turn go, and neither back nor said that they leave.
FUNNEL = (
    "arrived", "waiting", "called", "turns", "admitted", "inside", "completed", "left_inside", "revoked", "idle_expired",
    "pass_expired", "checkout_expired", "undelivered", "left_waiting", "missed", "lapsed", "absent",
)  # fmt: skip


def funnel(view: QueueView, figures: Figures) -> dict[str, int]:
    """How many came how far, by the names of FUNNEL."""
    counts = view.counts
    left_waiting = figures.left.count + figures.left_early
    known = {
        "arrived": view.arrived,
        "waiting": view.waiting,
        "called": view.called,
        "inside": view.inside,
        "left_waiting": left_waiting,
        "left_inside": max(0, counts.get("left", 0) - left_waiting),
        "absent": max(0, view.arrived - view.waiting - view.called - counts.get("admitted", 0) - left_waiting),
    }
    return {name: known[name] if name in known else counts.get(name, 0) for name in FUNNEL}


def no_show_share(view: QueueView) -> float | None:
    """Of the turns that are over, the part that nobody took (0 to 1); None before the first."""
    over = view.counts.get("missed", 0) + view.counts.get("admitted", 0)
    turns = view.counts.get("turns", 0) - view.called
    # Who comes straight in has no turn; so a queue where nobody is called has no no-shows.
    return None if turns <= 0 or over <= 0 else min(1.0, view.counts.get("missed", 0) / turns)


def times(found: Times) -> dict[str, Any]:
    """A distribution as the API answers it; the last bucket has no end."""
    buckets = [
        {"from_s": round(bucket_from_s(index), 1), "to_s": None if index >= LAST_BUCKET else round(bucket_from_s(index + 1), 1),
         "people": count}
        for index, count in sorted(found.buckets.items())
    ]  # fmt: skip
    quantiles = {f"p{round(100 * share)}_s": _rounded(found.quantile_s(share)) for share in QUANTILES}
    return {"people": found.count, "unknown": found.unknown, **quantiles, "buckets": buckets}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def public(view: QueueView, figures: Figures, at_s: float) -> dict[str, Any]:
    """All of it as the API answers it."""
    share = no_show_share(view)
    return {
        "queue": view.id,
        "group": view.queue.group or None,
        "at": moment_text(int(at_s * 1000)),
        "status": view.status,
        "epoch": view.epoch,
        "funnel": funnel(view, figures),
        "waiting": {"present": view.present, "absent": max(0, view.waiting - view.present)},
        "no_show_share": None if share is None else round(share, 4),
        "waited": times(figures.waited),
        "gave_up": {"left": times(figures.left), "silent": times(figures.silent)},
    }


@dataclass
class FiguresDesk:
    """Reads figures; all who look within FRESH_S share one answer of Redis. `unix_s` is the clock."""

    store: Store
    unix_s: Callable[[], float]

    def __post_init__(self) -> None:
        self._seen: dict[str, tuple[float, Figures]] = {}

    async def of(self, view: QueueView) -> Figures:
        """The counts of the scope of a queue. Raises StoreUnavailable."""
        now_s, scope = self.unix_s(), view.queue.scope
        at_s, found = self._seen.get(scope, (float("-inf"), Figures()))
        if not 0 <= now_s - at_s < FRESH_S:
            found = await self.store.figures(scope)
            self._seen = {key: seen for key, seen in self._seen.items() if now_s - seen[0] < 60} | {scope: (now_s, found)}
        return found


def by_range(found: Times, edges_s: tuple[float, ...]) -> Mapping[int, int]:
    """People by coarser ranges, for a chart of few bars: range `i` ends at `edges_s[i]`, the last one has no end."""
    ranges = dict.fromkeys(range(len(edges_s) + 1), 0)
    for index, count in found.buckets.items():
        middle = (bucket_from_s(index) + bucket_from_s(index + 1)) / 2
        ranges[next((i for i, edge in enumerate(edges_s) if middle < edge), len(edges_s))] += count
    return ranges
