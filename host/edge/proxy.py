"""Passes a request to the origin and its answer to the visitor, piece by piece in both directions.

The request's body is sent before the answer is read: the HTTP client does not do both at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from host.edge import builtin
from host.edge.decider import Decider
from host.edge.exchange import Exchange
from host.edge.messages import Facts, Forward
from host.edge.origin import Answer, Body, Origin, OriginFailed
from host.edge.origin_answer import BrokenAnswer, visitor_headers
from host.edge.origin_request import Incoming, origin_headers
from host.edge.reading import Reading, needs_upgrade
from host.edge.store import Log
from host.edge.target import Refused

# Between two pieces of a request body.
BODY_TIMEOUT_S = 60.0


class VisitorGone(Exception):
    """The visitor closed the connection before the answer was complete."""


class Proxy:
    """Forwards to one origin. `visitor_host`: the origin gets the visitor's Host header, else its own."""

    def __init__(self, origin: Origin, decider: Decider, visitor_host: bool, log: Log) -> None:
        self._origin = origin
        self._decider = decider
        self._visitor_host = visitor_host
        self._log = log

    async def forward(self, exchange: Exchange, reading: Reading, step: Forward) -> int:
        """Answers the visitor and returns the status. Raises Refused, or VisitorGone."""
        try:
            return await self._forward(exchange, reading, step)
        except Refused as refused:
            # The gate has spent a token and a slot on a newcomer: the pass goes along with our own answer.
            if not exchange.response_started:
                told = refused.answer
                refused.appended = self._decider.conclude(reading.facts, step, told.status, told.headers)
            raise

    async def _forward(self, exchange: Exchange, reading: Reading, step: Forward) -> int:
        if needs_upgrade(exchange):
            raise Refused(501, builtin.NO_UPGRADE)
        facts, incoming = reading.facts, reading.incoming
        host = incoming.host_for_origin if self._visitor_host else b""
        headers = origin_headers(
            incoming,
            host or self._origin.authority,
            self._decider.private_prefix,
            step.cookie,
            step.admission_pass,
        )
        body = Body(_pieces(exchange)) if _has_body(incoming) else None
        with _while_present(exchange):
            async with await self._origin.ask(
                facts.method, reading.target.for_origin, headers, body
            ) as answer:
                await self._relay(exchange, facts, step, answer)
                return answer.status

    async def _relay(self, exchange: Exchange, facts: Facts, step: Forward, answer: Answer) -> None:
        try:
            headers = visitor_headers(answer.status, answer.headers, self._decider.private_prefix)
        except BrokenAnswer as error:
            raise OriginFailed(502, builtin.BROKEN_ORIGIN, str(error)) from error
        headers += self._decider.conclude(facts, step, answer.status, answer.headers)
        start = {"type": "http.response.start", "status": answer.status, "headers": headers}
        await exchange.send(start | {"reason": answer.reason})
        try:
            async for piece in answer.pieces():
                await exchange.send({"type": "http.response.body", "body": piece, "more_body": True})
        except OriginFailed as error:
            self._log("origin.broke_off", {"id": facts.id, "reason": error.reason})
            exchange.abort()
            return
        await exchange.send({"type": "http.response.body"})


def _has_body(incoming: Incoming) -> bool:
    lengths = [value for name, value in incoming.headers if name == b"content-length"]
    return incoming.chunked or any(value.strip(b"0") for value in lengths)


async def _pieces(exchange: Exchange) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                message = await exchange.receive()
        except TimeoutError:
            raise Refused(408, builtin.LATE_BODY) from None
        if message["type"] != "http.request":
            raise VisitorGone
        if message["body"]:
            yield message["body"]
        if not message["more_body"]:
            return


@contextmanager
def _while_present(exchange: Exchange) -> Iterator[None]:
    """Ends what is done within by VisitorGone as soon as the visitor goes away."""
    if exchange.disconnected:
        raise VisitorGone
    task = asyncio.current_task()
    assert task is not None
    exchange.on_gone = task.cancel
    try:
        yield
    except asyncio.CancelledError:
        if not exchange.disconnected:
            raise
        task.uncancel()
        raise VisitorGone from None
    finally:
        exchange.on_gone = None
