"""What can go wrong in the core. Every error says what was wrong, where, and what to do.

CoreError
  ConfigError    a configuration that cannot be used; `.path` is the place in it
  TokenError     a token that is not ours, or not for this queue
  StoreAway      no connection to Redis; `.away_ms` tells for how long
  StoreBusy      Redis is there but slow or refusing: overload, not absence
"""

from __future__ import annotations


class CoreError(Exception):
    """The base of every error that the core raises on purpose."""


class ConfigError(CoreError):
    """A value that the configuration may not have. `path` is where, for instance `queues[2].admit_per_minute`."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}" if path else problem)
        self.path = path
        self.problem = problem


class TokenError(CoreError):
    """A cookie value that proves nothing: unknown key, wrong signature, another queue, another kind, or mangled."""


class StoreAway(CoreError):
    """Redis could not be reached. `away_ms`: since when, in milliseconds."""

    def __init__(self, away_ms: int) -> None:
        super().__init__(f"no connection to the store for {away_ms} ms")
        self.away_ms = away_ms


class StoreBusy(CoreError):
    """Redis did not answer within the budget, refused for overload, or answered with an error."""
