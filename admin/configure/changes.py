"""What differs between two configurations, as a list with stable codes, and in words.

Compared is what entries mean, key by key, with defaults filled in: to write a default out changes nothing. Beside the keys stands
what follows from them: who begins anew, and which addresses are no longer guarded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from admin.configure.document import Entry, Value, effective, groups, queues
from admin.words import N_
from edge.core.groups import GROUP_FIELDS
from edge.core.model import QUEUE_FIELDS

WORDS: Mapping[str, str] = {
    "queue_added": N_("Queue %(id)s is new."),
    "queue_removed": N_("Queue %(id)s is removed."),
    "group_added": N_("Group %(id)s is new."),
    "group_removed": N_("Group %(id)s is removed; its queues go on by themselves."),
    "queue_key": N_("Queue %(id)s, %(key)s: %(before)s → %(after)s."),
    "group_key": N_("Group %(id)s, %(key)s: %(before)s → %(after)s."),
    "order": N_("The order of the queues changes; where several would take a visitor, the first does."),
    "unguarded": N_("No queue guards %(rules)s any longer: visitors go straight to the site there."),
    "reset": N_("Queue %(id)s enters another line (%(after)s, before %(before)s): who waits or is inside begins anew."),
    "lines": N_("In %(id)s line %(key)s was that of %(before)s and becomes that of %(after)s, with all who wait in it."
    " To keep people where they are, add queues and lanes at the end; else reset."),
}  # fmt: skip
# Codes that tell what people will notice, beside the keys that were changed.
CONSEQUENCES = ("unguarded", "reset", "lines")
_SHOWN_AT_MOST = 200
_KEYS = {"queue": [field.name for field in QUEUE_FIELDS], "group": [field.name for field in GROUP_FIELDS]}
_NOT_COMPARED = ("id", "config_version")


@dataclass(frozen=True)
class Change:
    """One difference. `code`: of WORDS; `target`: `queue:launch` or `group:world`; `key`: of the entry, or empty."""

    code: str
    target: str
    key: str = ""
    before: Any = None
    after: Any = None

    @property
    def values(self) -> dict[str, str]:
        """The values for the words."""
        entry_id = self.target.partition(":")[2]
        return {"id": entry_id, "key": self.key, "before": shown(self.before), "after": shown(self.after),
                "rules": ", ".join(self.before) if self.code == "unguarded" else ""}  # fmt: skip

    @property
    def words(self) -> str:
        """The change as a sentence."""
        return WORDS[self.code] % self.values

    def public(self) -> dict[str, Any]:
        """The change for programs."""
        return {"code": self.code, "target": self.target, "key": self.key or None, "before": self.before, "after": self.after,
                "words": self.words}  # fmt: skip


def shown(value: Any) -> str:
    """A value as a sentence shows it."""
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_AT_MOST else text[:_SHOWN_AT_MOST] + "…"


def differences(before: Value, after: Value) -> tuple[Change, ...]:
    """Everything that differs, the queues first."""
    return (
        *_entries("queue", queues(before), queues(after)),
        *_entries("group", groups(before), groups(after)),
        *_order(before, after),
        *_moved(before, after),
        *_shifted(before, after),
        *_unguarded(before, after),
    )


def entry_differences(kind: str, entry_id: str, before: Entry, after: Entry) -> tuple[Change, ...]:
    """What differs between two entries of a `queue` or `group`, key by key. They may be of any shape."""
    return tuple(_keys(kind, f"{kind}:{entry_id}", before, after))


def _entries(kind: str, before: Sequence[Entry], after: Sequence[Entry]) -> Iterator[Change]:
    old_by_id, new_by_id = _by_id(before), _by_id(after)
    for entry_id, new in new_by_id.items():
        target = f"{kind}:{entry_id}"
        if entry_id not in old_by_id:
            yield Change(f"{kind}_added", target, after=new)
        else:
            yield from _keys(kind, target, old_by_id[entry_id], new)
    for entry_id, old in old_by_id.items():
        if entry_id not in new_by_id:
            yield Change(f"{kind}_removed", f"{kind}:{entry_id}", before=old)


def _by_id(entries: Sequence[Entry]) -> dict[str, Entry]:
    return {str(entry.get("id")): entry for entry in entries}


def _keys(kind: str, target: str, old: Entry, new: Entry) -> Iterator[Change]:
    for name in _KEYS[kind]:
        if name not in _NOT_COMPARED:
            one, other = _plain(effective(old, name, kind)), _plain(effective(new, name, kind))
            if one != other:
                yield Change(f"{kind}_key", target, name, one, other)


def _plain(value: Any) -> Any:
    """A value to be compared: 5.0 is 5, and what a route leaves out is its default."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _order(before: Value, after: Value) -> Iterator[Change]:
    old, new = list(_by_id(queues(before))), list(_by_id(queues(after)))
    kept = [entry_id for entry_id in old if entry_id in new]
    if kept != [entry_id for entry_id in new if entry_id in old]:
        yield Change("order", "", "", old, new)


