"""A configuration that was checked when it was saved, and need not be checked again, nor read as a whole, in a fresh sandbox.

The first line of the saved text holds a checksum of the rest and an index: which queues have rules below which first segment of a
path. Each queue stands on a line of its own, so that a sandbox reads the one or two that its request is about, however many there
are. It is a shortcut, not a secret: a text that was edited by hand, or sealed by a version with other keys, no longer matches and
is checked in full. Checking costs a fresh sandbox twenty times what reading does.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Iterable
from typing import Any, TypeVar

from edge.core import quick_json
from edge.core.groups import GROUP_DEFAULTS, GROUP_FIELDS, QueueGroup, build_group, effective
from edge.core.model import ATTRIBUTES, LANE, QUEUE_FIELDS, ROUTE, Lane, Queue, Route
from edge.core.moments import moment_ms
from edge.core.rules import Rule

_START = '{"checked": "'
_CHECKSUM_CHARS = 8
# Entries of the index. A segment that is not plain stands with those that are open: its queue is then looked at every time.
_OPEN, _COUNTRIES = " *:", " ?countries "
_PLAIN_SEGMENT = re.compile(r"[a-z0-9._~-]+", re.ASCII)
_GROUPS = '\n"groups": [\n'
_MOMENTS = {key: name for key, name in ATTRIBUTES.items() if key != name}
_TAKEN_APART = frozenset(("routes", "lanes", *_MOMENTS))
_Made = TypeVar("_Made")
_ROUTE_DEFAULTS: dict[str, Any] = {"host": "*", "methods": (), "ignore_case": False}

# Raise it when a configuration that was good becomes wrong: texts sealed before are then checked again. So they are when keys
# come or go, for the names are a part of it.
_RULES_VERSION = 3
_NAMES = [field.name for fields in (QUEUE_FIELDS, GROUP_FIELDS, ROUTE.fields, LANE.fields) for field in fields]
_VERSION = binascii.crc32(" ".join(_NAMES).encode(), _RULES_VERSION)


def _checksum(rest: str) -> str:
    return f"{binascii.crc32(rest.encode('utf-8', 'replace'), _VERSION):08x}"


def seal(value: dict[str, Any]) -> str:
    """The text of a configuration that has just been checked, with its checksum and its index in the first line."""
    queues, groups = value["queues"], value.get("groups", ())
    rest = f'{_index(queues)}",\n"queues": [\n{_lines(queues)}]'
    if groups:
        rest += f",{_GROUPS}{_lines(groups)}]"
    rest += "}\n"
    return f"{_START}{_checksum(rest)}{rest}"


def _lines(entries: Iterable[dict[str, Any]]) -> str:
    ordered = ({"id": entry["id"]} | entry for entry in entries)
    return ",\n".join(json.dumps(entry, separators=(",", ":"), ensure_ascii=False) for entry in ordered) + "\n"


def _index(queues: Iterable[dict[str, Any]]) -> str:
    below: dict[str, dict[str, None]] = {_OPEN: {}}
    for queue in queues:
        for route in queue["routes"]:
            segment = Rule.of(_route(route)).first_segment
            is_plain = segment is not None and _PLAIN_SEGMENT.fullmatch(segment)
            below.setdefault(f" /{segment}:" if is_plain else _OPEN, {})[queue["id"]] = None
    entries = "".join(f"{name}{','.join(ids)}" for name, ids in below.items() if ids)
    return entries + (_COUNTRIES if any(queue.get("countries") is not None for queue in queues) else " ")


def is_sealed(text: str) -> bool:
    """Whether the text is as it was when it was checked."""
    begin = len(_START) + _CHECKSUM_CHARS
    return text.startswith(_START) and text[len(_START) : begin] == _checksum(text[begin:])


class SealedText:
    """Reads a sealed text piece by piece; what was read is kept."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._index_end = text.find("\n")
        begin = text.find(_GROUPS)
        self._queues_end = len(text) if begin < 0 else begin
        groups = () if begin < 0 else json.loads(text[begin + len(_GROUPS) - 2 : text.rindex("}")])
        self.groups: tuple[QueueGroup, ...] = tuple(map(_group, groups))
        self._own: dict[str, Queue | None] = {}
        self._effective: dict[str, Queue | None] = {}

    @property
    def names_countries(self) -> bool:
        """Whether any queue is for some countries only."""
        return self._text.find(_COUNTRIES, 0, self._index_end) >= 0

    def ids_below(self, segment: str) -> list[str]:
        """Queues with a rule whose paths may begin with this segment; perhaps some more."""
        found: dict[str, None] = {}
        for entry in (f" /{segment}:", _OPEN):
            at = self._text.find(entry, 0, self._index_end)
            if at >= 0:
                begin = at + len(entry)
                found |= dict.fromkeys(self._text[begin : self._text.find(" ", begin)].split(","))
        return list(found)

    def queue(self, queue_id: str) -> Queue | None:
        """A queue as it works, with what its group shares; None for none."""
        try:
            return self._effective[queue_id]
        except KeyError:
            pass
        group = next((group for group in self.groups if queue_id in group.queues), None)
        own = [self._read(each) for each in (group.queues if group else (queue_id,))]
        known = tuple(queue for queue in own if queue is not None)
        self._effective |= {queue.id: queue for queue in effective(known, (group,) if group else ())}
        return self._effective.get(queue_id)

    def _read(self, queue_id: str) -> Queue | None:
        """A queue as it stands on its line."""
        at = self._text.find(f'\n{{"id":"{queue_id}",', 0, self._queues_end)
        if at < 0:
            return None
        queue = _queue(quick_json.read(self._text[at + 1 : self._text.find("\n", at + 1)].rstrip(",")))
        return queue if queue.id == queue_id else None

    def all(self) -> tuple[Queue, ...]:
        """All queues, in their order."""
        found = (self.queue(value["id"]) for value in json.loads(self._text)["queues"])
        return tuple(queue for queue in found if queue is not None)


