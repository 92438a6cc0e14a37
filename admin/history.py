"""The last fifteen minutes of each queue, in memory: what a sparkline and its table are drawn from."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass

from admin.queue_view import MISSING, QueueView

SPAN_S = 900
SAMPLE_EVERY_S = 5
# Without anyone looking, queues are sampled this often; a longer silence is a gap in the line.
IDLE_SAMPLE_EVERY_S = 15
# Every queue is looked at once a minute at least.
GAP_S = 150
QUEUES_AT_MOST = 500


@dataclass(frozen=True, slots=True)
class Sample:
    """One look. `at_s` is Unix time."""

    at_s: float
    waiting: int
    inside: int
    admitted_last_minute: int


class History:
    """Samples by queue; the queues that nobody has looked at for longest are forgotten first."""

    def __init__(self) -> None:
        self._samples: OrderedDict[str, deque[Sample]] = OrderedDict()

    def add(self, view: QueueView, at_s: float) -> None:
        """Keeps this look: the newest one is replaced until it is SAMPLE_EVERY_S after the one before."""
        if view.status == MISSING:
            return
        samples = self._samples.setdefault(view.id, deque(maxlen=SPAN_S // SAMPLE_EVERY_S + 2))
        self._samples.move_to_end(view.id)
        if len(self._samples) > QUEUES_AT_MOST:
            self._samples.popitem(last=False)
        sample = Sample(at_s, view.waiting, view.inside, view.admitted_last_minute)
        if len(samples) > 1 and samples[-1].at_s - samples[-2].at_s < SAMPLE_EVERY_S:
            samples[-1] = sample
        else:
            samples.append(sample)

    def of(self, queue_id: str, now_s: float) -> list[Sample]:
        """The samples of the last SPAN_S, oldest first."""
        return [sample for sample in self._samples.get(queue_id, ()) if now_s - SPAN_S <= sample.at_s <= now_s]

    def by_minute(self, queue_id: str, now_s: float) -> list[Sample]:
        """The newest sample of each minute, newest minute first: the table behind the chart."""
        minutes: dict[int, Sample] = {}
        for sample in self.of(queue_id, now_s):
            minutes[int(sample.at_s // 60)] = sample
        return [minutes[minute] for minute in sorted(minutes, reverse=True)]
