"""Edits of a configuration as a JSON value. Each returns a new value; what an edit does not speak of stays as it was written.

A value here has the shape of a configuration (queues with an id, groups with their lists); whether it means something is
checked when it is to be published.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from edge.core.groups import GROUP_DEFAULTS, SHARED
from edge.core.model import QUEUE_DEFAULTS

Value = dict[str, Any]
Entry = dict[str, Any]
EMPTY: Value = {"queues": []}


class NoSuchEntry(Exception):
    """There is no queue or group with this id in the configuration."""

    def __init__(self, kind: str, entry_id: str) -> None:
        super().__init__(f"the configuration has no {kind} with the id {entry_id[:60]!r}")


def queues(value: Value) -> Sequence[Entry]:
    """The entries of the queues."""
    found: Sequence[Entry] = value.get("queues", ())
    return found


def groups(value: Value) -> Sequence[Entry]:
    """The entries of the groups."""
    found: Sequence[Entry] = value.get("groups", ())
    return found


def find(entries: Sequence[Entry], entry_id: str) -> Entry | None:
    """The entry with this id."""
    return next((entry for entry in entries if entry.get("id") == entry_id), None)


def queue_entry(value: Value, queue_id: str) -> Entry:
    """A queue's entry. Raises NoSuchEntry."""
    found = find(queues(value), queue_id)
    if found is None:
        raise NoSuchEntry("queue", queue_id)
    return found


def group_entry(value: Value, group_id: str) -> Entry:
    """A group's entry. Raises NoSuchEntry."""
    found = find(groups(value), group_id)
    if found is None:
        raise NoSuchEntry("group", group_id)
    return found


def group_of(value: Value, queue_id: str) -> Entry | None:
    """The group that a queue is in."""
    return next((group for group in groups(value) if queue_id in group.get("queues", ())), None)


@cache
def defaults(kind: str) -> Mapping[str, Any]:
    """The defaults of the keys of a `queue` or `group`, as JSON values: not to be changed."""
    table = QUEUE_DEFAULTS if kind == "queue" else {**GROUP_DEFAULTS, "quotas": {}}
    return {name: list(default) if isinstance(default, tuple) else default for name, default in table.items()}


def effective(entry: Entry, name: str, kind: str = "queue") -> Any:
    """What a key says: its value, or its default where it was left out; None where it has neither."""
    return entry[name] if name in entry else defaults(kind).get(name)


def changed_entry(entry: Entry, values: Mapping[str, Any], kind: str = "queue") -> Entry:
    """The entry with these values. What says the same as before stays as written; what is a default is left out."""
    known, out = defaults(kind), copy.deepcopy(entry)
    for name, new in values.items():
        if name in out and out[name] == new and isinstance(out[name], bool) is isinstance(new, bool):
            continue
        if name in known and known[name] == new and isinstance(known[name], bool) is isinstance(new, bool):
            out.pop(name, None)
        else:
            out[name] = copy.deepcopy(new)
    return out


def with_queue(value: Value, entry: Entry, replaces: str = "") -> Value:
    """The configuration with this queue: in the place of the one with the id `replaces`, or at the end."""
    out = copy.deepcopy(value)
    out["queues"] = _put(out.get("queues", []), entry, replaces)
    if replaces and replaces != entry["id"]:
        for group in out.get("groups", []):
            _rename_member(group, replaces, entry["id"])
    return out


def without_queue(value: Value, queue_id: str) -> Value:
    """The configuration without this queue; its group loses a member. Raises NoSuchEntry."""
    queue_entry(value, queue_id)
    out = copy.deepcopy(value)
    out["queues"] = [entry for entry in out["queues"] if entry.get("id") != queue_id]
    for group in out.get("groups", []):
        group["queues"] = [member for member in group["queues"] if member != queue_id]
        if "quotas" in group:
            group["quotas"].pop(queue_id, None)
    return out


def copied_queue(value: Value, queue_id: str, new_id: str) -> Entry:
    """The entry of a new queue like this one: without its version, and with what it has from its group. Raises NoSuchEntry."""
    entry, group = copy.deepcopy(queue_entry(value, queue_id)), group_of(value, queue_id)
    entry.pop("config_version", None)
    shared = {name: copy.deepcopy(group[name]) for name in group if name in SHARED} if group else {}
    return {**entry, **shared, "id": new_id}


def with_group(value: Value, entry: Entry, replaces: str = "") -> Value:
    """The configuration with this group. Who enters gives up the keys that a group shares; who leaves takes the group's along."""
    out = copy.deepcopy(value)
    old = find(groups(out), replaces) if replaces else None
    out["groups"] = _put(out.get("groups", []), entry, replaces)
    before, after = set(old.get("queues", ()) if old else ()), set(entry.get("queues", ()))
    for queue in out.get("queues", []):
        if queue.get("id") in after:
            for name in SHARED & queue.keys():
                del queue[name]
        elif queue.get("id") in before and old is not None and group_of(out, str(queue["id"])) is None:
            _take_along(queue, old)
    return out


def without_group(value: Value, group_id: str) -> Value:
    """The configuration without this group: its queues go on by themselves, each with the group's limits. Raises NoSuchEntry."""
    old, out = group_entry(value, group_id), copy.deepcopy(value)
    out["groups"] = [entry for entry in out["groups"] if entry.get("id") != group_id]
    if not out["groups"]:
        del out["groups"]
    for queue in out.get("queues", []):
        if queue.get("id") in old.get("queues", ()):
            _take_along(queue, old)
    return out


def _take_along(queue: Entry, group: Entry) -> None:
    queue.update({name: copy.deepcopy(group[name]) for name in group if name in SHARED})


def _put(entries: Sequence[Entry], entry: Entry, replaces: str) -> list[Entry]:
    ids = [each.get("id") for each in entries]
    if replaces in ids:
        at = ids.index(replaces)
        return [*entries[:at], copy.deepcopy(entry), *entries[at + 1 :]]
    return [*entries, copy.deepcopy(entry)]


def _rename_member(group: Entry, old: str, new: str) -> None:
    if old in group.get("queues", ()):
        group["queues"] = [new if member == old else member for member in group["queues"]]
        if old in group.get("quotas", {}):
            group["quotas"] = {new if member == old else member: share for member, share in group["quotas"].items()}
