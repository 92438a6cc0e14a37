"""Moments of a schedule in a named time zone: as a form shows and reads them. The configuration keeps them in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from edge.core.moments import moment_ms, moment_text

UTC_NAME = "UTC"
_NO_PLACES = ("Etc/", "posix/", "right/", "SystemV/", "US/")
_TYPED = re.compile(r"(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?", re.ASCII).fullmatch


class BadMoment(ValueError):
    """A text that is no moment of this zone. The message says what to write."""


def zone_names() -> tuple[str, ...]:
    """Zones to choose from, UTC first: those named by a place."""
    places = (name for name in available_timezones() if "/" in name and not name.startswith(_NO_PLACES))
    return (UTC_NAME, *sorted(places))


def zone(name: str) -> ZoneInfo:
    """The zone; an unknown name is UTC."""
    try:
        return ZoneInfo(name or UTC_NAME)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo(UTC_NAME)


def local_text(moment: str | None, name: str) -> str:
    """A moment of the configuration as a form shows it in this zone, to the second: `2026-12-01T19:00:00`; empty for none."""
    if not moment:
        return ""
    try:
        at = datetime.fromtimestamp(moment_ms(moment) // 1000, UTC).astimezone(zone(name))
    except (ValueError, OverflowError):
        return moment
    return at.strftime("%Y-%m-%dT%H:%M:%S")


def utc_moment(typed: str, name: str) -> str | None:
    """The moment that a person wrote in this zone, as the configuration has it. Raises BadMoment."""
    typed = typed.strip()
    if not typed:
        return None
    if typed.endswith("Z"):
        return typed
    found = _TYPED(typed)
    try:
        numbers = [int(part or 0) for part in found.groups()] if found else []
        naive = datetime(*numbers)  # type: ignore[arg-type]
        if not 1970 < naive.year < 9000:  # a zone may lead off the calendar
            raise ValueError
    except (TypeError, ValueError):
        raise BadMoment(f"{typed[:40]!r} is no day and time: write it as 2026-12-01T10:00") from None
    there = zone(name)
    first = naive.replace(tzinfo=there)
    if first.astimezone(UTC).astimezone(there).replace(tzinfo=None) != naive:
        raise BadMoment(f"there is no {typed} in {name}: the clock goes forward over it; choose a time before or after, or UTC")
    if first.utcoffset() != naive.replace(tzinfo=there, fold=1).utcoffset():
        raise BadMoment(f"{typed} happens twice in {name}, when the clock goes back: write it in UTC")
    return moment_text(round((first.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1)))


def same_moment(typed: str, moment: str | None, name: str) -> bool:
    """Whether what stands in the form is what it was made of; fractions of a second are not shown there."""
    shown = local_text(moment, name)
    return typed.strip() in (shown, shown.removesuffix(":00"))
