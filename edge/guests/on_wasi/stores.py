"""Where configuration and pages come from: one hash of Redis, as `stanchion kv push` fills it."""

from __future__ import annotations

from collections.abc import Callable

from edge.guests.on_wasi.redis import Redis
from edge.guests.on_wasi.waiting import Deadline

# The value of a key, or None for an absent one. Raises OSError when the store cannot be read.
ReadKv = Callable[[str], str | None]

DEFAULT_HASH = "stanchion:kv"
READ_MS = 400


def redis_reader(redis: Redis, hash_key: str) -> ReadKv:
    """Reads from the hash `hash_key`."""

    def read(key: str) -> str | None:
        told = redis.send([["HGET", hash_key, key]], Deadline(READ_MS))
        if told.reply.failed:
            raise OSError(told.problem)
        (result,) = told.reply.results
        if "error" in result:
            raise OSError(str(result["error"])[:200])
        found = result["result"]
        return None if found is None else str(found)

    return read
