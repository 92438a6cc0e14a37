"""The yardstick of the told wait, held in one sale of `bench.estimate` on a smaller scale."""

from __future__ import annotations

from dataclasses import replace

from bench.estimate import SALES, estimate_of
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
    found = estimate_of(third_of(load_sale(SALES / "rate.toml")))
    assert found["count"] > 15_000
    assert found["median_error_percent"] <= ERROR_AT_MOST_PERCENT
    assert found["range_held_percent"] >= HELD_AT_LEAST_PERCENT
    assert found["rises_percent"] <= 2
