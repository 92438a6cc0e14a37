"""How often each token may ask the API: a moving window of one minute, kept in memory by the library `limits`."""

from __future__ import annotations

import math
import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter


class Rates:
    """`per_minute`: requests of one token."""

    def __init__(self, per_minute: int) -> None:
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._limit = RateLimitItemPerMinute(per_minute)

    def wait_s(self, name: str) -> int:
        """Counts one request of this token. Returns 0, or the whole seconds after which to ask again; then it is not counted."""
        if self._limiter.hit(self._limit, name):
            return 0
        window = self._limiter.get_window_stats(self._limit, name)
        return max(1, math.ceil(window.reset_time - time.time()))
