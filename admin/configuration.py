"""The published configuration as the admin sees it: read again when it is older than a second, the last good one kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from admin.kv import Kv, KvError
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.errors import ConfigError

FRESH_S = 1.0


@dataclass(frozen=True)
class Published:
    """The configuration in use, and what is wrong with the one in the store, if anything is."""

    config: Config
    problem: str = ""


class ConfigurationSource:
    """Reads `config.json` of the KV store. `monotonic_s` is the clock."""

    def __init__(self, kv: Kv, monotonic_s: Callable[[], float]) -> None:
        self._kv = kv
        self._clock = monotonic_s
        self._text: str | None = None
        self._published = Published(Config(()), "")
        self._read_at_s: float | None = None
        self._lock = asyncio.Lock()

    @property
    def last(self) -> Published:
        """What was read the last time, however long ago."""
        return self._published

    async def published(self) -> Published:
        """Never raises: trouble is in `problem`, beside the last configuration that could be read."""
        async with self._lock:
            now_s = self._clock()
            if self._read_at_s is None or now_s - self._read_at_s >= FRESH_S:
                self._published = await asyncio.to_thread(self._load)
                self._read_at_s = now_s
            return self._published

    def forget(self) -> None:
        """Reads the store at the next question: something was just published."""
        self._read_at_s = None

    def _load(self) -> Published:
        last = self._published.config
        try:
            text = self._kv.get(CONFIG_KEY)
            if text is None:
                return Published(last, f"No configuration is published: {CONFIG_KEY} is not in the KV store.")
            if text != self._text or self._published.problem:
                last = load_config(text)
                self._text = text
            return Published(last)
        except KvError as error:
            return Published(last, f"The configuration cannot be read: {error}.")
        except ConfigError as error:
            return Published(last, f"The published configuration cannot be used: {error}. The last good one stays in use.")
