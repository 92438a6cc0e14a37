"""Times that people write: whatever is written, the answer is a moment or words about it."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.configure.zones import BadMoment, utc_moment
from admin.limits import BadValue
from admin.operate.moments import moment_of, zone_named

ZONES = st.sampled_from(["UTC", "America/Los_Angeles", "Pacific/Kiritimati", "Europe/Berlin", "Asia/Tokyo"])
TIMES = st.datetimes().map(lambda at: at.strftime("%Y-%m-%dT%H:%M").rjust(16, "0"))


@given(typed=TIMES | st.text(max_size=20), zone=ZONES)
def test_any_time_in_any_zone(typed: str, zone: str) -> None:
    # Anything else that is raised is a fault of ours.
    with contextlib.suppress(BadValue):
        assert moment_of(typed, zone_named(zone), "first") > 0
    with contextlib.suppress(BadMoment):
        utc_moment(typed, zone)


@pytest.mark.parametrize("typed", ["9999-12-31T23:59", "0001-01-01T00:00"])
@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
def test_the_ends_of_the_calendar(typed: str, zone: str) -> None:
    with pytest.raises(BadValue, match="is no time"):
        moment_of(typed, zone_named(zone))
    with pytest.raises(BadMoment, match="is no day and time"):
        utc_moment(typed, zone)
