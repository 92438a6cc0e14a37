"""What one node counts: places per client network, admissions without Redis, passes that it granted. All bounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.node import Granted, NodeCounters, network_of
from edge.core.tokens import Pass, Place

MINUTE_MS = 60_000
NOW_MS = 1_790_000_000_000


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113"),
        ("203.0.113.250", "203.0.113"),
        ("::ffff:203.0.113.7", "203.0.113"),
        ("2001:db8:1:2::3", "2001:0db8:0001"),
        ("2001:db8:1:ffff::3", "2001:0db8:0001"),
        ("fe80::1%eth0", "fe80:0000:0000"),
        ("unix", "unix"),
        ("", ""),
    ],
)
def test_the_network_of_an_address(address: str, network: str) -> None:
    assert network_of(address) == network


@given(st.text(max_size=60))
def test_no_address_is_an_error(address: str) -> None:
    assert isinstance(network_of(address), str)


def take(node: NodeCounters, number: int, now_ms: int = NOW_MS, limit: int = 3, network: str = "a", queue: str = "q") -> bool:
    return node.take_place(queue, network, limit, now_ms, f"{queue}{network}{number}")


def test_a_network_gets_so_many_places_a_minute() -> None:
    node = NodeCounters()
    assert [take(node, number) for number in range(5)] == [True, True, True, False, False]
    assert node.refused_places == 2
    assert take(node, 10, network="b")
    assert take(node, 11, queue="other")


def test_the_same_request_asked_again_is_the_same_place() -> None:
    node = NodeCounters()
    assert all(take(node, 1) for _ in range(20))
    assert node.has_ticket("qa1")
    assert take(node, 2)
    assert take(node, 3)
    assert not take(node, 4)
    assert take(node, 1)  # also when the minute is full by now


def test_a_place_that_came_to_nothing_is_given_back_once() -> None:
    node = NodeCounters()
    for number in range(3):
        take(node, number)
    node.return_place("q", "a", NOW_MS, "qa0")
    node.return_place("q", "a", NOW_MS, "qa0")
    assert not node.has_ticket("qa0")
    assert take(node, 5)
    assert not take(node, 6)


def test_the_minute_slides() -> None:
    node = NodeCounters()
    for number in range(3):
        take(node, number, NOW_MS + 50_000 * (number > 0))
    # At the begin of the next window those of the one before still count for the most part.
    assert take(node, 4, NOW_MS + MINUTE_MS + 100)
    assert not take(node, 5, NOW_MS + MINUTE_MS + 200)
    assert [take(node, number, NOW_MS + 3 * MINUTE_MS) for number in range(6, 10)] == [True, True, True, False]


@given(st.lists(st.integers(0, 9_000), max_size=60), st.integers(1, 6))
def test_never_twice_the_cap_in_any_minute(steps_ms: list[int], limit: int) -> None:
    node, now_ms, taken = NodeCounters(), NOW_MS, []
    for number, step_ms in enumerate(steps_ms):
        now_ms += step_ms
        if take(node, number, now_ms, limit):
            taken.append(now_ms)
    for at in taken:
        assert sum(at <= other < at + MINUTE_MS for other in taken) < 2 * limit


def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    node = NodeCounters()
    for number in range(4):
        take(node, number)
    assert take(node, 9, NOW_MS - 10 * MINUTE_MS)


def test_what_is_remembered_of_networks_is_bounded() -> None:
    node = NodeCounters()
    for number in range(21_000):
        take(node, number, network=str(number))
    assert len(node._places) <= 20_000
    assert len(node._tickets) <= 4096


@given(st.lists(st.integers(0, 20_000), max_size=80), st.integers(1, 5))
def test_admissions_without_redis_never_exceed_their_number_in_any_minute(steps_ms: list[int], per_minute: int) -> None:
    node, now_ms, admitted = NodeCounters(), NOW_MS, []
    for step_ms in steps_ms:
        now_ms += step_ms
        if node.take_store_error_admission("q", per_minute, now_ms):
            admitted.append(now_ms)
    for at in admitted:
        assert sum(at <= other < at + MINUTE_MS for other in admitted) <= per_minute
    assert node.store_error_admissions == len(admitted)
    assert not steps_ms or admitted


def test_admissions_without_redis_are_counted_by_queue_and_follow_the_configuration() -> None:
    node = NodeCounters()
    assert node.take_store_error_admission("a", 1, NOW_MS)
    assert not node.take_store_error_admission("a", 1, NOW_MS + 59_999)
    assert node.take_store_error_admission("b", 1, NOW_MS)
    assert node.take_store_error_admission("a", 2, NOW_MS + 59_999)
    assert not node.take_store_error_admission("a", 2, NOW_MS + 59_999)
    assert node.take_store_error_admission("a", 2, NOW_MS + 60_000)


def test_newcomers_are_held_for_a_while_once_redis_knows_of_one() -> None:
    node = NodeCounters()
    assert not node.is_holding("q", NOW_MS)
    node.hold("q", NOW_MS + 500)
    assert node.is_holding("q", NOW_MS + 499)
    assert not node.is_holding("q", NOW_MS + 500)
    assert not node.is_holding("other", NOW_MS)


def test_a_granted_pass_is_found_by_any_token_of_the_visit() -> None:
    granted = Granted()
    held = Pass("q", "e", "v", 3, 10, 20)
    granted.remember(held)
    assert granted.of(Place("q", "e", "v", 3, 0, 99)) is held
    assert granted.of(Pass("q", "e", "v", 3, 1, 2)) is held
    for other in (Place("x", "e", "v", 3, 0, 99), Place("q", "x", "v", 3, 0, 99), Place("q", "e", "x", 3, 0, 99)):
        assert granted.of(other) is None
    granted.forget(held)
    granted.forget(held)
    assert granted.of(held) is None
    for number in range(5000):
        granted.remember(Pass("q", "e", str(number), 3, 10, 20))
    assert len(granted._passes) <= 4096


def test_new_visits_are_those_of_the_last_minute() -> None:
    node = NodeCounters()
    assert node.visits("q", NOW_MS) == ("", 0)
    for number in range(20):
        node.visit("q", f"{number:064x}", NOW_MS + number * 100)
        node.visit("q", f"{number:064x}", NOW_MS + number * 100)
    name, count = node.visits("q", NOW_MS + 3000)
    assert (len(name), count, node.visits("other", NOW_MS)[1]) == (16, 20, 0)
    assert node.visits("q", NOW_MS + 50_000)[1] == 20
    node.visit("q", "f" * 64, NOW_MS + 55_000)
    assert [node.visits("q", NOW_MS + at_ms)[1] for at_ms in (62_000, 110_000, 116_000)] == [1, 1, 0]


def test_visits_of_a_clock_that_was_set_back_do_not_stay() -> None:
    node = NodeCounters()
    node.visit("q", "0" * 64, NOW_MS)
    assert node.visits("q", NOW_MS - 10 * MINUTE_MS)[1] == 0
    assert node.visits("q", NOW_MS)[1] == 0
