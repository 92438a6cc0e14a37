"""The Core Cache: texts with an age, and transactions in which one is obliged and the others wait (Fastly's documentation)."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

_NS = 1_000_000_000


@dataclass
class Item:
    """A body and until when it is fresh, and usable. Monotonic seconds of the cache's clock."""

    body: bytes
    fresh_until_s: float
    usable_until_s: float


@dataclass
class CoreCache:
    """One cache of one point of presence. `ahead_s`: how far a test has set its clock ahead."""

    items: dict[bytes, Item] = field(default_factory=dict)
    obliged: set[bytes] = field(default_factory=set)
    changed: threading.Condition = field(default_factory=threading.Condition)
    ahead_s: float = 0.0

    def now_s(self) -> float:
        return time.monotonic() + self.ahead_s

    def usable(self, key: bytes) -> Item | None:
        item = self.items.get(key)
        return item if item is not None and self.now_s() < item.usable_until_s else None

    def put(self, key: bytes, body: bytes, fresh_ns: int, stale_ns: int) -> None:
        with self.changed:
            fresh_until_s = self.now_s() + fresh_ns / _NS
            self.items[key] = Item(body, fresh_until_s, fresh_until_s + stale_ns / _NS)
            self.obliged.discard(key)
            self.changed.notify_all()

    def give_up(self, key: bytes) -> None:
        with self.changed:
            self.obliged.discard(key)
            self.changed.notify_all()


class Lookup:
    """An entry, or the wait for it."""

    def __init__(self, cache: CoreCache, key: bytes, *, in_transaction: bool) -> None:
        self.cache, self.key = cache, key
        self.item: Item | None = None
        self.state: set[str] | None = None
        self.is_obliged = False
        if not in_transaction:
            self.item = cache.usable(key)
            is_stale = self.item is not None and cache.now_s() >= self.item.fresh_until_s
            self.state = {"found", "usable"} | ({"stale"} if is_stale else set()) if self.item else set()

    def ready(self, timeout_s: float | None) -> bool:
        """Waits until the entry is there, or this sandbox is obliged to bring it."""
        with self.cache.changed:
            return self.state is not None or self.cache.changed.wait_for(self._settle, timeout_s)

    def _settle(self) -> bool:
        cache, item = self.cache, self.cache.usable(self.key)
        is_fresh = item is not None and cache.now_s() < item.fresh_until_s
        if item is None and self.key in cache.obliged:
            return False
        self.item, self.state = item, {"found", "usable"} if item else set()
        if not is_fresh:
            self.state |= {"stale"} if item else set()
            if self.key not in cache.obliged:
                cache.obliged.add(self.key)
                self.is_obliged = True
                self.state.add("must-insert-or-update")
        return True

    def close(self) -> None:
        if self.is_obliged:
            self.is_obliged = False
            self.cache.give_up(self.key)
