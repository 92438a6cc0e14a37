"""What one instance is made of: settings out of the environment, Redis, the origin, and what it knows.

Hosts that keep an instance for more than one request keep all of this; on others it is made for each.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress

from edge.core.scripts import Flavour
from edge.guests import light_environ
from edge.guests.knowledge import Knowledge
from edge.guests.on_wasi.address import Address
from edge.guests.on_wasi.api import environment
from edge.guests.on_wasi.origin import Origin
from edge.guests.on_wasi.redis import Redis
from edge.guests.on_wasi.stores import DEFAULT_HASH, STORE_MAX_AGE_MS, RedisKv, folder_reader
from edge.guests.page_shelf import ReadKv

_STDERR = 2


def write_log(line: str) -> None:
    """One JSON object a line, on standard error."""
    with suppress(OSError):  # trouble with the log is nobody's trouble
        os.write(_STDERR, f"{line}\n".encode("utf-8", "replace"))


class Surroundings:
    """Raises ValueError, naming the variable, when an address is missing or none. `store`: the host's own, else Redis."""

    def __init__(self, store: Callable[[], ReadKv] | None) -> None:
        self._environ: dict[str, str] = dict(light_environ.told or environment.get_environment())
        redis_at = Address.parse(self.setting("UPSTASH_REDIS_REST_URL"), "UPSTASH_REDIS_REST_URL")
        flavour: Flavour = "redis" if redis_at.is_local else "upstash"
        if self.setting("STANCHION_REDIS_FLAVOUR"):
            flavour = "upstash" if self.setting("STANCHION_REDIS_FLAVOUR") == "upstash" else "redis"
        self._environ["STANCHION_REDIS_FLAVOUR"] = flavour
        self.redis = Redis(redis_at, self.setting("UPSTASH_REDIS_REST_TOKEN"), flavour)
        self.origin = Origin(Address.parse(self.setting("STANCHION_ORIGIN_URL"), "STANCHION_ORIGIN_URL"))
        self.logs_requests = self.setting("STANCHION_LOG_REQUESTS") != "0"
        pairs = (pair.partition("=") for pair in self.setting("STANCHION_LANE_SECRETS").split())
        self._secrets = {f"lane:{queue_id}": secret for queue_id, _, secret in pairs}
        self._secrets["signing-keys"] = self.setting("STANCHION_SIGNING_KEYS")
        read_kv = store() if store else self._store()
        self.knowledge = Knowledge(read_kv, self._environ.get, self._secret, write_log, is_alone=True)
        self._read_ms = 0

    def setting(self, name: str) -> str:
        """A variable of the environment; empty when it is not set."""
        return self._environ.get(name, "")

    def _store(self) -> ReadKv:
        folder = self.setting("STANCHION_KV_DIR")
        return folder_reader(folder) if folder else RedisKv(self.redis, self.setting("STANCHION_KV_HASH") or DEFAULT_HASH)

    def _secret(self, name: str) -> str | None:
        return self._secrets.get(name)

    def refresh(self) -> None:
        """Looks again what is in the store, if it is time. Raises ConfigError when there is nothing to work with."""
        now_ms = time.monotonic_ns() // 1_000_000
        if not self._read_ms or now_ms - self._read_ms >= STORE_MAX_AGE_MS:
            self._read_ms = now_ms
        self.knowledge.refresh(str(self._read_ms))

    def log(self, event: str, **fields: object) -> None:
        """Writes a line."""
        write_log(json.dumps({"event": event, **fields}))
