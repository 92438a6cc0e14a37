"""Moments: text and milliseconds, there and back, as the calendar of the standard library has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.moments import moment_ms, moment_text

FIRST = datetime(2000, 1, 1, tzinfo=UTC)


@given(st.integers(0, 1000 * 365 * 86_400 - 1), st.integers(0, 999))
def test_a_moment_reads_as_the_calendar_says_and_is_written_the_same(second: int, millis: int) -> None:
    moment = FIRST + timedelta(seconds=second)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S") + (f".{millis:03d}Z" if millis else "Z")
    ms = int(moment.timestamp()) * 1000 + millis
    assert moment_ms(text) == ms
    assert moment_text(ms) == text


def test_parts_of_a_second_may_be_short() -> None:
    assert moment_ms("2026-12-01T10:00:00.5Z") - moment_ms("2026-12-01T10:00:00Z") == 500
    assert moment_ms("2026-12-01T10:00:00.05Z") - moment_ms("2026-12-01T10:00:00Z") == 50


def test_a_day_that_is_none() -> None:
    with pytest.raises(ValueError, match="day"):
        moment_ms("2027-02-29T10:00:00Z")
