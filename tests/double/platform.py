"""What the platform has for a service: stores, backends, cache, counters, logs. One object is one point of presence."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.double.cache import CoreCache
from tests.double.message import Backend


@dataclass
class Platform:
    """`kv` looks a key up, and is None when no store is linked; `write_at_most`: how much of a body one write takes."""

    backends: dict[str, Backend] = field(default_factory=dict)
    kv: Callable[[str], bytes | None] | None = None
    secrets: dict[str, str] | None = None
    settings: dict[str, str] = field(default_factory=dict)
    countries: dict[str, str] = field(default_factory=dict)
    cache: CoreCache = field(default_factory=CoreCache)
    counters: Counter[str] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)
    sent: Counter[str] = field(default_factory=Counter)
    write_at_most: int = 1 << 30
    # Names of host functions that answer with an error.
    broken: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def lines(self, event: str) -> list[dict[str, object]]:
        """The log's lines about one kind of event."""
        return [line for text in self.log if (line := json.loads(text))["event"] == event]
