"""Lines for the charts: paths in a box whose width is time and whose height is people. The page stretches the box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from admin.history import GAP_S, SPAN_S, Sample

WIDTH, HEIGHT = 900, 100
# Room for the stroke above the highest point.
_HEADROOM = 4


@dataclass(frozen=True)
class Line:
    """A path of the line, one of the area below it, and the value at the top of the box."""

    line: str
    area: str
    top: int


def nice_top(highest: int) -> int:
    """The value at the top of the box: 5 or more, the next round number."""
    if highest <= 5:
        return 5
    power: int = 10 ** (len(str(highest)) - 1)
    return next(digit * power for digit in (1, 2, 3, 4, 5, 6, 8, 10) if digit * power >= highest)


def height_of(value: float, top: int) -> float:
    """Where a value lies in the box, from its upper edge."""
    return round(HEIGHT - (HEIGHT - _HEADROOM) * min(value, top) / top, 1)


def draw(
    samples: Sequence[Sample], value: Callable[[Sample], int], now_s: float, at_least: int = 0, span_s: float = SPAN_S
) -> Line:
    """The line of one value over the last `span_s`. It breaks where nobody looked for longer than GAP_S."""
    top = nice_top(max([at_least, *(value(sample) for sample in samples)]))
    lines, areas = [], []
    for run in _runs(samples):
        points = [(_x(sample.at_s, now_s, span_s), height_of(value(sample), top)) for sample in run]
        if len(points) == 1:
            # A single look is drawn as a short dash, or it could not be seen.
            points.insert(0, (points[0][0] - 3, points[0][1]))
        path = " L".join(f"{x:g} {y:g}" for x, y in points)
        lines.append(f"M{path}")
        areas.append(f"M{points[0][0]:g} {HEIGHT} L{path} L{points[-1][0]:g} {HEIGHT} Z")
    return Line(" ".join(lines), " ".join(areas), top)


def ticks(now_s: float, span_s: float, every_s: int, offset_s: int = 0) -> list[tuple[float, float]]:
    """Moments to name on the axis and where they lie in percent of the width, none too near an edge for its name.

    Each is a whole multiple of `every_s` by a clock that is `offset_s` ahead of UTC.
    """
    first = (now_s - span_s + offset_s) // every_s * every_s - offset_s
    moments = [first + number * every_s for number in range(int(span_s // every_s) + 2)]
    places = [(at_s, round(100 - (now_s - at_s) * 100 / span_s, 2)) for at_s in moments]
    return [(at_s, place) for at_s, place in places if 3 <= place <= 97]


def _x(at_s: float, now_s: float, span_s: float) -> float:
    return round(WIDTH - (now_s - at_s) * WIDTH / span_s, 1)


def _runs(samples: Sequence[Sample]) -> list[list[Sample]]:
    runs: list[list[Sample]] = []
    for sample in samples:
        if runs and sample.at_s - runs[-1][-1].at_s <= GAP_S:
            runs[-1].append(sample)
        else:
            runs.append([sample])
    return runs