def _moved(before: Value, after: Value) -> Iterator[Change]:
    """Queues that enter or leave a group: people of the line that they leave do not come along."""
    old, new, known = _scopes(before), _scopes(after), _by_id(queues(before))
    for entry_id in _by_id(queues(after)):
        one, other = old.get(entry_id, entry_id), new.get(entry_id, entry_id)
        if entry_id in known and one != other:
            yield Change("reset", f"queue:{entry_id}", "", one, other)


def _scopes(value: Value) -> dict[str, str]:
    """The group of each queue that is in one."""
    return {str(member): str(group["id"]) for group in groups(value) for member in group.get("queues", ())}


def _lines(value: Value) -> dict[str, list[str]]:
    """By scope, as `queue:id` or `group:id`, whose line each of its lines is."""
    known, grouped = _by_id(queues(value)), _scopes(value)
    found = {f"queue:{entry_id}": _line_names(entry) for entry_id, entry in known.items() if entry_id not in grouped}
    for group in groups(value):
        members = [known.get(str(member)) for member in group.get("queues", ())]
        found[f"group:{group.get('id')}"] = [name for member in members if member for name in _line_names(member)]
    return found


def _line_names(entry: Entry) -> list[str]:
    return [f"{entry.get('id')} {lane.get('name', '')}".rstrip() for lane in entry.get("lanes") or [{}]]


def _is_same_line(one: str, other: str) -> bool:
    """A queue that gets its first lanes, or loses its last ones, keeps its line as that of everybody."""
    (queue, _, lane), (queue_then, _, lane_then) = one.partition(" "), other.partition(" ")
    return queue == queue_then and (lane == lane_then or not lane or not lane_then)


def _shifted(before: Value, after: Value) -> Iterator[Change]:
    """Lines that become another's: a line is known by its number, so people do not move along."""
    old, new = _lines(before), _lines(after)
    for scope in old.keys() & new.keys():
        pairs = enumerate(zip(old[scope], new[scope], strict=False))
        moved = [(number, *pair) for number, pair in pairs if not _is_same_line(*pair)]
        if moved:
            number, one, other = moved[0]
            yield Change("lines", scope, str(number + 1), one, other)


def _rules(entries: Sequence[Entry]) -> dict[str, None]:
    """The rules of queues as people write them; the value is of no use."""
    routes = [route for entry in entries for route in entry.get("routes", ()) if isinstance(route, dict)]
    return {("" if route.get("host", "*") == "*" else route["host"]) + str(route.get("path", "")): None for route in routes}


def _unguarded(before: Value, after: Value) -> Iterator[Change]:
    guarded = _rules(queues(after))
    lost = [rule for rule in _rules(queues(before)) if rule not in guarded]
    if lost:
        yield Change("unguarded", "", "", lost)


def is_same(before: Value, after: Value) -> bool:
    """Whether two values say the same in the same words: then there is nothing to save."""
    return {key: before.get(key, []) for key in ("queues", "groups")} == {key: after.get(key, []) for key in ("queues", "groups")}

