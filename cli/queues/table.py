"""Queues as a person reads them in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_COLUMNS = ("queue", "state", "waiting", "called", "inside", "of", "last minute", "of", "units left")
_NUMBERS_FROM = 2
LIMITS = ("admit_per_minute", "burst", "max_active", "inventory")


def listed(queues: Sequence[Mapping[str, Any]]) -> str:
    """A line for each queue, under one heading."""
    rows = [_COLUMNS, *(_row(queue) for queue in queues)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = (
        text.rjust(width) if column >= _NUMBERS_FROM else text.ljust(width)
        for column, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()


def _row(queue: Mapping[str, Any]) -> tuple[str, ...]:
    limits = queue["limits"]
    if queue["status"] == "missing":
        return (queue["id"], "missing", *("-" * 7))
    return (
        queue["id"], queue["status"], _number(queue["waiting"]), _number(queue["called"]), _number(queue["inside"]),
        _number(limits["max_active"]), _number(queue["admitted_last_minute"]), _number(limits["admit_per_minute"]),
        _number(queue["inventory_left"]),
    )  # fmt: skip


def described(queue: Mapping[str, Any]) -> str:
    """One queue, a fact a line."""
    limits = queue["limits"]
    facts = [
        ("state", queue["status"] if queue["mode"] == "open" else f"{queue['status']} (an operator said {queue['mode']})"),
        ("waiting", f"{_number(queue['waiting'])} of {_number(queue['length'])} who got a place"),
        ("called", _number(queue["called"])),
        ("inside", _number(queue["inside"])),
        ("admitted", f"{_number(queue['admitted_last_minute'])} in the last minute, {queue['counts']['admitted']:,} in all"),
        *((name, _limit(limits, name)) for name in LIMITS),
        ("units left", _number(queue["inventory_left"])),
        ("opens at", queue["opens_at"] or "-"),
        ("closes at", queue["closes_at"] or "-"),
        ("message", queue["message"] or "-"),
    ]
    if queue["group"]:
        facts.insert(0, ("group", f"{queue['group']}: numbers and steps concern {queue['concerned']}"))
    width = max(len(name) for name, _ in facts)
    return "\n".join([queue["id"], *(f"  {name.ljust(width)}  {fact}" for name, fact in facts)])


def _limit(limits: Mapping[str, Any], name: str) -> str:
    value = "none" if limits[name] is None else f"{limits[name]:,}"
    return f"{value}, set by an operator" if name in limits["live"] else value


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
