"""Where configuration and pages come from: a folder, or one hash of Redis, as `stanchion kv push` fills it."""

from __future__ import annotations

import os
import time

from edge.core import quick_json
from edge.core.config import CONFIG_KEY
from edge.core.crawlers import CRAWLERS_KEY
from edge.guests.on_wasi.redis import Redis
from edge.guests.on_wasi.waiting import Deadline
from edge.guests.page_shelf import ReadKv

DEFAULT_HASH = "stanchion:kv"
READ_MS = 400
# How old configuration and pages may be before the store is asked again.
STORE_MAX_AGE_MS = 1_000
# What was asked for before is fetched along with what is asked for now, up to so many keys.
_TOGETHER_AT_MOST = 32
_NS_PER_MS = 1_000_000
_PIECE_BYTES = 262_144


def folder_reader(root: str) -> ReadKv:
    """Reads from a folder that the host lends: the local KV store of `stanchion config apply` and `stanchion publish`."""

    def read(key: str) -> bytes | None:
        try:
            file = os.open(f"{root}/{key}", os.O_RDONLY)
        except FileNotFoundError:
            if not os.path.isdir(root):
                raise
            return None
        try:
            pieces = []
            while piece := os.read(file, _PIECE_BYTES):
                pieces.append(piece)
        finally:
            os.close(file)
        return b"".join(pieces)

    return read


class RedisKv:
    """Reads from the hash `hash_key`: at most a request or two a second, however many keys are in use."""

    def __init__(self, redis: Redis, hash_key: str) -> None:
        self._redis, self._hash = redis, hash_key
        self._in_use: dict[str, None] = {CONFIG_KEY: None, CRAWLERS_KEY: None}
        self._values: dict[str, str | None] = {}
        self._read_ns = 0

    def __call__(self, key: str) -> str | None:
        """The value, or None. Raises OSError."""
        now_ns = time.monotonic_ns()
        if now_ns - self._read_ns >= STORE_MAX_AGE_MS * _NS_PER_MS:
            self._values.clear()
        if key not in self._values:
            self._fetch(key, now_ns)
        return self._values[key]

    def _fetch(self, key: str, now_ns: int) -> None:
        if not self._values:
            self._read_ns = now_ns
        wanted = [key, *(other for other in self._in_use if other != key and other not in self._values)]
        told = self._redis.send(quick_json.write([["HMGET", self._hash, *wanted]]), 1, Deadline(READ_MS))
        if told.reply.failed:
            raise OSError(told.problem)
        (result,) = told.reply.results
        if "error" in result:
            raise OSError(str(result["error"])[:200])
        self._values.update(zip(wanted, result["result"], strict=True))
        if len(self._in_use) >= _TOGETHER_AT_MOST:
            self._in_use.clear()
        self._in_use[key] = None
