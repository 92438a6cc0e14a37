"""The request on its way to the origin, and the origin's answer on its way back; neither body enters the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from edge.core.conclude import ANSWER_HEADERS, Conclusion, conclude
from edge.core.messages import Context, Forward, Request
from edge.guests.builtin import NO_ORIGIN, built_in
from edge.guests.on_fastly.answering import Answer, add_headers
from edge.guests.on_fastly.api import Err, backend, http_req
from edge.guests.on_fastly.reading import RequestHeaders, header_names, header_values

BACKEND = "origin"
_PRIVATE = "stanchion-"
# "_" reads as "-": a CGI origin makes one variable of both spellings.
_FORWARDING = frozenset(("forwarded", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"))
_BAD_GATEWAY = 502


def _is_private(name: str) -> bool:
    return name.replace("_", "-").startswith(_PRIVATE)


def prepare(message: Any, request: Request, headers: RequestHeaders, step: Forward) -> None:
    """Takes our own headers out, puts the pass and the visitor's address in; all else stays as it came. Raises Err."""
    for name in headers.names:
        plain = name.replace("_", "-")
        if plain.startswith(_PRIVATE) or plain in _FORWARDING:
            message.remove_header(name)
    if step.cookie:
        message.insert_header("cookie", step.cookie.encode("latin-1"))
    elif step.cookie is not None:
        message.remove_header("cookie")
    if step.origin_pass:
        message.insert_header("stanchion-pass", step.origin_pass.encode())
    for name, value in (("x-forwarded-for", request.client), ("x-forwarded-proto", request.scheme),
                        ("x-forwarded-host", request.host)):  # fmt: skip
        if value:
            message.insert_header(name, value.encode("latin-1"))


def is_websocket(headers: RequestHeaders) -> bool:
    """Whether the visitor asks for a tunnel, which the platform makes by itself."""
    return "upgrade" in headers and headers["upgrade"].lower() == "websocket"


def _accept(headers: RequestHeaders) -> str:
    """What a failure's answer is chosen by; it cannot be read any more when the request was sent."""
    try:
        return str(headers.get("accept", ""))
    except Err:
        return ""


class Forwarding:
    """One forward. `trouble` is told what went wrong; `after` are the calls that the answer asks for."""

    def __init__(self, request: Request, step: Forward, context: Context | None, trouble: Callable[[str, str], None]) -> None:
        self._request, self._step, self._context, self._trouble = request, step, context, trouble
        self.after: Sequence[Any] = ()

    def run(self, message: Any, body: Any, answer: Answer) -> None:
        """Sends the request and passes the answer on. Raises Err while nothing was sent."""
        headers = self._request.headers
        assert isinstance(headers, RequestHeaders)
        prepare(message, self._request, headers, self._step)
        if is_websocket(headers):
            message.redirect_to_websocket_proxy(backend.Backend.open(BACKEND))
            answer.take(101)
            return
        accept = _accept(headers)
        try:
            # Uncached: an answer to somebody inside is not for anybody else.
            response, content = http_req.send_uncached(message, body, backend.Backend.open(BACKEND))
        except Err as error:
            self._trouble("origin.failed", _reason(error))
            self._fail(answer, accept)
            return
        status = response.get_status()
        self._conclude(response, status)
        answer.pass_on(response, content, status)

    def _fail(self, answer: Answer, accept: str) -> None:
        """The gate may have spent a token and a slot on a newcomer: the pass goes along with our own answer."""
        status, headers, body = built_in(_BAD_GATEWAY, NO_ORIGIN, accept)
        told = self._ask(status, headers) if self._step.context else Conclusion()
        answer.give(status, (*headers, *told.headers), body)

    def _conclude(self, response: Any, status: int) -> None:
        """Trouble costs the additions, never the origin's answer."""
        try:
            names = header_names(response)
            private = [name for name in names if _is_private(name)]
            if not self._step.context and not private:
                return
            wanted = [name for name in names if name in ANSWER_HEADERS]
            headers = [(name, value) for name in wanted for value in header_values(response, name)]
            for name in private:
                response.remove_header(name)
            add_headers(response, self._ask(status, headers).headers)
        except Exception as error:
            self._trouble("gate.conclude_failed", _reason(error))

    def _ask(self, status: int, headers: list[tuple[str, str]]) -> Conclusion:
        if self._context is None:
            return Conclusion()
        told = conclude(self._request, self._step.context, status, headers, self._context)
        if told.note:
            self._trouble(told.event, told.note)
        self.after = told.calls
        return told


def _reason(error: Exception) -> str:
    value = getattr(error, "value", error)
    return f"{type(error).__name__}: {value}"[:200]
