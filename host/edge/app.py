"""The ASGI app of the edge: reads a request, asks the gate, and responds or passes the request on."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from os import urandom
from typing import Any

from host.component.instance import GateFailed
from host.edge import builtin
from host.edge.builtin import BuiltIn, built_in
from host.edge.decider import Decider
from host.edge.exchange import Exchange
from host.edge.log import JsonLog
from host.edge.messages import Headers, MessageError, Respond
from host.edge.origin import OriginFailed
from host.edge.proxy import Proxy, VisitorGone
from host.edge.reading import read_request
from host.edge.target import Refused
from host.edge.visitor import Trust

ID_BYTES = 8
# What the log says of a visitor who left before the answer, as nginx does.
GONE_STATUS = 499


@dataclass(slots=True)
class Record:
    """What one request's log line tells: no address, no query."""

    method: str
    id: str
    started_s: float
    path: str = ""
    host: str = ""
    verb: str = "refuse"
    queue: str | None = None
    why: str = ""

    def fields(self, status: int) -> dict[str, object]:
        """The line, apart from its name and time."""
        line: dict[str, object] = {
            "id": self.id,
            "method": self.method,
            "host": self.host,
            "path": self.path[:500],
        }
        line |= {"status": status, "verb": self.verb, "why": self.why}
        if self.queue is not None:
            line["queue"] = self.queue
        return line | {"ms": round((time.monotonic() - self.started_s) * 1000, 1)}


@dataclass
class AnswerCounts:
    """What became of the requests since the process started."""

    forwarded: int = 0
    responded: int = 0
    refused: int = 0
    origin_failed: int = 0
    gate_failed: int = 0
    gone: int = 0


class EdgeApp:
    """The app. `start` and `stop` are awaited at the beginning and the end of the server's life."""

    def __init__(
        self,
        decider: Decider,
        proxy: Proxy,
        trust: Trust,
        log: JsonLog,
        log_requests: bool,
        on_stop: Callable[[], Any],
    ) -> None:
        self._decider = decider
        self._proxy = proxy
        self._trust = trust
        self._log = log
        self._log_requests = log_requests
        self._on_stop = on_stop
        self.counts = AnswerCounts()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """An ASGI call: the server's life, or one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope["extensions"]["stanchion"])

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._on_stop()
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, exchange: Exchange) -> None:
        record = Record(exchange.scope["method"], urandom(ID_BYTES).hex(), time.monotonic())
        try:
            status = await self._answer(exchange, record)
        except VisitorGone:
            self.counts.gone += 1
            status = GONE_STATUS
        except OriginFailed as failed:
            record.why = failed.reason
            self.counts.origin_failed += 1
            self._log.limited("origin.failed", {"id": record.id, "reason": failed.reason})
            status = await self._refuse(exchange, failed.answer, failed.appended)
        except Refused as refused:
            record.why = refused.sentence
            self.counts.refused += 1
            status = await self._refuse(exchange, refused.answer, refused.appended)
        except GateFailed as error:
            record.why = str(error)
            self.counts.gate_failed += 1
            self._log.limited("gate.failed", {"id": record.id, "reason": str(error)})
            status = await self._refuse(exchange, built_in(503, builtin.NO_GATE))
        except Exception:  # the last net: visitors get a sentence, the log gets the traceback
            record.why = "a fault in the edge"
            self.counts.gate_failed += 1
            self._log.event("edge.fault", {"id": record.id, "traceback": traceback.format_exc()})
            status = await self._refuse(exchange, built_in(503, builtin.NO_GATE))
        if self._log_requests:
            self._log.event("request", record.fields(status))

    async def _answer(self, exchange: Exchange, record: Record) -> int:
        reading = read_request(exchange, self._trust, record.id)
        record.host, record.path = reading.facts.host, reading.target.path
        try:
            step = await self._decider.decide(reading.facts)
        except MessageError as error:
            raise Refused(400, builtin.BAD_HEADER) from error
        record.why = step.why
        if isinstance(step, Respond):
            record.verb = "respond"
            self.counts.responded += 1
            await _send(exchange, step.status, step.headers, step.body)
            return step.status
        record.verb, record.queue = "forward", step.queue
        status = await self._proxy.forward(exchange, reading, step)
        self.counts.forwarded += 1
        return status

    async def _refuse(self, exchange: Exchange, answer: BuiltIn, appended: Headers = ()) -> int:
        if exchange.response_started:
            exchange.abort()
        else:
            answer = answer.for_client(_accept(exchange))
            await _send(exchange, answer.status, (*answer.headers, *appended), answer.body)
        return answer.status


def _accept(exchange: Exchange) -> bytes:
    return b", ".join(value for name, value in exchange.scope["headers"] if name == b"accept")


async def _send(exchange: Exchange, status: int, headers: Headers, body: bytes) -> None:
    framed = list(headers)
    if status not in (204, 304):
        framed.append((b"content-length", b"%d" % len(body)))
    await exchange.send({"type": "http.response.start", "status": status, "headers": framed})
    await exchange.send({"type": "http.response.body", "body": body})
