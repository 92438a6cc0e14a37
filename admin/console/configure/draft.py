"""One queue or group while somebody edits it: what was typed, what it was made from, what is wrong and what would change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from admin.configure.changes import CONSEQUENCES, Change, differences, entry_differences
from admin.configure.document import Entry, Value, find, groups, queues, with_group, with_queue
from admin.configure.faults import Fault, faults_of
from admin.configure.merge import Conflict, merged_entry
from admin.configure.service import Edition
from edge.core.errors import ConfigError
from edge.core.json_text import read_json

Kind = Literal["queue", "group"]
_TO_CONFIRM = (*CONSEQUENCES, "queue_removed", "group_removed")


@dataclass(frozen=True)
class Draft:
    """`original`: the id that it has in the configuration, empty for a new one; `base`: the entry that the form was made from.

    `faults`: with places within the entry; `others`: what is wrong elsewhere, in words. `conflicts`: keys that somebody else
    changed in the meantime; `is_stale`: somebody did.
    """

    kind: Kind
    original: str
    base: Entry
    entry: Entry
    zone: str
    faults: tuple[Fault, ...] = ()
    others: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    is_stale: bool = False
    is_removed: bool = False
    typed_json: str = ""
    json_fault: str = ""
    theirs: tuple[Change, ...] = field(default=())

    @property
    def consequences(self) -> tuple[Change, ...]:
        """What people will notice: to be confirmed."""
        return tuple(change for change in self.changes if change.code in _TO_CONFIRM)

    @property
    def confirmation(self) -> str:
        """What a form sends back to say that exactly these consequences are meant."""
        return hashlib.sha256("\n".join(change.words for change in self.consequences).encode()).hexdigest()[:16]

    @property
    def is_bad(self) -> bool:
        """Whether it cannot be published."""
        return bool(self.faults or self.others)


def entries(value: Value, kind: Kind) -> Sequence[Entry]:
    """All of a kind."""
    return queues(value) if kind == "queue" else groups(value)


def put(value: Value, kind: Kind, entry: Entry, original: str) -> Value:
    """The configuration with the entry in its place."""
    return with_queue(value, entry, original) if kind == "queue" else with_group(value, entry, original)


def on_top_of(draft: Draft, current: Edition) -> Draft:
    """The draft put on top of what is published now: merged, if somebody changed it since the form was made."""
    if not draft.original:
        return draft
    theirs = find(entries(current.value, draft.kind), draft.original)
    if theirs is None:
        return replace(draft, original="", base={}, is_stale=True, is_removed=True)
    if _plain(theirs) == _plain(draft.base):
        return replace(draft, base=theirs, entry=_versioned(draft.entry, theirs))
    merged, conflicts = merged_entry(draft.base, draft.entry, theirs, f"{draft.kind}:{draft.original}")
    shown = entry_differences(draft.kind, draft.original, draft.base, theirs)
    return replace(draft, base=theirs, entry=merged, conflicts=conflicts, is_stale=True, theirs=shown)


def _plain(entry: Entry) -> Entry:
    return {key: value for key, value in entry.items() if key != "config_version"}


def _versioned(entry: Entry, theirs: Entry) -> Entry:
    """With the version that is published: raising it is the publisher's business."""
    kept = {key: value for key, value in entry.items() if key != "config_version"}
    if "config_version" not in theirs:
        return kept
    return {key: theirs["config_version"] if key == "config_version" else value for key, value in entry.items()}


def judged(draft: Draft, current: Edition) -> Draft:
    """The draft with what is wrong with it, and what it would change."""
    try:
        value = put(current.value, draft.kind, draft.entry, draft.original)
    except (TypeError, AttributeError, KeyError):  # an entry of another shape altogether, from JSON
        value = {"queues": [draft.entry]} if draft.kind == "queue" else {"queues": [], "groups": [draft.entry]}
    found = faults_of(value)
    list_name = f"{draft.kind}s"
    index = max((number for number, each in enumerate(value[list_name]) if each.get("id") == draft.entry.get("id")), default=0)
    start = f"{list_name}[{index}]"
    here = [fault for fault in found if _is_within(fault.path, start)]
    own = [Fault(fault.path.removeprefix(start).removeprefix("."), fault.problem) for fault in here]
    others = [fault.words for fault in found if fault not in here]
    told = {fault.path for fault in draft.faults}
    faults = (*draft.faults, *(fault for fault in own if fault.path not in told))
    changes = () if found else differences(current.value, value)
    return replace(draft, faults=faults, others=(*draft.others, *others), changes=changes)


def _is_within(path: str, start: str) -> bool:
    return path == start or path.startswith((f"{start}.", f"{start}["))


def entry_from(text: str) -> Entry:
    """An entry out of the JSON that a person wrote. Raises ConfigError."""
    value: Any = read_json(text)
    if not isinstance(value, dict) or not isinstance(value.get("id", ""), str):
        raise ConfigError("", "must be an object with the keys of one entry")
    return value


def as_json(entry: Entry) -> str:
    """The entry as a person reads it."""
    return json.dumps(entry, indent=2, ensure_ascii=False)
