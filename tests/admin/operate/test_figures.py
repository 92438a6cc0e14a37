"""Figures: the funnel adds up, and a distribution reads as what it is."""

from __future__ import annotations

import time
from dataclasses import replace

from admin.operate import figures
from admin.queue_view import QueueView
from admin.store import Limits
from edge.core.figures import Figures, Times
from tests.admin.conftest import Admin
from tests.admin.world import config_text, queue_json, queues_of

QUEUE = queues_of(config_text(queue_json("sale")))[0]
VIEW = QueueView(
    QUEUE, "open", "e", 100, 60, 30, 5, 20, 9, Limits(60, None, None, None, False, False), 1, arrived=100, present=21,
    counts={"admitted": 50, "turns": 48, "missed": 8, "left": 12, "completed": 10},
)  # fmt: skip
TOLD = Figures(Times({0: 2, 20: 48}), Times({15: 7}), Times({18: 4}), 2)


def test_the_funnel_adds_up() -> None:
    found = figures.funnel(VIEW, TOLD)
    assert tuple(found) == figures.FUNNEL
    assert (found["left_waiting"], found["left_inside"]) == (9, 3)
    known = sum(found[name] for name in ("waiting", "called", "admitted", "left_waiting", "absent"))
    assert known == found["arrived"] == 100


def test_the_no_show_share_is_of_turns_that_are_over() -> None:
    assert figures.no_show_share(VIEW) == 8 / 43
    assert figures.no_show_share(replace(VIEW, counts={"admitted": 9})) is None, "all came straight in"


def test_a_distribution_has_its_quantiles_and_buckets() -> None:
    told = figures.public(VIEW, TOLD, 1_800_000_000)
    assert told["waiting"] == {"present": 21, "absent": 9}
    assert told["waited"]["people"] == 50
    assert told["waited"]["buckets"][0] == {"from_s": 0.0, "to_s": 1.0, "people": 2}
    assert 80 < told["waited"]["p50_s"] < 102
    assert figures.times(Times({52: 1}))["buckets"][0]["to_s"] is None
    assert figures.times(Times())["p50_s"] is None


def test_few_bars_hold_everybody() -> None:
    assert figures.by_range(TOLD.waited, (1.0, 60.0)) == {0: 2, 1: 0, 2: 48}


def test_the_api_tells_the_figures_of_a_running_queue(admin: Admin) -> None:
    admin.start("sale")
    queue = admin.queues["sale"]
    admin.visitors.join(queue, 12, wants_in=True)
    time.sleep(0.3)  # the next sweep counts who came in
    told = admin.api("GET", "/queues/sale/figures").json()
    assert told["funnel"]["arrived"] == 12
    assert told["funnel"]["admitted"] + told["funnel"]["waiting"] + told["funnel"]["called"] == 12
    assert told["gave_up"]["left"]["people"] == 0
    assert admin.api("GET", "/queues/none/figures").status_code == 404
    assert told["waited"]["people"] == told["funnel"]["admitted"]
    assert admin.api("GET", "/queues/sale/history").json()["samples"][-1]["inside"] == told["funnel"]["inside"]
    assert admin.api("GET", "/queues/sale/history?span=day").json()["span_s"] == 86_400
    assert admin.api("GET", "/queues/sale/history?span=week").status_code == 422
