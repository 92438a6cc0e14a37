"""Limits in force live in the state: newer configurations are taken, live values hold (law 10)."""

from __future__ import annotations

import pytest

from edge.core import commands
from tests.scripts.backends import Store
from tests.scripts.line import Line


def in_force(line: Line) -> dict[str, int | None]:
    values = line.store.command(*commands.read_limits("q"))
    return {name: int(value) if value else None for name, value in zip(commands.LIMITS, values, strict=False)}


def test_a_newer_configuration_is_taken_and_an_older_or_equal_one_is_not(store: Store) -> None:
    line = Line(store, admit_per_minute=60)
    assert line.configure(admit_per_minute=90).verdict == "taken"
    assert line.configure(admit_per_minute=30, config_version=2).verdict == "kept"
    assert line.configure(admit_per_minute=20, config_version=1).verdict == "kept"
    assert in_force(line)["admit_per_minute"] == 90
    assert line.number("config_version") == 2


def test_an_operators_value_outlives_a_publish_that_leaves_it_alone(store: Store) -> None:
    line = Line(store, admit_per_minute=60, max_active=100)
    line.set_limits(admit_per_minute=5)
    assert line.configure(max_active=200).verdict == "taken"
    assert in_force(line) == {"admit_per_minute": 5, "burst": None, "max_active": 200, "inventory": None}
    assert line.set_limits().details[4] == "rate"


def test_an_operators_value_ends_when_a_publish_changes_that_very_field(store: Store) -> None:
    line = Line(store, admit_per_minute=60, max_active=100)
    line.set_limits(admit_per_minute=5, max_active=7)
    line.configure(admit_per_minute=120)
    assert in_force(line) == {"admit_per_minute": 120, "burst": None, "max_active": 7, "inventory": None}


def test_an_operators_value_ends_when_it_is_cleared(store: Store) -> None:
    line = Line(store, admit_per_minute=60, max_active=100)
    line.set_limits(admit_per_minute=5, max_active=None)
    assert in_force(line)["max_active"] is None
    line.configure(burst=3)
    answer = line.set_limits(admit_per_minute="=", max_active="=")
    assert answer.details == ("60", "3", "100", "", "")


def test_an_operator_may_lift_a_limit_and_the_next_publish_leaves_it_lifted(store: Store) -> None:
    line = Line(store, admit_per_minute=60, max_active=1)
    line.enter("v1")
    line.set_limits(max_active=None)
    line.configure(burst=30)
    assert line.join("v2", wants_in=True).verdict == "inside"


def test_setting_limits_again_with_the_same_request_id_undoes_nothing_that_came_after(line: Line) -> None:
    line.set_limits("first", admit_per_minute=100)
    line.set_limits("second", admit_per_minute=50)
    assert line.set_limits("first", admit_per_minute=100).details[0] == "50"


def test_lowering_max_active_evicts_no_one_and_calls_no_one_until_there_is_room(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=4)
    inside = [line.enter(f"v{n}") for n in range(3)]
    called, waiting = line.place("called"), line.place("waiting")
    assert line.positions("called") == [called.position]
    line.set_limits(max_active=2)
    assert all(line.renew(held).verdict == "inside" for held in inside)
    line.claim(called)
    for held in inside[:2]:
        line.end(held)
        assert line.touch(waiting, wants_in=True).verdict == "waiting"
    line.end(inside[2])
    line.claim(waiting)


def test_a_lower_limit_is_in_force_before_the_step_that_sets_it_calls_anyone(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    held = line.enter("v1")
    line.places(5, "w")
    line.control("pause")
    line.end(held)
    line.set_limits(max_active=10)
    line.control("resume", "r")
    assert len(line.positions("called")) == 5
    line.control("pause")
    for position in line.positions("called"):
        line.store.command("ZREM", "st:{q}:called", str(position))
    line.control("resume")
    line.places(9, "x")
    line.wait(1)
    line.set_limits(max_active=0)
    assert line.join("y", wants_in=True).verdict == "waiting"


def test_lowering_the_inventory_below_what_is_sold_lets_nobody_in(store: Store) -> None:
    line = Line(store, admit_per_minute=None, inventory=10)
    for number in range(3):
        line.end(line.enter(f"v{number}"), "completed")
    held = line.enter("v4")
    line.set_limits(inventory=2)
    assert line.join("v5", wants_in=True).details == ("sold_out",)
    assert line.end(held, "completed").verdict == "freed", "its unit was kept for it"
    snapshot = line.snapshot().snapshot
    assert snapshot is not None
    assert snapshot.inventory_left == 0


def test_time_until_a_change_of_the_rate_is_earned_at_the_old_rate(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=100)
    line.store.command("HSET", "st:{q}:state", "units", "0")
    line.wait(10)
    line.set_limits(admit_per_minute=600)
    assert line.number("units") == 10 * 60_000
    line.wait(1)
    line.snapshot()
    assert line.number("units") == 20 * 60_000


@pytest.mark.parametrize("how", ["operator", "publish"])
def test_claims_in_a_minute_stay_within_the_rates_that_were_in_force(store: Store, how: str) -> None:
    line = Line(store, admit_per_minute=600, burst=5)
    rates, claims = [(line.now_ms, 600)], []
    waiting = line.places(250)
    for step in range(480):
        line.wait(0.25)
        if step % 60 == 59:
            rate = (60, 1200, 0, 300)[step // 60 % 4]
            rates.append((line.now_ms, rate))
            _ = (
                line.set_limits(admit_per_minute=rate)
                if how == "operator"
                else line.configure(admit_per_minute=rate)
            )
        for ticket in list(waiting[:12]):
            if line.touch(ticket, wants_in=True).verdict == "inside":
                claims.append(line.now_ms)
                waiting.remove(ticket)
    assert len(claims) > 200
    ends = [at for at, _ in rates[1:]] + [line.now_ms + 60_000]
    for start in claims:
        earned = sum(
            rate * max(0, min(end, start + 60_000) - max(at, start))
            for (at, rate), end in zip(rates, ends, strict=True)
        )
        assert sum(1 for claim in claims if start <= claim < start + 60_000) * 60_000 <= earned + 5 * 60_000


def test_switching_a_rate_off_and_on_gives_a_full_bucket_and_no_more(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=3)
    for number in range(3):
        line.enter(f"a{number}")
    line.set_limits(admit_per_minute=None)
    line.set_limits(admit_per_minute=60)
    verdicts = [line.join(f"b{number}", wants_in=True).verdict for number in range(5)]
    assert verdicts.count("inside") == 3


def test_a_smaller_burst_takes_what_was_saved_and_a_larger_one_gives_nothing(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=10)
    line.set_limits(burst=2)
    line.set_limits(burst=10)
    assert [line.join(f"v{n}", wants_in=True).verdict for n in range(4)].count("inside") == 2


def test_a_second_node_that_begins_a_queue_changes_nothing(line: Line) -> None:
    line.enter("v1")
    epoch = line.state()["epoch"]
    assert line.configure(new=True).verdict == "kept"
    assert (line.state()["epoch"], line.members("active")) == (epoch, ["1"])
