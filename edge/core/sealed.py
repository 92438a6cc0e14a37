"""A configuration that was checked when it was saved, and need not be checked again in every fresh sandbox.

The saved text begins with a line that holds a checksum of the rest. It is a shortcut, not a secret: a text that was edited by
hand no longer matches and is checked in full. Checking costs a fresh sandbox ten times what reading does.
"""

from __future__ import annotations

import binascii
import json
from typing import Any

from edge.core.groups import GROUP_DEFAULTS, GROUP_FIELDS, QueueGroup, build_group, effective
from edge.core.model import ATTRIBUTES, QUEUE_DEFAULTS, QUEUE_FIELDS, Lane, Queue, Route
from edge.core.moments import moment_ms

_START = '{"checked": "'
_LISTS = ("countries", "bypass", "return_paths", "allowed_origins", "asset_extensions")
_MOMENTS = tuple((key, name) for key, name in ATTRIBUTES.items() if key != name)
# What a queue has that its configuration does not say.
_PLAIN: dict[str, Any] = {ATTRIBUTES[key]: value for key, value in QUEUE_DEFAULTS.items()} | {
    "group": "", "line": 0, "group_shares": (), "scope": "",
}  # fmt: skip
_NAMES = {ATTRIBUTES[field.name] for field in QUEUE_FIELDS} | _PLAIN.keys()
_GROUP_NAMES = {field.name for field in GROUP_FIELDS}
_ROUTE_DEFAULTS: dict[str, Any] = {"host": "*", "methods": (), "ignore_case": False}


# Raise it when a configuration that was good becomes wrong: texts sealed before are then checked again.
_RULES_VERSION = 2


def _checksum(body: str) -> str:
    return f"{binascii.crc32(body.encode('utf-8', 'replace'), _RULES_VERSION):08x}"


def seal(value: dict[str, Any]) -> str:
    """The text of a configuration that has just been checked, with its checksum in the first line."""
    kept = {key: value[key] for key in ("queues", "groups") if key in value}
    body = json.dumps(kept, indent=2, ensure_ascii=False)[1:].lstrip() + "\n"
    return f'{_START}{_checksum(body)}",\n{body}'


def is_sealed(text: str) -> bool:
    """Whether the text is as it was when it was checked."""
    first, _, body = text.partition("\n")
    return first.startswith(_START) and first[len(_START) :] == f'{_checksum(body)}",'


def _route(value: dict[str, Any]) -> Route:
    whole = _ROUTE_DEFAULTS | value
    return Route(whole["host"], whole["path"], tuple(whole["methods"]), whole["ignore_case"])


def _lane(value: dict[str, Any]) -> Lane:
    return Lane(value["name"], int(value.get("share", 1)), value.get("invite", False), value.get("rule"))


def _queue(value: dict[str, Any]) -> Queue:
    whole = _PLAIN | value
    whole["routes"] = tuple(map(_route, value["routes"]))
    for name in _LISTS:
        if name in value and value[name] is not None:
            whole[name] = tuple(value[name])
    if "lanes" in value:
        whole["lanes"] = tuple(map(_lane, value["lanes"]))
    for key, name in _MOMENTS:
        if key in value:
            moment = whole.pop(key)
            whole[name] = None if moment is None else moment_ms(moment)
    if whole["prequeue_order"] is None and whole["prequeue_at_ms"] is not None:
        whole["prequeue_order"] = "draw"
    for name, member in value.items():
        if type(member) is float:
            whole[name] = int(member)  # 5.0 was taken for the number 5
    whole["scope"] = value["id"]
    if whole.keys() != _NAMES:
        raise TypeError("the keys of a queue are of another version")
    # A frozen dataclass sets each of its fields by a call; this is the same in one, and half of the cost of reading.
    queue = object.__new__(Queue)
    vars(queue).update(whole)
    return queue


def _group(value: dict[str, Any]) -> QueueGroup:
    whole = GROUP_DEFAULTS | {key: int(member) if type(member) is float else member for key, member in value.items()}
    if whole.keys() != _GROUP_NAMES:
        raise TypeError("the keys of a group are of another version")
    whole["quotas"] = tuple((key, int(share)) for key, share in dict(whole["quotas"]).items())
    for key, _ in _MOMENTS:
        whole[key] = None if whole[key] is None else moment_ms(whole[key])
    return build_group(whole)


def read_sealed(text: str) -> tuple[tuple[Queue, ...], tuple[QueueGroup, ...]]:
    """Queues and groups of a sealed text, taken as they are. Raises KeyError, TypeError or ValueError for another version's."""
    value = json.loads(text)
    queues, groups = tuple(map(_queue, value["queues"])), tuple(map(_group, value.get("groups", ())))
    return effective(queues, groups), groups
