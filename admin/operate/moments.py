"""Moments as people write them: a local time in a named zone, with the two traps of daylight saving said aloud."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from admin.limits import BadValue

_LOCAL = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)")
UTC_NAME = "UTC"


def zone_named(name: str) -> ZoneInfo:
    """The zone of an IANA name. Raises BadValue."""
    try:
        if not re.fullmatch(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}", name[:64]) or len(name) > 64:
            raise ValueError
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadValue("zone", f"{name[:64]!r} is no time zone; write it as Europe/Berlin or Asia/Tokyo") from None


def known_zone(name: str) -> ZoneInfo:
    """The zone of a name that may be wrong or empty: then UTC."""
    try:
        return zone_named(name) if name else ZoneInfo(UTC_NAME)
    except BadValue:
        return ZoneInfo(UTC_NAME)


def moment_of(local: str, zone: ZoneInfo, fold: str = "") -> int:
    """Unix ms of a local time such as `2026-12-01T20:00`. `fold`: `first` or `second` where the hour comes twice.

    Raises BadValue for what is no time, for an hour that the zone skips, and for one that comes twice without a `fold`.
    """
    parts = _LOCAL.fullmatch(local.strip())
    try:
        naive = datetime.fromisoformat(f"{parts[1]}T{parts[2]}") if parts else None
    except ValueError:
        naive = None
    # Beyond these years a zone may lead off the calendar.
    if naive is None or not 1970 < naive.year < 9000:
        raise BadValue("at", f"{local.strip()[:40]!r} is no time; write it as 2026-12-01T20:00")
    early, late = (naive.replace(tzinfo=zone, fold=number) for number in (0, 1))
    if early.utcoffset() == late.utcoffset():
        return _ms(early)
    if datetime.fromtimestamp(early.timestamp(), zone).replace(tzinfo=None) != naive:
        raise BadValue("at", f"{naive:%Y-%m-%d %H:%M} does not exist in {zone.key}: the clocks are put forward then")
    if fold not in ("first", "second"):
        raise BadValue("fold", f"{naive:%Y-%m-%d %H:%M} comes twice in {zone.key}: the clocks are put back then; say which")
    return _ms(early if fold == "first" else late)


def moment_from_rfc3339(text: str) -> int:
    """Unix ms of a time with its offset, such as `2026-12-01T20:00:00+01:00`. Raises BadValue."""
    try:
        found = datetime.fromisoformat(text.strip().replace("Z", "+00:00").replace("z", "+00:00"))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None or not 1970 < found.year < 9000:
        raise BadValue("at", f"{text[:40]!r} is no time with its offset; write it as 2026-12-01T20:00:00+01:00")
    return _ms(found)


def shown(at_ms: int, zone: ZoneInfo) -> str:
    """A moment for people: date, time and the zone's short name."""
    return datetime.fromtimestamp(at_ms / 1000, zone).strftime("%Y-%m-%d %H:%M:%S %Z").replace(":00 ", " ", 1)


def utc(at_ms: int) -> str:
    """The same in UTC."""
    return shown(at_ms, ZoneInfo(UTC_NAME))


def _ms(moment: datetime) -> int:
    return int(moment.astimezone(UTC).timestamp() * 1000)
