"""Redis over REST by a named backend, within one deadline for all that a decision asks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from edge.guests.on_fastly.answering import write_all
from edge.guests.on_fastly.api import Err, async_io, backend, http_body, http_req
from edge.guests.rest import CONTENT_TYPE, Answered, failed, read_answer

BACKEND = "redis"
_PIECE_BYTES = 65_536
_LATE = "no answer within the time budget"


class Deadline:
    """A moment by the monotonic clock."""

    def __init__(self, budget_ms: int) -> None:
        self._at_ns = time.monotonic_ns() + budget_ms * 1_000_000

    def left_ms(self) -> int:
        """What is left of it, never below zero."""
        return max(0, (self._at_ns - time.monotonic_ns()) // 1_000_000)

    def is_met_by(self, handle: Any) -> bool:
        """Waits for what the handle promises, no longer than the deadline."""
        left_ms = self.left_ms()
        return left_ms > 0 and async_io.select_with_timeout([handle], left_ms) is not None


class Redis:
    """The client. `url` gives the base address and `token` the bearer token, which only a request needs."""

    def __init__(self, url: Callable[[], str], token: Callable[[], str]) -> None:
        self._url, self._token = url, token

    def send(self, body: str, count: int, deadline: Deadline) -> Answered:
        """Sends a pipeline of `count` commands. Raises nothing: no answer is an answer too."""
        if deadline.left_ms() == 0:
            return failed("slow", "the time budget was used up before this batch")
        try:
            return self._send(body, count, deadline)
        except (Err, OSError) as error:
            # The detail of such an error is empty on some hosts, so it decides nothing: what was late was told apart before.
            return failed("away", f"{type(error).__name__}: {getattr(error, 'value', error)}"[:200])

    def _send(self, content: str, count: int, deadline: Deadline) -> Answered:
        pending = http_req.send_async_uncached(self._request(), _body(content), backend.Backend.open(BACKEND))
        if not deadline.is_met_by(pending):
            return failed("slow", _LATE)
        response, body = http_req.await_response(pending)
        with response:
            status = response.get_status()
        pieces = []
        while True:
            if not deadline.is_met_by(body):
                return failed("slow", _LATE)
            piece = http_body.read(body, _PIECE_BYTES)
            if not piece:
                break
            pieces.append(piece)
        return read_answer(status, b"".join(pieces), count)

    def _request(self) -> Any:
        request = http_req.Request.new()
        request.set_method("POST")
        request.set_uri(f"{self._url().rstrip('/')}/pipeline")
        request.insert_header("content-type", CONTENT_TYPE.encode())
        request.insert_header("authorization", f"Bearer {self._token()}".encode())
        return request


def _body(content: str) -> Any:
    body = http_body.new()
    write_all(body, content.encode())
    return body
