"""What a queue's chart is drawn from: the last quarter of an hour from memory, the last day from the kept minutes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from admin.history import SPAN_S, Sample
from admin.operate.sampler import MINUTE_S
from admin.state import samples
from admin.state.db import Database, StateUnavailable
from admin.watch import Watch
from edge.core.moments import moment_text

Span = Literal["quarter", "day"]
SPANS: Mapping[Span, int] = {"quarter": SPAN_S, "day": 24 * 3600}
# The kept minutes change once a minute.
DAY_FRESH_S = 20
QUEUES_AT_MOST = 100


@dataclass(frozen=True)
class Line:
    """Samples, oldest first. `problem`: why the kept minutes could not be read, or empty."""

    samples: Sequence[Sample]
    problem: str = ""


class HistoryDesk:
    """`unix_s` is the clock."""

    def __init__(self, watch: Watch, db: Database, unix_s: Callable[[], float]) -> None:
        self._watch = watch
        self._db = db
        self._clock = unix_s
        self._days: dict[str, tuple[float, Line]] = {}

    async def of(self, queue_id: str, span: Span) -> Line:
        """The samples of a queue. Never raises: without the database a day is what memory has of it."""
        now_s = self._clock()
        latest = self._watch.history.of(queue_id, now_s)
        if span == "quarter":
            return Line(latest)
        day = await self._day(queue_id, now_s)
        last_s = day.samples[-1].at_s if day.samples else 0.0
        return Line([*day.samples, *(sample for sample in latest if sample.at_s > last_s)], day.problem)

    async def _day(self, queue_id: str, now_s: float) -> Line:
        read_s, line = self._days.get(queue_id, (float("-inf"), Line(())))
        if 0 <= now_s - read_s < DAY_FRESH_S:
            return line
        since = int((now_s - SPANS["day"]) // MINUTE_S)
        try:
            found = await self._db.read(lambda session: samples.of(session, queue_id, since))
            line = Line([_sample(minute, figures) for minute, figures in found])
        except StateUnavailable as error:
            line = Line(line.samples, str(error))
        if len(self._days) >= QUEUES_AT_MOST:
            self._days.clear()
        self._days[queue_id] = (now_s, line)
        return line


def _sample(minute: int, figures: Mapping[str, Any]) -> Sample:
    """The sample of a minute lies at its end: that is when its last 60 s were counted."""
    return Sample((minute + 1) * MINUTE_S - 1, figures["waiting"], figures["inside"], figures["admitted"])


def public(queue_id: str, span: Span, line: Line) -> dict[str, Any]:
    """The samples as the API answers them."""
    return {
        "queue": queue_id,
        "span_s": SPANS[span],
        "problem": line.problem,
        "samples": [
            {"at": moment_text(int(one.at_s * 1000)), "waiting": one.waiting, "inside": one.inside,
             "admitted_last_minute": one.admitted_last_minute}
            for one in line.samples
        ],
    }  # fmt: skip
