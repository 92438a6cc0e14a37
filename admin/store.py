"""The one door to Redis: sends the core's calls over REST and reads the answers.

The public `upstash-redis` client carries the commands. It would wait for ever and try again after three seconds; here it
never tries again by itself (every step may be repeated with its request id, so whoever asks decides) and has TIMEOUT_S.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from upstash_redis.asyncio import Redis
from upstash_redis.errors import UpstashError

from edge.core import commands, figures
from edge.core.calls import Answer, Call
from edge.core.errors import StoreBusy
from edge.core.figures import Figures
from edge.core.scripts import Flavour

TIMEOUT_S = 3.0
# Looking may fail sooner: the console shows what it saw last, and asks again a second later.
READ_TIMEOUT_S = 1.5
RETRY_AFTER_S = 2
# Queues read in one request: with every script sent in full it stays below a tenth of what Upstash takes.
READ_AT_MOST = 25
# What the client raises on an answer that is not of this protocol: it trusts its shape.
_NOT_THE_PROTOCOL = (ValueError, KeyError, TypeError, AttributeError, AssertionError)


class StoreUnavailable(Exception):
    """Redis did not do what was asked, or nobody knows whether it did. The text is a sentence for an operator."""


@dataclass(frozen=True)
class Limits:
    """Limits in force, by their public names; None: no limit. `live` names those that an operator set."""

    admit_per_minute: int | None
    burst: int | None
    max_active: int | None
    inventory: int | None
    manual: bool
    always_queue: bool
    live: tuple[str, ...] = ()

    @staticmethod
    def read(values: Sequence[Any]) -> Limits:
        """From the reply to `commands.read_limits`."""
        numbers = [int(value) if value not in (None, "") else None for value in values[: len(commands.LIMITS)]]
        by_name = dict(zip(commands.LIMITS, numbers, strict=True))
        operator, manual, always = values[len(commands.LIMITS) :]
        set_live = str(operator or "").split()
        live = tuple(name for name, in_state in commands.LIMITS.items() if in_state in set_live)
        return Limits(**by_name, manual=str(manual) == "1", always_queue=str(always) == "1", live=live)


# Counters of this epoch by their names in the state and to operators; `admitted`: came in, the others: how visits and places end.
COUNTS = (
    "admitted", "completed", "left", "revoked", "idle_expired", "pass_expired", "checkout_expired", "missed", "lapsed", "overrun",
    "undelivered", "sold", "turns",
)  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """One look at a scope: the answer with its full snapshot, the limits in force, and the counters of COUNTS."""

    answer: Answer
    limits: Limits
    counts: Mapping[str, int]


class Store:
    """Redis over REST. Every method raises StoreUnavailable."""

    def __init__(self, url: str, token: str, flavour: Flavour) -> None:
        self._redis = Redis(url=url, token=token, rest_encoding=None, rest_retries=0, allow_telemetry=False)
        self._flavour: Flavour = flavour

    async def run(self, call: Call) -> Answer:
        """Runs one step. After StoreUnavailable it may have happened or not: the same step with its request id tells."""
        try:
            reply = await self._send(self._redis.execute(call.evalsha(self._flavour)), TIMEOUT_S)
        except _ScriptForgotten:
            reply = await self._send(self._redis.execute(call.eval(self._flavour)), TIMEOUT_S)
        return _answer(reply)

    async def read(self, scopes: Sequence[str], randoms: Sequence[str]) -> list[Reading]:
        """The full snapshot, the limits in force and the counters of each scope, in requests of at most READ_AT_MOST scopes.

        A scope without a state has the verdict `missing`, and limits that mean nothing.
        """
        found: list[Reading] = []
        for start in range(0, len(scopes), READ_AT_MOST):
            part = slice(start, start + READ_AT_MOST)
            calls = [commands.take_snapshot(scope, random) for scope, random in zip(scopes[part], randoms[part], strict=True)]
            try:
                replies = await self._pipeline(calls, whole_scripts=False)
            except _ScriptForgotten:
                replies = await self._pipeline(calls, whole_scripts=True)
            found += [_reading(reply, values) for reply, values in zip(replies[::2], replies[1::2], strict=True)]
        return found

    async def plain(self, command: Sequence[str]) -> Any:
        """The reply to a plain command that only reads."""
        return await self._send(self._redis.execute(list(command)), READ_TIMEOUT_S)

    async def figures(self, scope: str) -> Figures:
        """The counts of waits and of times before giving up of a scope; empty ones for a scope without a state."""
        reply = await self._send(self._redis.execute(commands.read_figures(scope)), READ_TIMEOUT_S)
        try:
            return figures.read(_fields(reply))
        except (TypeError, ValueError) as error:
            raise StoreUnavailable(f"the figures in Redis cannot be read: {_short(error)}") from error

    async def close(self) -> None:
        """Closes the connections."""
        await self._redis.close()

    async def _pipeline(self, calls: Sequence[Call], *, whole_scripts: bool) -> list[Any]:
        pipeline = self._redis.pipeline()
        for call in calls:
            pipeline.execute(call.eval(self._flavour) if whole_scripts else call.evalsha(self._flavour))
            pipeline.execute(["HMGET", call.keys[0], *_LIMIT_FIELDS, *COUNTS])
        replies = await self._send(pipeline.exec(), READ_TIMEOUT_S)
        if not isinstance(replies, list) or len(replies) != 2 * len(calls):
            raise StoreUnavailable("Redis answered something that is no reply to what was asked. Check UPSTASH_REDIS_REST_URL.")
        return replies

    async def _send(self, request: Awaitable[Any], timeout_s: float) -> Any:
        try:
            async with asyncio.timeout(timeout_s):
                return await request
        except (TimeoutError, httpx.TimeoutException):
            raise StoreUnavailable(f"Redis did not answer within {timeout_s:g} s.") from None
        except httpx.HTTPError as error:
            raise StoreUnavailable(f"Redis cannot be reached over REST ({_short(error)}).") from error
        except UpstashError as error:
            if str(error).startswith("NOSCRIPT"):
                raise _ScriptForgotten from error
            raise StoreUnavailable(_refusal(error)) from error
        except _NOT_THE_PROTOCOL as error:
            raise StoreUnavailable(
                "Redis over REST answered something that is not its protocol."
                " Check UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN."
            ) from error


class _ScriptForgotten(Exception):
    """The server does not have the script: it is new to it, or it was restarted."""


_LIMIT_FIELDS = commands.read_limits("")[2:]


def _answer(reply: object) -> Answer:
    try:
        return Answer.read(reply)
    except StoreBusy as error:
        raise StoreUnavailable(f"Redis answered something unknown: {_short(error)}") from error


def _fields(reply: Any) -> dict[str, str]:
    """A hash, which the client may already have made a mapping of."""
    flat = [part for pair in reply.items() for part in pair] if isinstance(reply, dict) else list(reply or ())
    return {str(name): str(value) for name, value in zip(flat[::2], flat[1::2], strict=True)}


def _reading(reply: object, values: Any) -> Reading:
    answer = _answer(reply)
    try:
        counts = dict(zip(COUNTS, (int(value or 0) for value in values[len(_LIMIT_FIELDS) :]), strict=True))
        return Reading(answer, Limits.read(values[: len(_LIMIT_FIELDS)]), counts)
    except (TypeError, ValueError) as error:
        raise StoreUnavailable(f"the limits in Redis cannot be read: {_short(error)}") from error


def _refusal(error: UpstashError) -> str:
    text = _short(error)
    if "WRONGPASS" in text or "nauthorized" in text:
        return "Redis over REST does not accept UPSTASH_REDIS_REST_TOKEN."
    return f"Redis refused: {text}"


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:200]
