"""What a body may say, beyond being JSON: every unknown key and every wrong value is named."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from admin.limits import BadValue
from admin.operations import ADMIT_AT_MOST


@dataclass(frozen=True)
class Batch:
    """People to call. `over_rate`: they come in whatever the rate; `lane`: of this lane only."""

    count: int
    over_rate: bool = False
    lane: str | None = None


def keys(body: Any, required: Collection[str], optional: Collection[str] = ()) -> Mapping[str, Any]:
    """The body as an object with these keys. Raises BadValue."""
    names = ", ".join([*required, *(f"{name} (optional)" for name in optional)])
    if not isinstance(body, dict):
        raise BadValue("body", f"must be an object with {names}")
    for name in body:
        if name not in required and name not in optional:
            raise BadValue(repr(name)[:60], f"is not known here; this takes {names}")
    for name in required:
        if name not in body:
            raise BadValue(name, f"is missing; this takes {names}")
    return body


def only(body: Any, name: str) -> Any:
    """The value of the one key that the body has. Raises BadValue."""
    return keys(body, (name,))[name]


def whole(value: Any, at: str, least: int, most: int) -> int:
    """A whole number. Raises BadValue."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadValue(at, f"{repr(value)[:40]} is not allowed: a whole number from {least} to {most}")
    return value


def check_batch(body: Any) -> Batch:
    """The batch of a body. Raises BadValue."""
    given = keys(body, ("count",), ("over_rate", "lane"))
    over_rate, lane = given.get("over_rate", False), given.get("lane")
    if not isinstance(over_rate, bool):
        raise BadValue("over_rate", f"{repr(over_rate)[:40]} is not allowed: true or false")
    if lane is not None and not isinstance(lane, str):
        raise BadValue("lane", f"{repr(lane)[:40]} is not allowed: the name of a lane, or null")
    return Batch(whole(given["count"], "count", 1, ADMIT_AT_MOST), over_rate, lane)
