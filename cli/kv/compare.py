"""What makes two stores differ, and the words for it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from cli.deploy.in_force import needed
from cli.kv.stores import Store
from edge.core.config import CONFIG_KEY


@dataclass(frozen=True)
class Change:
    """One key whose value is not the same: `old` is what the target has, `new` what the source has; None: nothing."""

    key: str
    old: str | None
    new: str | None

    def line(self) -> str:
        """One line: a sign, the key and its size."""
        if self.old is None:
            return f"+ {self.key} ({_size(self.new)})"
        if self.new is None:
            return f"- {self.key} ({_size(self.old)})"
        return f"~ {self.key} ({_size(self.old)} -> {_size(self.new)})"

    def unified(self) -> Iterator[str]:
        """The lines that differ, as `diff -u` writes them."""
        old, new = (self.old or "").splitlines(), (self.new or "").splitlines()
        names = ("/dev/null" if self.old is None else f"a/{self.key}", "/dev/null" if self.new is None else f"b/{self.key}")
        yield from difflib.unified_diff(old, new, *names, lineterm="")


def _size(text: str | None) -> str:
    return f"{len((text or '').encode('utf-8', 'surrogatepass')):,} bytes"


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order in which they are written: the configuration last, so that the pages that it names are there."""
    return sorted(keys, key=lambda key: (key == CONFIG_KEY, key))


def changes(source: Store, target: Store, left_out: Collection[str] = ()) -> list[Change]:
    """Every key that differs, in the order of writing. `left_out`: keys that are not compared. Raises StoreError."""
    ours, theirs = set(source.list()), set(target.list())
    found = []
    for key in in_order((ours | theirs).difference(left_out)):
        new = source.get(key) if key in ours else None
        old = target.get(key) if key in theirs else None
        if new != old:
            found.append(Change(key, old, new))
    return found


def not_in_force(source: Store, target: Store) -> set[str]:
    """The source's keys of pages that no edge shows and the target can do without. Raises StoreError, InputError."""
    keys = source.list()
    return set(keys).difference(needed(keys, source.get, set(target.list())))


def summary(found: Iterable[Change]) -> str:
    """`2 new, 1 changed, 3 only there`."""
    kinds = {"new": 0, "changed": 0, "only there": 0}
    for change in found:
        kinds["new" if change.old is None else "only there" if change.new is None else "changed"] += 1
    return ", ".join(f"{count} {what}" for what, count in kinds.items() if count) or "no difference"
