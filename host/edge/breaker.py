"""A circuit breaker: nobody waits for a store that is known to be away; one probe at a time finds it back.

Times are monotonic seconds and come in from outside.
"""

from __future__ import annotations

FAILURES_TO_OPEN = 5
OPEN_S = 1.0


class Breaker:
    """Closed: all may pass. Open: nobody, for OPEN_S. Half open: one probe, which closes or opens it."""

    def __init__(self) -> None:
        self._failures = 0
        self._open_until_s: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether calls are being refused, probes apart."""
        return self._open_until_s is not None

    def enter(self, now_s: float) -> bool:
        """Whether this call may go out. Whoever may must report `success` or `failure` in the end."""
        if self._open_until_s is None:
            return True
        if self._probing or now_s < self._open_until_s:
            return False
        self._probing = True
        return True

    def success(self) -> None:
        """The store answered."""
        self._failures = 0
        self._open_until_s = None
        self._probing = False

    def failure(self, now_s: float) -> None:
        """No answer. The last of FAILURES_TO_OPEN in a row opens for OPEN_S, and so does a failed probe."""
        self._failures += 1
        if self._probing or (self._open_until_s is None and self._failures >= FAILURES_TO_OPEN):
            self._open_until_s = now_s + OPEN_S
        self._probing = False
