"""The report as one HTML page with its plots inside, to be mailed or kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from sim.report import as_text

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 720, 240, 64, 28
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}
table{border-collapse:collapse}td{padding:.15rem 1rem .15rem 0}td+td{text-align:right;font-variant-numeric:tabular-nums}
pre{overflow:auto;background:#f5f6f7;padding:1rem}svg{max-width:100%;height:auto}
.axis{stroke:#8a929b;stroke-width:1}.line{fill:none;stroke:#0b57a4;stroke-width:2}.dot{fill:#0b57a4;fill-opacity:.35}
.bar{fill:#0b57a4}text{font-size:12px;fill:#4a525b}
@media (prefers-color-scheme:dark){body{background:#14171a;color:#e6e8ea}pre{background:#1d2125}.line{stroke:#6cb2ff}
.dot,.bar{fill:#6cb2ff}text{fill:#aab2ba}}
"""


def _scaled(points: Sequence[Sequence[float]]) -> tuple[list[tuple[float, float]], float, float]:
    most_x = max((point[0] for point in points), default=1.0) or 1.0
    most_y = max((point[1] for point in points), default=1.0) or 1.0
    width, height = _WIDTH - _LEFT - 8, _HEIGHT - _BOTTOM - 8
    places = [(_LEFT + x / most_x * width, 8 + height * (1 - y / most_y)) for x, y in points]
    return places, most_x, most_y


def _frame(inner: str, title: str, most_x: float, most_y: float, unit_x: str) -> str:
    base = _HEIGHT - _BOTTOM
    axes = f'<path class="axis" fill="none" d="M{_LEFT} 8V{base}H{_WIDTH - 8}"/>'
    words = (f'<text x="{_LEFT - 6}" y="16" text-anchor="end">{most_y:,.0f}</text>'
             f'<text x="{_LEFT - 6}" y="{base}" text-anchor="end">0</text>'
             f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 8}" text-anchor="end">{most_x:,.0f} {escape(unit_x)}</text>')  # fmt: skip
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"><title>{escape(title)}</title>{axes}{words}{inner}</svg>'


def _line(points: Sequence[Sequence[float]], title: str) -> str:
    places, most_x, most_y = _scaled(points)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return _frame(f'<polyline class="line" points="{path}"/>', title, most_x, most_y, "s")


def _dots(points: Sequence[Sequence[float]], title: str) -> str:
    places, most_x, most_y = _scaled(points)
    dots = "".join(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in places)
    return _frame(dots, title, most_x, most_y, "s")


def _bars(values: Sequence[float], title: str) -> str:
    """A histogram of 40 bars."""
    if not values:
        return "<p>Nobody.</p>"
    most, bins = max(values) or 1.0, [0] * 40
    for value in values:
        bins[min(39, int(value / most * 40))] += 1
    width, height, tallest = (_WIDTH - _LEFT - 8) / 40, _HEIGHT - _BOTTOM - 8, max(bins)
    bars = "".join(f'<rect class="bar" x="{_LEFT + n * width:.1f}" y="{8 + height * (1 - count / tallest):.1f}" '
                   f'width="{width - 1:.1f}" height="{height * count / tallest:.1f}"/>'
                   for n, count in enumerate(bins))  # fmt: skip
    return _frame(bars, title, most, tallest, "s")


def as_page(data: dict[str, Any]) -> str:
    """The page. Nothing in it is loaded from anywhere."""
    curves = data["curves"]
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{count:,}</td></tr>" for name, count in data["funnel"].items())
    plots = (
        ("Waiting with an open page", _line(curves["waiting"], "People waiting, over the seconds of the sale")),
        ("Claims a minute", _line(curves["claims_per_minute"], "Claims a minute, over the seconds of the sale")),
        ("Wait until called", _bars([y for _, y in curves["wait_by_arrival"]], "How many waited how long, in seconds")),
        ("Wait by the moment of joining", _dots(curves["wait_by_arrival"], "Wait in seconds, over when they joined")),
    )
    body = "".join(f"<h2>{escape(title)}</h2>{plot}" for title, plot in plots)
    kept = json.dumps({name: value for name, value in data.items() if name != "curves"}, indent=1)
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f"<title>{escape(data['name'])}</title><style>{_STYLE}</style><h1>{escape(data['name'])}</h1>"
            f"<p>{data['people']:,} people in {data['virtual_s'] / 60:,.0f} minutes, seed {data['seed']}.</p>"
            f"<h2>What became of them</h2><table>{rows}</table>{body}"
            f"<h2>In words</h2><pre>{escape(as_text(data))}</pre>"
            f"<h2>All figures</h2><pre>{escape(kept)}</pre></html>\n")  # fmt: skip
