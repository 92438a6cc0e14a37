"""A rehearsal's report for its page: the funnel as rows, and the curves as lines in a box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 900, 100


@dataclass(frozen=True)
class Curve:
    """A line over the seconds of the sale; `top`: the value at the upper edge."""

    path: str
    top: float
    ends_min: float


@dataclass(frozen=True)
class Report:
    """What a page shows of the figures of a sale."""

    funnel: Sequence[tuple[str, int]]
    waiting: Curve
    claims: Curve
    text: str


def report_of(kept: Mapping[str, Any]) -> Report | None:
    """The report of one that is done; None for one that has none."""
    data = kept.get("data")
    if not isinstance(data, dict):
        return None
    curves = data.get("curves", {})
    funnel = [(str(name).replace("_", " "), int(count)) for name, count in data.get("funnel", {}).items()]
    waiting, claims = (_curve(curves.get(name, ())) for name in ("waiting", "claims_per_minute"))
    return Report(funnel, waiting, claims, str(kept.get("text", "")))


def _curve(points: Sequence[Sequence[float]]) -> Curve:
    ends_s = max([1.0, *(point[0] for point in points)])
    top = max([1.0, *(point[1] for point in points)])
    places = [(round(x * WIDTH / ends_s, 1), round(HEIGHT - (HEIGHT - 4) * y / top, 1)) for x, y in points]
    return Curve("M" + " L".join(f"{x:g} {y:g}" for x, y in places) if places else "", top, ends_s / 60)
