"""The queues and the admin app for Prometheus. A scrape looks at no queue that was looked at within FRESH_S."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from admin.operate.figures import no_show_share
from admin.queue_view import MISSING, QueueView
from edge.core.states import QUEUE_STATES

if TYPE_CHECKING:
    from admin.desk import Desk

FRESH_S = 10.0
# Of a longer list what the sampler saw, which is at most a minute old, is good enough.
LOOKED_AT = 200
_LABELS = ("queue", "group")
_GAUGES = {
    "waiting": "People who wait.",
    "present": "Of those who wait, how many still show life (a sample says).",
    "called": "People whose turn has come and who have not come in yet.",
    "inside": "People inside.",
    "admitted_last_minute": "People who came in during the last 60 s.",
}
_LIMITS = {
    "admit_per_minute": "Rate in force; absent: no limit.",
    "max_active": "Cap of people inside in force; absent: no cap.",
    "inventory": "Units that can be sold; absent: no inventory.",
}
_COUNTS = {
    "admitted": "People who came in.",
    "turns": "Turns given.",
    "missed": "Turns that nobody took.",
    "lapsed": "Places lost for missed turns.",
    "completed": "Visits that ended as sold.",
    "left": "Visits and places that their visitor gave up.",
    "revoked": "Visits that the site or an operator ended.",
    "idle_expired": "Visits that ended for silence.",
    "pass_expired": "Visits that reached the longest time.",
    "checkout_expired": "Visits whose payment took too long.",
    "undelivered": "Visits whose pass could not reach the visitor.",
    "sold": "Units sold.",
    "overrun": "Units that the site reported beyond what was free.",
}


async def scrape(room: Desk) -> bytes:
    """The text of one scrape. Never raises for Redis: old numbers say how old they are."""
    published = await room.source.published()
    queues = published.config.queues
    await room.watch.look_unseen(queues[:LOOKED_AT], FRESH_S)
    seen = [found for queue in queues if (found := room.watch.seen(queue.id)) is not None]
    registry = CollectorRegistry()
    for collector in (_Queues(seen, room.unix_s()), _Admin(room, bool(published.problem))):
        registry.register(collector)
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)
    return generate_latest(registry)


class _Queues(Collector):
    def __init__(self, seen: Sequence[tuple[QueueView, float]], now_s: float) -> None:
        self._seen = seen
        self._now_s = now_s

    def collect(self) -> Iterator[Metric]:
        running = [(view, at_s) for view, at_s in self._seen if view.status != MISSING]
        yield self._status()
        age = GaugeMetricFamily("stanchion_queue_age_seconds", "How old the numbers of this queue are.", labels=_LABELS)
        share = GaugeMetricFamily("stanchion_queue_no_show_ratio", "Part of the turns that nobody took.", labels=_LABELS)
        arrived = CounterMetricFamily("stanchion_queue_arrived", "Places given.", labels=_LABELS)
        for view, at_s in running:
            age.add_metric(_of(view), max(0.0, self._now_s - at_s))
            arrived.add_metric(_of(view), view.arrived)
            if (found := no_show_share(view)) is not None:
                share.add_metric(_of(view), found)
        yield from (age, share, arrived)
        for name, says in _GAUGES.items():
            gauge = GaugeMetricFamily(f"stanchion_queue_{name}", says, labels=_LABELS)
            for view, _at_s in running:
                gauge.add_metric(_of(view), getattr(view, name))
            yield gauge
        for name, says in _LIMITS.items():
            gauge = GaugeMetricFamily(f"stanchion_queue_limit_{name}", says, labels=_LABELS)
            for view, _at_s in running:
                if (value := getattr(view.limits, name)) is not None:
                    gauge.add_metric(_of(view), value)
            yield gauge
        for name, says in _COUNTS.items():
            counter = CounterMetricFamily(f"stanchion_queue_{name}", f"{says} Since the epoch began.", labels=_LABELS)
            for view, _at_s in running:
                counter.add_metric(_of(view), view.counts.get(name, 0))
            yield counter

    def _status(self) -> Metric:
        gauge = GaugeMetricFamily("stanchion_queue_status", "1 for the state that holds.", labels=(*_LABELS, "status"))
        for view, _at_s in self._seen:
            for status in (*QUEUE_STATES, MISSING):
                gauge.add_metric([*_of(view), status], 1.0 if view.status == status else 0.0)
        return gauge


class _Admin(Collector):
    def __init__(self, room: Desk, is_configuration_bad: bool) -> None:
        self._room = room
        self._is_configuration_bad = is_configuration_bad

    def collect(self) -> Iterator[Metric]:
        room = self._room
        for name, says, value in (
            ("redis_up", "1 when Redis answered the last look.", not room.watch.problem),
            ("configuration_ok", "1 when the published configuration can be used.", not self._is_configuration_bad),
            ("streams", "Pages that are kept current by events now.", room.operate.streams.open),
        ):
            yield GaugeMetricFamily(f"stanchion_admin_{name}", says, value=float(value))


def _of(view: QueueView) -> list[str]:
    return [view.id, view.queue.group]
