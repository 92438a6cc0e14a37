"""The one answer that a request gets: written here, and never twice."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from edge.guests.on_wasi.api import Err, Ok, new_outgoing_response, types
from edge.guests.on_wasi.hop import weakest_first
from edge.guests.on_wasi.waiting import Broken, Deadline, Late, pump, write_all

# A visitor that takes nothing for this long is gone.
STALL_MS = 120_000
# Between two pieces of an answer that has begun; event streams may be silent for long.
SILENCE_MS = 600_000
_NO_BODY = (204, 304)
_DEFAULT_STATUS = 200

Headers = Iterable[tuple[str, bytes]]


class Answer:
    """The answer to one request. `is_given` from the moment on that the host was told, whether it can send it or not."""

    def __init__(self, outparam: Any, method: str) -> None:
        self._outparam = outparam
        self._is_head = method == "HEAD"
        self.is_given = False
        self.status = 0

    def give(self, status: int, headers: Iterable[tuple[str, str]], content: bytes) -> None:
        """An answer of our own. Raises RuntimeError for a second one; a visitor who is gone raises nothing."""
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
        try:
            with incoming.stream() as source, body.write() as sink:
                if not self._is_bare:
                    pump(source, sink, SILENCE_MS)
        except BaseException:
            self._break_off(body, headers)
            raise
        try:
            types.OutgoingBody.finish(body, None)
        except Err:
            return  # a visitor who has gone, or an origin whose length was wrong: the host has broken it off

    def _break_off(self, body: Any, headers: Headers) -> None:
        """Ends the answer as a broken one, and now: a traceback may hold the body for as long as the instance lives."""
        if any(name == "content-length" for name, _ in headers):
            with suppress(Err):  # fewer bytes than were promised
                types.OutgoingBody.finish(body, None)
        else:
            with body:  # let go without `finish`
                return

    @property
    def _is_bare(self) -> bool:
        return self._is_head or self.status in _NO_BODY

    def _begin(self, status: int, headers: Headers) -> Any:
        """Sends the head; the body to be written. Raises Err for a header that cannot be sent."""
        if self.is_given:
            raise RuntimeError("this request has been answered")
        response = new_outgoing_response([types.Fields.from_list(list(headers))])
        if status != _DEFAULT_STATUS:
            response.set_status_code(status)
        body = response.body()
        self.is_given, self.status = True, status
        types.ResponseOutparam.set(self._outparam, Ok(response))
        return body
