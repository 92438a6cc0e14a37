"""A configuration that was checked when it was saved, and need not be checked again in every fresh sandbox.

The saved text begins with a line that holds a checksum of the rest. It is a shortcut, not a secret: a text that was edited by
hand no longer matches and is checked in full. Checking costs a fresh sandbox ten times what reading does.
"""

from __future__ import annotations

import binascii
import json
from typing import Any

from edge.core.model import QUEUE_DEFAULTS, QUEUE_FIELDS, Queue, Route

_START = '{"checked": "'
_LISTS = ("countries", "bypass", "return_paths", "asset_extensions")
_NAMES = {field.name for field in QUEUE_FIELDS}
_ROUTE_DEFAULTS: dict[str, Any] = {"host": "*", "methods": (), "ignore_case": False}


# Raise it when a configuration that was good becomes wrong: texts sealed before are then checked again.
_RULES_VERSION = 1


def _checksum(body: str) -> str:
    return f"{binascii.crc32(body.encode('utf-8', 'replace'), _RULES_VERSION):08x}"


def seal(value: dict[str, Any]) -> str:
    """The text of a configuration that has just been checked, with its checksum in the first line."""
    body = json.dumps({"queues": value["queues"]}, indent=2, ensure_ascii=False)[1:].lstrip() + "\n"
    return f'{_START}{_checksum(body)}",\n{body}'


def is_sealed(text: str) -> bool:
    """Whether the text is as it was when it was checked."""
    first, _, body = text.partition("\n")
    return first.startswith(_START) and first[len(_START) :] == f'{_checksum(body)}",'


def _route(value: dict[str, Any]) -> Route:
    whole = _ROUTE_DEFAULTS | value
    return Route(whole["host"], whole["path"], tuple(whole["methods"]), whole["ignore_case"])


def _queue(value: dict[str, Any]) -> Queue:
    whole = QUEUE_DEFAULTS | value
    whole["routes"] = tuple(map(_route, value["routes"]))
    for name in _LISTS:
        if name in value and value[name] is not None:
            whole[name] = tuple(value[name])
    for name, member in value.items():
        if type(member) is float:
            whole[name] = int(member)  # 5.0 was taken for the number 5
    if whole.keys() != _NAMES:
        raise TypeError("the keys of a queue are of another version")
    # A frozen dataclass sets each of its fields by a call; this is the same in one, and half of the cost of reading.
    queue = object.__new__(Queue)
    vars(queue).update(whole)
    return queue


def read_sealed(text: str) -> tuple[Queue, ...]:
    """The queues of a sealed text, taken as they are. Raises KeyError, TypeError or ValueError for a text of another version."""
    return tuple(map(_queue, json.loads(text)["queues"]))