def _route(value: dict[str, Any]) -> Route:
    whole = _ROUTE_DEFAULTS | value
    whole["methods"] = tuple(whole["methods"])
    return _made(Route, whole)


def _lane(value: dict[str, Any]) -> Lane:
    return Lane(value["name"], int(value.get("share", 1)), value.get("invite", False), value.get("rule"))


def _queue(value: dict[str, Any]) -> Queue:
    own: dict[str, Any] = {"scope": value["id"], **value}
    for key, member in value.items():
        kind = type(member)
        if key in _TAKEN_APART:
            _take_apart(own, key, member)
        elif kind is list:
            own[key] = tuple(member)
        elif kind is float:
            own[key] = int(member)  # 5.0 was taken for the number 5
    if own.get("prequeue_order") is None and own.get("prequeue_at_ms") is not None:
        own["prequeue_order"] = "draw"
    return _made(Queue, own)


def _made(kind: type[_Made], said: dict[str, Any]) -> _Made:
    """A frozen dataclass, which sets each of its fields by a call. Here only what is said is set: the class has the defaults."""
    made = object.__new__(kind)
    object.__setattr__(made, "__dict__", said)
    return made


def _take_apart(own: dict[str, Any], key: str, member: Any) -> None:
    if key == "routes":
        own[key] = tuple(map(_route, member))
    elif key == "lanes":
        own[key] = tuple(map(_lane, member))
    else:
        own[_MOMENTS[key]] = None if member is None else moment_ms(member)
        del own[key]


def _group(value: dict[str, Any]) -> QueueGroup:
    whole = GROUP_DEFAULTS | {key: int(member) if type(member) is float else member for key, member in value.items()}
    whole["quotas"] = tuple((key, int(share)) for key, share in dict(whole["quotas"]).items())
    for key in _MOMENTS:
        whole[key] = None if whole[key] is None else moment_ms(whole[key])
    return build_group(whole)
