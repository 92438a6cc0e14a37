"""Changing limits live: what a change may say, and which combinations mean something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from admin.store import Limits
from edge.core.commands import LIMITS
from edge.core.errors import ConfigError
from edge.core.model import QUEUE_FIELDS, Queue

FROM_CONFIG = "config"
NAMES = tuple(LIMITS)
# A number, None for no limit, or FROM_CONFIG.
Value = int | None | Literal["config"]
_KINDS = {field.name: field.kind for field in QUEUE_FIELDS if field.name in LIMITS}
BOUNDS: Mapping[str, tuple[int, int]] = {name: (kind.low, kind.high) for name, kind in _KINDS.items()}


class BadValue(Exception):
    """A value, or a combination, that cannot be. `at` names the field."""

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"{at}: {problem}")
        self.at = at
        self.problem = problem


def check_changes(value: Any) -> dict[str, Value]:
    """The changes of a parsed JSON object. Raises BadValue for unknown names, wrong types and numbers out of bounds."""
    if not isinstance(value, dict):
        raise BadValue("body", f"must be an object with one or more of {', '.join(NAMES)}")
    if not value:
        raise BadValue("body", f"changes nothing; give one or more of {', '.join(NAMES)}")
    for name in value:
        if name not in NAMES:
            raise BadValue(repr(name)[:60], f"is no limit; limits are {', '.join(NAMES)}")
    return {name: _check(name, given) for name, given in value.items()}


def _check(name: str, given: Any) -> Value:
    if given == FROM_CONFIG:
        return "config"
    try:
        number: int | None = _KINDS[name].check(given, name)
    except ConfigError:
        low, high = BOUNDS[name]
        shown = repr(given)[:40]
        raise BadValue(
            name, f'{shown} is not allowed: a whole number from {low} to {high}, null for no limit, or "config"'
        ) from None
    return number


def configured(queue: Queue, in_force: Limits | None = None) -> Limits:
    """The limits that the published configuration says; `manual` and `always_queue` as in force, if given."""
    values: dict[str, Any] = {name: getattr(queue, name) for name in NAMES}
    return Limits(
        **values,
        manual=in_force.manual if in_force else queue.manual,
        always_queue=in_force.always_queue if in_force else queue.always_queue,
    )


def after(in_force: Limits, queue: Queue, changes: Mapping[str, Value]) -> Limits:
    """The limits after the changes. Raises BadValue when they would mean nothing together (the rules of a configuration)."""
    values: dict[str, Any] = {name: getattr(queue, name) if new == FROM_CONFIG else new for name, new in changes.items()}
    live = (set(in_force.live) | set(changes)) - {name for name, new in changes.items() if new == FROM_CONFIG}
    result = replace(in_force, **values, live=tuple(name for name in NAMES if name in live))
    changed = next(iter(changes))
    caps = (result.admit_per_minute, result.max_active, result.inventory)
    if caps == (None, None, None) and not result.manual and not result.always_queue:
        raise BadValue(changed, "the queue would have no limit at all; keep one of admit_per_minute, max_active and inventory")
    if result.burst is not None and result.admit_per_minute is None:
        at = "burst" if changes.get("burst") is not None else changed
        raise BadValue(at, f"a burst of {result.burst} means nothing without admit_per_minute; set both, or burst to null")
    if result.inventory is not None and queue.on_store_error == "admit":
        raise BadValue("inventory", "the queue admits people without Redis (on_store_error), which cannot keep an inventory")
    return result


def as_command(changes: Mapping[str, Value]) -> dict[str, int | Literal["="] | None]:
    """The changes as `commands.set_limits` wants them."""
    return {name: "=" if value == FROM_CONFIG else value for name, value in changes.items()}  # type: ignore[misc]
