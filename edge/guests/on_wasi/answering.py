"""The one answer that a request gets: written here, and never twice."""

from __future__ import annotations

import http
from collections.abc import Iterable
from typing import Any

from edge.guests.on_wasi.api import Err, Ok, types
from edge.guests.on_wasi.hop import weakest_first
from edge.guests.on_wasi.waiting import Broken, Deadline, Late, pump, write_all

RETRY_AFTER_S = 5
# A visitor that takes nothing for this long is gone.
STALL_MS = 120_000
# Between two pieces of an answer that has begun; event streams may be silent for long.
SILENCE_MS = 600_000
_NO_BODY = (204, 304)

NO_GATE = "The waiting room cannot answer at the moment. Please try again in a few seconds."
NO_ORIGIN = "The site behind the waiting room cannot be reached. Please try again in a few seconds."
SLOW_ORIGIN = "The site behind the waiting room did not answer in time. Please try again in a few seconds."
BAD_TARGET = "The address of the request cannot be passed on here; all but visible ASCII has to be percent-encoded."
BROKEN_ORIGIN = "The site behind the waiting room gave no valid answer. Please try again in a few seconds."
NO_UPGRADE = "Upgraded connections, WebSocket among them, are not passed on. Use plain HTTP or server-sent events."

Headers = Iterable[tuple[str, bytes]]


class Answer:
    """The answer to one request. `is_given` from the moment on that the host was told, whether it can send it or not."""

    def __init__(self, outparam: Any, method: str) -> None:
        self._outparam = outparam
        self._is_head = method == "HEAD"
        self.is_given = False
        self.status = 0

    def give(self, status: int, headers: Iterable[tuple[str, str]], text: str) -> None:
        """An answer of our own. Raises RuntimeError for a second one; a visitor who is gone raises nothing."""
        content = text.encode("utf-8", "replace")
        fields = [(name, value.encode("latin-1", "replace")) for name, value in weakest_first(headers)]
        if status not in _NO_BODY and not self._is_head:
            fields.append(("content-length", str(len(content)).encode()))
        body = self._begin(status, fields)
        try:
            with body.write() as sink:
                write_all(sink, b"" if self._is_bare else content, Deadline(STALL_MS))
            types.OutgoingBody.finish(body, None)
        except (Broken, Late, Err):
            return  # the visitor is gone

    def pass_on(self, status: int, headers: Headers, incoming: Any) -> None:
        """The origin's answer; its body streams through outside of the sandbox. Raises Late or Broken when it breaks off."""
        body = self._begin(status, headers)
        # Left without `finish`, as it is when the pump raises, the answer ends as a broken one.
        with incoming.stream() as source, body.write() as sink:
            if not self._is_bare:
                pump(source, sink, SILENCE_MS)
        try:
            types.OutgoingBody.finish(body, None)
        except Err:
            return  # a visitor who has gone, or an origin whose length was wrong: the host has broken it off

    @property
    def _is_bare(self) -> bool:
        return self._is_head or self.status in _NO_BODY

    def _begin(self, status: int, headers: Headers) -> Any:
        """Sends the head; the body to be written. Raises Err for a header that cannot be sent."""
        if self.is_given:
            raise RuntimeError("this request has been answered")
        response = types.OutgoingResponse(types.Fields.from_list(list(headers)))
        response.set_status_code(status)
        body = response.body()
        self.is_given, self.status = True, status
        types.ResponseOutparam.set(self._outparam, Ok(response))
        return body


def built_in(status: int, sentence: str) -> tuple[int, list[tuple[str, str]], str]:
    """A sentence of the edge itself, as status, headers and page. It says when to try again."""
    phrase = http.HTTPStatus(status).phrase
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{phrase}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>\n'
        f"<body><h1>{phrase}</h1><p>{sentence}</p></body></html>\n"
    )
    headers = [("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store")]
    if status in (502, 503, 504):
        headers.append(("retry-after", str(RETRY_AFTER_S)))
    return status, headers, page
