"""Three-way merging: what two people made of one configuration at the same time, key by key.

A key that only one of them changed is taken from that one. Where both changed it differently, mine is taken and told of, for a
person to decide. Lists and objects within an entry (routes, lanes, countries) are one value each.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from admin.configure.document import Entry, Value

_MISSING: Any = type("_Missing", (), {"__repr__": lambda self: "left out"})()


@dataclass(frozen=True)
class Conflict:
    """Both changed it. `target`: `queue:launch`; `key`: empty when one removed what the other changed. None: left out."""

    target: str
    key: str
    base: Any
    mine: Any
    theirs: Any


def merged_entry(base: Entry, mine: Entry, theirs: Entry, target: str) -> tuple[Entry, tuple[Conflict, ...]]:
    """One entry. The version is theirs: it is raised when it is published."""
    out, conflicts = copy.deepcopy(theirs), []
    for key in dict.fromkeys([*mine, *theirs, *base]):
        if key == "config_version":
            continue
        old, own, other = (entry.get(key, _MISSING) for entry in (base, mine, theirs))
        if own in (old, other):
            continue
        if other != old:
            conflicts.append(Conflict(target, key, *(None if value is _MISSING else value for value in (old, own, other))))
        if own is _MISSING:
            out.pop(key, None)
        else:
            out[key] = copy.deepcopy(own)
    return out, tuple(conflicts)


def merged(base: Value, mine: Value, theirs: Value) -> tuple[Value, tuple[Conflict, ...]]:
    """The whole configuration: mine on top of theirs."""
    out: Value = {}
    conflicts: list[Conflict] = []
    for key, kind in (("queues", "queue"), ("groups", "group")):
        entries, found = _entries(base.get(key, []), mine.get(key, []), theirs.get(key, []), kind)
        conflicts += found
        if entries or key in theirs or key in mine:
            out[key] = entries
    return out, tuple(conflicts)


def _entries(base: Sequence[Entry], mine: Sequence[Entry], theirs: Sequence[Entry], kind: str
             ) -> tuple[list[Entry], list[Conflict]]:  # fmt: skip
    by_id = [{str(entry.get("id")): entry for entry in entries} for entries in (base, mine, theirs)]
    out: list[Entry] = []
    conflicts: list[Conflict] = []
    for entry_id in dict.fromkeys([*_order(*by_id), *by_id[2], *by_id[1]]):
        old, own, other = (entries.get(entry_id) for entries in by_id)
        kept, found = _one(old, own, other, f"{kind}:{entry_id}")
        conflicts += found
        out += [] if kept is None else [kept]
    return out, conflicts


def _order(base: dict[str, Entry], mine: dict[str, Entry], theirs: dict[str, Entry]) -> Sequence[str]:
    """My order where I changed it, else theirs."""
    kept = [entry_id for entry_id in base if entry_id in mine]
    return list(mine) if kept != [entry_id for entry_id in mine if entry_id in base] else list(theirs)


def _one(old: Entry | None, own: Entry | None, other: Entry | None, target: str) -> tuple[Entry | None, list[Conflict]]:
    if own is not None and other is not None:
        entry, found = merged_entry(old or {}, own, other, target)
        return entry, list(found)
    if own is None and other is None:
        return None, []
    here = own if own is not None else other
    if old is None:
        return copy.deepcopy(here), []
    is_untouched = _plain(here) == _plain(old)
    if is_untouched:  # one removed it, the other left it alone
        return None, []
    return (copy.deepcopy(own), [Conflict(target, "", old, own, other)])


def _plain(entry: Entry | None) -> Entry:
    return {key: value for key, value in (entry or {}).items() if key != "config_version"}
