"""The yardstick of the told wait, held in a sale of `bench.estimate` on a smaller scale, and where lines run out."""

from __future__ import annotations

from dataclasses import replace

from bench.estimate import FILES, estimate_of
from sim.figures import ERROR_AT_MOST_PERCENT, HELD_AT_LEAST_PERCENT
from sim.sale import Sale
from sim.sale_file import load_sale
from tests.needs import needs


def third_of(sale: Sale) -> Sale:
    """A third of the people at a third of the rate: the same waits."""
    arrivals = tuple(replace(piece, people=piece.people // 3) for piece in sale.arrivals)
    return replace(sale, arrivals=arrivals, queue=replace(sale.queue, admit_per_minute=(sale.queue.admit_per_minute or 0) // 3))


def test_in_a_rush_from_which_a_third_goes_away_the_told_waits_come_true() -> None:
    needs("redis")
    found = estimate_of(third_of(load_sale(FILES["rate"])))
    assert found["count"] > 15_000
    assert found["median_error_percent"] <= ERROR_AT_MOST_PERCENT
    assert found["range_held_percent"] >= HELD_AT_LEAST_PERCENT
    assert found["rises_percent"] <= 2


def test_a_short_line_that_runs_out_is_foreseen_by_those_who_wait_in_the_other() -> None:
    needs("redis")
    found = estimate_of(load_sale(FILES["examples/draw"]))
    assert found["count"] > 2_000
    assert found["median_error_percent"] <= ERROR_AT_MOST_PERCENT
    assert found["range_held_percent"] >= HELD_AT_LEAST_PERCENT


def test_in_a_small_sale_in_which_the_first_rush_fills_the_shop_the_told_waits_come_true() -> None:
    needs("redis")
    found = estimate_of(load_sale(FILES["small"]))
    assert found["count"] > 5_000
    assert found["median_error_percent"] <= ERROR_AT_MOST_PERCENT
    assert found["range_held_percent"] >= HELD_AT_LEAST_PERCENT
    assert found["rises_percent"] <= 4
