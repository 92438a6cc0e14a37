"""The throttle: few guesses for one network, few for all together, and no lock-out of the operator."""

from __future__ import annotations

import pytest

from admin.throttle import (
    NETWORK_ATTEMPTS,
    NETWORK_EARNS_AFTER_S,
    NETWORKS_AT_MOST,
    SHARED_ATTEMPTS,
    Throttle,
    client_network,
)


class FakeClock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_a_network_has_a_few_attempts_and_earns_more(clock: FakeClock) -> None:
    throttle = Throttle(clock)
    assert [throttle.take("192.0.2.1") for _ in range(NETWORK_ATTEMPTS)] == [0.0] * NETWORK_ATTEMPTS
    assert throttle.take("192.0.2.1") == NETWORK_EARNS_AFTER_S
    clock.now_s += NETWORK_EARNS_AFTER_S
    assert throttle.take("192.0.2.1") == 0.0
    assert throttle.take("192.0.2.1") > 0


def test_waiting_without_end_earns_no_more_than_the_bucket(clock: FakeClock) -> None:
    throttle = Throttle(clock)
    throttle.take("192.0.2.1")
    clock.now_s += 1e9
    assert sum(throttle.take("192.0.2.1") == 0 for _ in range(50)) == NETWORK_ATTEMPTS


def test_one_who_waits_out_a_refusal_is_let_through(clock: FakeClock) -> None:
    throttle = Throttle(clock)
    for number in range(300):
        wait_s = throttle.take(f"192.0.2.{number % 7}")
        if wait_s:
            clock.now_s += wait_s
            assert throttle.take(f"192.0.2.{number % 7}") == 0.0


def test_many_networks_share_a_bucket(clock: FakeClock) -> None:
    throttle = Throttle(clock)
    let_through = sum(throttle.take(f"10.{number // 250}.{number % 250}.1") == 0 for number in range(5_000))
    assert let_through == SHARED_ATTEMPTS


def test_a_network_that_signed_in_is_not_locked_out_by_others(clock: FakeClock) -> None:
    throttle = Throttle(clock)
    assert throttle.take("192.0.2.9") == 0.0
    throttle.succeeded("192.0.2.9")
    for number in range(1_000):
        throttle.take(f"10.0.{number % 250}.1")
    assert throttle.take("10.9.9.9") > 0
    assert throttle.take("192.0.2.9") == 0.0


def test_memory_is_bounded(clock: FakeClock) -> None:
    throttle = Throttle(clock)
    for number in range(3 * NETWORKS_AT_MOST):
        throttle.take(f"10.{number // 60_000}.{number // 250 % 240}.{number % 250}")
        throttle.succeeded(f"11.{number // 60_000}.{number // 250 % 240}.{number % 250}")
    assert len(throttle._networks) <= NETWORKS_AT_MOST
    assert len(throttle._known) <= NETWORKS_AT_MOST


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("", "unknown"),
        ("testclient", "unknown"),
    ],
)
def test_what_counts_as_one_client(address: str, network: str) -> None:
    assert client_network(address) == network
