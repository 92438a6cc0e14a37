"""The chart of a queue: depth and admissions over one axis of time, in the operator's zone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from admin.console import chart, words
from admin.console.live_values import Live
from admin.history import Sample
from admin.operate.history import SPANS, Span
from admin.words import _

# Between two names on the axis, in seconds. As many names as fit on a phone.
TICKS_EVERY_S: Mapping[Span, int] = {"quarter": 300, "day": 6 * 3600}
TICKS = 5
# The table behind the chart has a row for each of these many seconds.
ROWS_EVERY_S: Mapping[Span, int] = {"quarter": 60, "day": 1800}


@dataclass(frozen=True)
class Chart:
    """What is drawn. `zone`: of the person who looks."""

    samples: Sequence[Sample]
    span: Span
    zone: ZoneInfo
    problem: str = ""

    def rows(self) -> list[Sample]:
        """The last sample of each stretch, newest first: the table behind the chart."""
        every = ROWS_EVERY_S[self.span]
        stretches = {int(sample.at_s // every): sample for sample in self.samples}
        return [stretches[stretch] for stretch in sorted(stretches, reverse=True)]

    def clock(self, at_s: float) -> str:
        """A moment in the zone, to the minute."""
        return datetime.fromtimestamp(at_s, self.zone).strftime("%H:%M")


def chart_of(live: Live, line: Chart, now_s: float, rate: int | None) -> None:
    """Adds both lines, the limit and the axis."""
    samples, span_s = line.samples, SPANS[line.span]
    # The limit is drawn as long as it does not press the line itself flat.
    busiest = max((sample.admitted_last_minute for sample in samples), default=0)
    shown = rate if rate and rate <= 20 * max(5, busiest) else None
    depth = chart.draw(samples, lambda sample: sample.waiting, now_s, span_s=span_s)
    admitted = chart.draw(samples, lambda sample: sample.admitted_last_minute, now_s, at_least=shown or 0, span_s=span_s)
    for name, drawn in (("depth", depth), ("admitted-line", admitted)):
        live.attr[name] = {"d": drawn.line}
        live.attr[f"{name}-area"] = {"d": drawn.area}
        live.text[f"{name}-top"] = words.number(drawn.top)
    height = chart.height_of(shown or 0, admitted.top)
    live.attr["limit-line"] = {"d": f"M0 {height:g} H{chart.WIDTH}" if shown else ""}
    # Above its line, or below it where there is no room above.
    live.attr["limit-label"] = {"y": f"{100 * height / chart.HEIGHT:g}%", "dy": "13" if height < chart.HEIGHT / 4 else "-4"}
    live.text["limit-label"] = _("limit %(rate)s") % {"rate": words.number(shown)} if shown else ""
    live.hidden["no-history"] = bool(samples)
    _axis(live, line, now_s)


def _axis(live: Live, line: Chart, now_s: float) -> None:
    span_s = SPANS[line.span]
    offset = datetime.fromtimestamp(now_s, line.zone).utcoffset()
    ticks = chart.ticks(now_s, span_s, TICKS_EVERY_S[line.span], int(offset.total_seconds()) if offset else 0)
    for number in range(TICKS):
        at_s, place = ticks[number] if number < len(ticks) else (0.0, 0.0)
        live.attr[f"tick-{number}"] = {"x": f"{place:g}%"}
        live.text[f"tick-{number}-text"] = line.clock(at_s) if at_s else ""
        live.text[f"tick-{number}-utc"] = datetime.fromtimestamp(at_s, UTC).strftime("%H:%M UTC") if at_s else ""
    live.attr["grid"] = {"d": "".join(f"M{place * chart.WIDTH / 100:g} 0V{chart.HEIGHT}" for _at_s, place in ticks)}
    live.attr["grid-2"] = live.attr["grid"]
