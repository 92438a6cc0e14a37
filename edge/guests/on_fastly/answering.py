"""The one answer that a request gets: written here, and never twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from edge.guests.on_fastly.api import http_body, http_resp

Headers = Iterable[tuple[str, str]]


def write_all(body: Any, data: bytes) -> None:
    """Writes everything: the host may take a part only. Raises Err."""
    while data:
        data = data[http_body.write(body, data) :]


class Answer:
    """The answer to one request. `is_given` from the moment on that the host was told to send it, whether it can or not."""

    def __init__(self) -> None:
        self.is_given = False
        self.status = 0

    def give(self, status: int, headers: Headers, content: bytes) -> None:
        """An answer of our own. Raises Err, and RuntimeError for a second one."""
        response = http_resp.Response.new()
        response.set_status(status)
        add_headers(response, headers)
        body = http_body.new()
        write_all(body, content)
        self.pass_on(response, body, status)

    def pass_on(self, response: Any, body: Any, status: int) -> None:
        """An answer that is there already; its body streams through outside of the sandbox. Raises as `give` does."""
        self.take(status)
        http_resp.send_downstream(response, body)

    def take(self, status: int) -> None:
        """Says that the request is answered with this. Raises RuntimeError for a second answer."""
        if self.is_given:
            raise RuntimeError("this request has been answered")
        self.is_given, self.status = True, status


def add_headers(message: Any, headers: Headers) -> None:
    """Appends; never replaces. Raises Err."""
    for name, value in headers:
        message.append_header(name, value.encode("latin-1", "replace"))
