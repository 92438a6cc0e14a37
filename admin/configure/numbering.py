"""Which scopes (queues, and groups) a configuration changes, and the higher `config_version` that each of them gets.

The state in Redis takes only what is newer than its own, and may be ahead of the store: of a queue that was removed and comes
back, or when the store was emptied.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from edge.core.config import Config, check_config
from edge.core.model import QUEUE_FIELDS, Queue

_COMPARED = tuple(field.name for field in fields(Queue) if field.name != "config_version")
_VERSION = next(field.kind for field in QUEUE_FIELDS if field.name == "config_version")


def plain(queues: tuple[Queue, ...]) -> list[dict[str, Any]]:
    """The queues of a scope without their versions, to be compared."""
    return [{name: getattr(queue, name) for name in _COMPARED} for queue in queues]


def scopes_of(config: Config) -> tuple[str, ...]:
    """Ids of the scopes, in the order of the queues."""
    return tuple(dict.fromkeys(queue.scope for queue in config.queues))


def changed_scopes(before: Config, after: Config) -> tuple[str, ...]:
    """Scopes that are new, or whose queues mean something else now."""
    return tuple(scope for scope in scopes_of(after) if plain(before.scope(scope)) != plain(after.scope(scope)))


def _entries(value: Any, config: Config) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each scope with the entry that numbers it and where that stands: a group, or a queue without one."""
    for index, (entry, queue) in enumerate(zip(value["queues"], config.queues, strict=True)):
        if not queue.group:
            yield queue.id, entry, f"queues[{index}]"
    for index, entry in enumerate(value.get("groups", ())):
        yield entry["id"], entry, f"groups[{index}]"


def numbered(value: Any, before: Config, in_state: Callable[[str], int]) -> tuple[Any, list[str]]:
    """The configuration with a higher version on each scope that changed, and the ids of those.

    `in_state`: the version that a scope's state has in Redis, 0 without a state. Raises ConfigError when no number is left.
    """
    value = copy.deepcopy(value)
    after, changed = check_config(value), []
    for scope, entry, path in _entries(value, after):
        old, new, state_version = before.scope(scope), after.scope(scope), in_state(scope)
        if old and plain(old) == plain(new) and state_version <= old[0].config_version:
            entry["config_version"] = old[0].config_version
            continue
        above = max(state_version, old[0].config_version if old else 0) + 1
        entry["config_version"] = _VERSION.check(max(above, new[0].config_version), f"{path}.config_version")
        changed.append(scope)
    return value, changed
