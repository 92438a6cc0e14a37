"""Charts and the history behind them."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.console import chart
from admin.history import GAP_S, QUEUES_AT_MOST, SAMPLE_EVERY_S, SPAN_S, History, Sample
from admin.queue_view import QueueView
from admin.store import Limits
from tests.admin.world import config_text, queue_json, queues_of

QUEUE = queues_of(config_text(queue_json("sale")))[0]
NO_LIMITS = Limits(None, None, None, None, False, False)


def seen(waiting: int, queue_id: str = "sale", status: str = "open") -> QueueView:
    queue = queues_of(config_text(queue_json(queue_id)))[0] if queue_id != "sale" else QUEUE
    return QueueView(queue, status, "e", waiting, 0, waiting, 0, 0, 0, NO_LIMITS, 1)


def sample(at_s: float, waiting: int) -> Sample:
    return Sample(at_s, waiting, 0, 0)


@given(st.integers(0, 10**9))
def test_the_top_is_round_and_not_far_above(highest: int) -> None:
    top = chart.nice_top(highest)
    assert top >= max(5, highest)
    assert top <= max(5, 2 * highest)
    assert re.fullmatch(r"[1234568]0*", str(top))


@given(st.lists(st.tuples(st.floats(0, SPAN_S), st.integers(0, 10**6)), max_size=30).map(sorted))
def test_every_point_is_in_the_box(points: list[tuple[float, int]]) -> None:
    line = chart.draw([sample(at, value) for at, value in points], lambda one: one.waiting, SPAN_S)
    for x, y in re.findall(r"(-?[\d.e+-]+) (-?[\d.e+-]+)", f"{line.line} {line.area}"):
        assert -3 <= float(x) <= chart.WIDTH
        assert 0 <= float(y) <= chart.HEIGHT
    assert line.line.count("M") == line.area.count("M") <= max(1, len(points))


def test_higher_is_more_and_later_is_further_right() -> None:
    line = chart.draw([sample(0, 0), sample(30, 100)], lambda one: one.waiting, 30)
    assert line == chart.Line("M870 100 L900 4", "M870 100 L870 100 L900 4 L900 100 Z", 100)


def test_the_line_breaks_where_nobody_looked() -> None:
    line = chart.draw([sample(0, 1), sample(10, 1), sample(11 + GAP_S, 1), sample(12 + GAP_S, 1)], lambda one: one.waiting, 100)
    assert line.line.count("M") == 2


def test_one_look_can_be_seen() -> None:
    line = chart.draw([sample(100, 7)], lambda one: one.waiting, 100).line
    assert re.fullmatch(r"M897 [\d.]+ L900 [\d.]+", line)


def test_no_look_is_no_line() -> None:
    assert chart.draw([], lambda one: one.waiting, 0) == chart.Line("", "", 5)


def test_the_limit_fits_below_the_top() -> None:
    assert chart.draw([sample(1, 3)], lambda one: one.waiting, 1, at_least=350).top == 400


def test_history_keeps_a_sample_every_few_seconds_and_the_newest() -> None:
    history = History()
    for second in range(61):
        history.add(seen(second), 1000.0 + second)
    kept = history.of("sale", 1060)
    assert kept[-1] == sample(1060, 60)
    gaps = [after.at_s - before.at_s for before, after in itertools.pairwise(kept[:-1])]
    assert min(gaps) >= SAMPLE_EVERY_S
    assert 61 / SAMPLE_EVERY_S <= len(kept) <= 61 / SAMPLE_EVERY_S + 2


def test_history_forgets_what_is_old() -> None:
    history = History()
    for step in range(2 * SPAN_S // SAMPLE_EVERY_S):
        history.add(seen(step), float(step * SAMPLE_EVERY_S))
    now_s = 2.0 * SPAN_S
    kept = history.of("sale", now_s)
    assert now_s - SPAN_S <= kept[0].at_s <= now_s - SPAN_S + 2 * SAMPLE_EVERY_S
    assert len(history._samples["sale"]) <= SPAN_S / SAMPLE_EVERY_S + 2


def test_history_is_bounded_and_keeps_what_is_looked_at() -> None:
    history = History()
    for number in range(QUEUES_AT_MOST + 20):
        history.add(seen(1), float(number))
        history.add(seen(1, f"q{number}"), float(number))
    assert len(history._samples) == QUEUES_AT_MOST
    assert history.of("sale", 1000.0)
    assert not history.of("q0", 1000.0)


def test_a_queue_without_state_has_no_history() -> None:
    history = History()
    history.add(seen(0, status="missing"), 1.0)
    assert history.of("sale", 1.0) == []


def test_the_table_has_one_row_a_minute_newest_first() -> None:
    history = History()
    for second in range(0, 600, SAMPLE_EVERY_S):
        history.add(seen(second), 6000.0 + second)
    rows = history.by_minute("sale", 6600.0)
    assert [row.at_s for row in rows] == sorted((row.at_s for row in rows), reverse=True)
    assert len(rows) == 10
    assert len({int(row.at_s // 60) for row in rows}) == 10


@pytest.mark.parametrize("now_s", [500.0, 99_999.0])
def test_a_clock_that_jumps_shows_nothing_wrong(now_s: float) -> None:
    history = History()
    history.add(seen(5), 2000.0)
    assert history.of("sale", now_s) == []
