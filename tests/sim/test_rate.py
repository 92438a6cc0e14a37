"""The account of the rate: what a stretch may hold, by a bucket and by windows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sim.rate import MINUTE_MS, Limits, Rate


def limits(rate: int | None, burst: int | None = None) -> Limits:
    return Limits(rate, burst, None, None)


def test_a_burst_and_then_what_is_earned() -> None:
    rate = Rate(limits(60, 5), 0)
    assert [rate.claim(0) for _ in range(6)] == [True] * 5 + [False]
    rate = Rate(limits(60, 5), 0)
    assert all(rate.claim(0) for _ in range(5))
    assert not rate.claim(999)
    rate = Rate(limits(60, 5), 0)
    assert all(rate.claim(1000 * number) for number in range(100))


def test_a_lowered_rate_counts_from_that_moment() -> None:
    rate = Rate(limits(600, 1), 0)
    assert rate.claim(0)
    rate.change(limits(60, 1), 100)
    assert rate.claim(100)
    assert not rate.claim(1000)


def test_after_a_loss_every_claim_is_earned_first() -> None:
    rate = Rate(limits(60, 5), 0)
    rate.begin_in_debt(10_000)
    assert not rate.claim(10_500)
    rate = Rate(limits(60, 5), 0)
    rate.begin_in_debt(10_000)
    assert rate.claim(11_000)


def test_the_fullest_minute_is_found() -> None:
    rate = Rate(limits(10, 2), 0)
    for at_ms in (0, 1, 30_000, 200_000):
        rate.claim(at_ms)
    assert rate.fullest_minute() == (3, 7.0, 30_000)
    assert rate.exceeded_minute() is None
    assert [rate.claim(200_000) for _ in range(12)][-1] is False
    assert rate.exceeded_minute() == (13, 12.0, 200_000)
    assert Rate(limits(None), 0).fullest_minute() is None


@given(st.lists(st.integers(0, 9_000), min_size=1, max_size=60), st.integers(0, 400), st.integers(1, 9))
def test_what_the_bucket_allows_no_minute_exceeds(gaps: list[int], per_minute: int, burst: int) -> None:
    rate, at_ms, kept = Rate(limits(per_minute, burst), 0), 0, []
    for gap in gaps:
        at_ms += gap
        before = (rate._debt, rate._at_ms, rate._burst)
        if rate.claim(at_ms):
            kept.append(at_ms)
        else:
            rate.claims.pop()
            rate._debt, rate._at_ms, rate._burst = before
    for last in kept:
        count = sum(1 for each in kept if last - MINUTE_MS < each <= last)
        most = rate.allowed(last - MINUTE_MS, last)
        assert most is not None
        assert count <= most
