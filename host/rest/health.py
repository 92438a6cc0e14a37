"""What is known of the Redis behind the door: can it be reached, and would it throw keys away.

Stanchion keeps places and counters in Redis. A server that evicts under memory pressure would forget some of
them without any error, so every `maxmemory-policy` other than `noeviction` is a loud warning.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from host.rest.backend import Backend, BackendAway
from host.rest.log import log
from host.rest.replies import ReplyError

#: Answers of the health page are shared for so long: it needs no token, so it must not be a way to load
#: Redis.
FRESH_S = 1.0
#: How often the policy is looked at; sooner while Redis is away, so that the warning comes soon after its
#: return.
CHECK_INTERVAL_S = 30.0
CHECK_INTERVAL_AWAY_S = 2.0

SAFE_POLICY = "noeviction"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Health:
    """One look at Redis. `maxmemory_policy` is `unknown` when the server does not tell, as a managed Redis may."""

    backend: str
    reachable: bool
    maxmemory_policy: str
    warning: str | None = None
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The fields that have a value."""
        return {name: value for name, value in asdict(self).items() if value is not None}


async def look(backend: Backend) -> Health:
    """Asks Redis once."""
    try:
        ping, policy = await backend.run([[b"PING"], [b"CONFIG", b"GET", b"maxmemory-policy"]])
    except BackendAway as error:
        return Health(backend.kind, False, UNKNOWN, error=str(error))
    if isinstance(ping, ReplyError):
        return Health(backend.kind, False, UNKNOWN, error=ping.text)
    match policy:
        case [bytes(), bytes(value), *_]:
            name = value.decode("utf-8", "replace")
        case _:
            name = UNKNOWN
    return Health(backend.kind, True, name, warning=_warning(name))


def _warning(policy: str) -> str | None:
    if policy in (SAFE_POLICY, UNKNOWN):
        return None
    return (
        f"maxmemory-policy is {policy}: under memory pressure Redis will silently drop places and counters. "
        "Set it to noeviction (CONFIG SET maxmemory-policy noeviction, and in redis.conf)."
    )


class HealthWatch:
    """Keeps the last look, and logs when something changed: away, back, or a policy that evicts."""

    def __init__(self, backend: Backend, clock: Callable[[], float] = time.monotonic) -> None:
        self._backend = backend
        self._clock = clock
        self._last: Health | None = None
        self._looked_at_s = 0.0
        self._looking = asyncio.Lock()

    async def current(self) -> Health:
        """A look that is at most FRESH_S old."""
        async with self._looking:
            if self._last is None or self._clock() - self._looked_at_s >= FRESH_S:
                health = await look(self._backend)
                self._tell(health)
                self._last, self._looked_at_s = health, self._clock()
            return self._last

    async def watch(self) -> None:
        """Looks again and again until cancelled."""
        while True:
            interval_s = CHECK_INTERVAL_AWAY_S
            try:
                if (await self.current()).reachable:
                    interval_s = CHECK_INTERVAL_S
            except Exception as error:
                log("error", "health_check_failed", what=repr(error))
            await asyncio.sleep(interval_s)

    def _tell(self, health: Health) -> None:
        before = self._last
        if before == health:
            return
        if not health.reachable:
            if before is None or before.reachable:
                log("error", "redis_away", backend=health.backend, reason=health.error)
            return
        if before is not None and not before.reachable:
            log("info", "redis_back", backend=health.backend)
        if health.warning and (before is None or before.warning != health.warning):
            log(
                "warning",
                "redis_evicts",
                backend=health.backend,
                policy=health.maxmemory_policy,
                what=health.warning,
            )
