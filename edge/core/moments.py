"""Moments of a schedule: RFC 3339 text in UTC in the configuration, Unix milliseconds everywhere else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from edge.core.errors import ConfigError

# Years 2000 to 2999, always UTC and always to the second: one moment is written in one way.
PATTERN = r"2\d{3}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?Z"
SAYS = "a moment in UTC such as 2026-12-01T10:00:00Z"
_MATCHES = re.compile(PATTERN, re.ASCII).fullmatch
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAY_MS = 86_400_000


def moment_ms(text: str) -> int:
    """Unix milliseconds of a text that matches PATTERN. Raises ValueError for a day that no calendar has."""
    day = date(int(text[:4]), int(text[5:7]), int(text[8:10])).toordinal() - _EPOCH_DAY
    seconds = int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])
    return day * _DAY_MS + seconds * 1000 + int((text[20:-1] + "000")[:3])


def moment_text(ms: int) -> str:
    """The text of a moment (Unix ms) as configurations have it; milliseconds only when there are some."""
    day, rest = divmod(ms, _DAY_MS)
    seconds, millis = divmod(rest, 1000)
    fraction = f".{millis:03d}" if millis else ""
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{date.fromordinal(day + _EPOCH_DAY).isoformat()}T{clock}{fraction}Z"


@dataclass(frozen=True)
class Moment:
    """A moment in time, or None."""

    optional: bool = True
    says: str = SAYS

    def check(self, value: Any, path: str) -> int | None:
        """Unix milliseconds."""
        if value is None:
            return None
        if not isinstance(value, str) or not _MATCHES(value):
            raise ConfigError(path, f"{repr(value)[:80]} is not allowed: {SAYS}, or null for none")
        try:
            return moment_ms(value)
        except ValueError as error:
            raise ConfigError(path, f"{value} is no day of the calendar: {error}") from error

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this value."""
        pattern = PATTERN.replace(r"\d", "[0-9]")
        return {"type": ["string", "null"], "pattern": f"^{pattern}$(?!\\n)", "description": SAYS}
