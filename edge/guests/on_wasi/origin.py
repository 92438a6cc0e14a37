"""The origin: the visitor's request out, its answer back, both streamed past the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from edge.core.messages import Forward, Request
from edge.guests.builtin import BAD_TARGET, BROKEN_ORIGIN, NO_ORIGIN, SLOW_ORIGIN
from edge.guests.on_wasi.address import Address
from edge.guests.on_wasi.answering import Answer
from edge.guests.on_wasi.api import Err, outgoing_handler, streams, types
from edge.guests.on_wasi.hop import Headers, to_origin, to_visitor
from edge.guests.on_wasi.reading import entries_of
from edge.guests.on_wasi.redis import answer_of, connect_timeout
from edge.guests.on_wasi.waiting import Broken, Deadline, Late, pump, write_all

CONNECT_MS = 5_000
# Time to the first byte of an answer.
ANSWER_MS = 60_000
# Between two pieces of a request body.
BODY_MS = 60_000
_PIECE_BYTES = 65_536
_SLOW = (types.ErrorCode_ConnectionTimeout, types.ErrorCode_HttpResponseTimeout, types.ErrorCode_ConnectionReadTimeout)

# What the gate appends to an answer with this status and these headers.
Conclude = Callable[[int, Headers], Headers]


class OriginFailed(Exception):
    """No answer that can be passed on: a status, a sentence for the visitor, and a reason for the log."""

    def __init__(self, status: int, sentence: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.sentence = status, sentence


class Origin:
    """One site behind the gate."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def forward(self, message: Any, headers: Headers, request: Request, decision: Forward, conclude: Conclude,
                answer: Answer) -> None:  # fmt: skip
        """Passes a request on and its answer back. Raises OriginFailed as long as nothing was answered."""
        with _told():
            fields = types.Fields.from_list(to_origin(headers, request, decision))
            outgoing = self._outgoing(fields, message, request.target)
            with message.consume() as incoming, incoming.stream() as source:
                first = _first(source)
                body = outgoing.body() if first else None
                with outgoing_handler.handle(outgoing, connect_timeout(CONNECT_MS)) as future:
                    if body is not None:
                        _send(body, first, source)
                    self._answer(future, conclude, answer)

    def _outgoing(self, fields: Any, message: Any, target: str) -> Any:
        try:
            return self._address.request(fields, message.method(), target)
        except Err as error:
            raise OriginFailed(400, BAD_TARGET, "an address that the host does not send") from error

    def _answer(self, future: Any, conclude: Conclude, answer: Answer) -> None:
        with answer_of(future, Deadline(ANSWER_MS)) as response:
            status: int = response.status()
            told = entries_of(response)
            passed = [*to_visitor(status, told), *conclude(status, told)]
            with response.consume() as body:
                answer.pass_on(status, passed, body)


@contextmanager
def _told() -> Iterator[None]:
    """Failures of the platform as the origin's."""
    try:
        yield
    except Late as late:
        raise OriginFailed(504, SLOW_ORIGIN, "no answer in time") from late
    except Broken as broken:
        raise OriginFailed(502, BROKEN_ORIGIN, "the connection broke off") from broken
    except Err as error:
        reason = f"{type(error.value).__name__}"
        if isinstance(error.value, _SLOW):
            raise OriginFailed(504, SLOW_ORIGIN, reason) from error
        raise OriginFailed(502, NO_ORIGIN, reason) from error


def _first(source: Any) -> bytes:
    """The first piece of the visitor's body; empty when there is none. A host may hide how a body is framed."""
    while True:
        try:
            piece = bytes(source.read(_PIECE_BYTES))
        except Err as error:
            if isinstance(error.value, streams.StreamError_Closed):
                return b""
            raise Broken from error
        if piece:
            return piece
        Deadline(BODY_MS).wait_for(source)


def _send(body: Any, first: bytes, source: Any) -> None:
    """The visitor's body to the origin. One that the origin does not want to the end is no error: its answer counts."""
    try:
        with body.write() as sink:
            write_all(sink, first, Deadline(BODY_MS))
            pump(source, sink, BODY_MS)
        types.OutgoingBody.finish(body, None)
    except (Broken, Err):
        return
