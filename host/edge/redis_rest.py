"""One batch of commands over the Redis REST protocol: POST /pipeline, as Upstash and the bridge answer it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Literal

import httpx

from host.edge.connections import Connections

CONNECT_TIMEOUT_S = 0.4
MAX_CONNECTIONS = 64
KEEPALIVE_S = 30.0
# How Upstash says that a plan's rate or day limit is reached (its documentation, "Pricing & Limits").
BUSY_TEXTS = ("ERR max requests limit exceeded", "ERR max daily request limit exceeded")
ERROR_SHOWN = 200

Failure = Literal["away", "slow", "busy"]


class StoreFailed(Exception):
    """No usable answer: away (no connection, a broken answer), slow (none in time), busy (a rate limit)."""

    def __init__(self, kind: Failure, reason: str) -> None:
        super().__init__(reason)
        self.kind: Failure = kind


@dataclass(frozen=True, slots=True)
class Answer:
    """The JSON array of results as it came, and whether one of them is an error."""

    text: str
    has_error: bool


class RedisRest:
    """A client with pooled connections that neither follows redirects nor repeats a request.

    `url` is the base address, `token` the bearer token.
    """

    def __init__(self, url: str, token: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport or Connections(MAX_CONNECTIONS, KEEPALIVE_S)
        self._url = httpx.URL(f"{url}/pipeline")
        # Exactly this content type: some bridges refuse one with a charset.
        self._headers = [("Content-Type", "application/json"), ("Authorization", f"Bearer {token}")]

    async def pipeline(self, body: str, count: int, budget_s: float) -> Answer:
        """Sends `count` commands, given as JSON. Raises StoreFailed, after `budget_s` at the latest."""
        try:
            async with asyncio.timeout(budget_s):
                status, text = await self._post(body, budget_s)
        except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout):
            raise StoreFailed("slow", f"no answer within {budget_s * 1000:.0f} ms") from None
        except (httpx.TransportError, OSError, httpx.InvalidURL) as error:
            raise StoreFailed("away", f"{type(error).__name__}: {error}") from error
        except ValueError as error:
            raise StoreFailed("away", f"an answer that is not text: {error}") from error
        return _read(status, text, count)

    async def _post(self, body: str, budget_s: float) -> tuple[int, str]:
        timeout = {"connect": CONNECT_TIMEOUT_S, "read": budget_s, "write": budget_s, "pool": budget_s}
        request = httpx.Request(
            "POST", self._url, headers=self._headers, content=body.encode(), extensions={"timeout": timeout}
        )
        response = await self._transport.handle_async_request(request)
        try:
            content = await response.aread()
        finally:
            await response.aclose()
        return response.status_code, content.decode("utf-8")

    async def close(self) -> None:
        """Closes the pooled connections."""
        await self._transport.aclose()


def _read(status: int, text: str, count: int) -> Answer:
    if status == 429:
        raise StoreFailed("busy", "HTTP status 429")
    try:
        told = json.loads(text)
    except ValueError:
        raise StoreFailed("away", f"HTTP status {status} and no JSON: {text[:ERROR_SHOWN]!r}") from None
    errors = _errors(told)
    if any(limit in error for error in errors for limit in BUSY_TEXTS):
        raise StoreFailed("busy", errors[0][:ERROR_SHOWN])
    if status != 200:
        raise StoreFailed("away", f"HTTP status {status}: {text[:ERROR_SHOWN]!r}")
    if not isinstance(told, list) or len(told) != count or not all(_is_result(item) for item in told):
        raise StoreFailed("away", f"an answer that is no list of {count} results: {text[:ERROR_SHOWN]!r}")
    return Answer(text, bool(errors))


def _errors(told: object) -> list[str]:
    items = told if isinstance(told, list) else [told]
    return [str(item["error"]) for item in items if isinstance(item, dict) and "error" in item]


def _is_result(item: object) -> bool:
    return isinstance(item, dict) and ("result" in item or "error" in item)
