"""Runs whole requests of this guest while the component is built, against a host that is played (edge/guests/rehearsal.py)."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from edge.guests import sample_sale, warm
from edge.guests.on_wasi.api import Err, Ok, poll, streams, types
from edge.guests.on_wasi.serving import Gate
from edge.guests.on_wasi.stores import folder_reader
from edge.guests.rehearsal import Replies, handle, made, made_well, playing

_ENVIRONMENT = [
    ("STANCHION_SIGNING_KEYS", sample_sale.KEYS), ("STANCHION_ORIGIN_URL", "http://w.example"),
    ("STANCHION_COUNTRY_HEADER", "x-country"), ("STANCHION_CLIENT_HEADER", "x-forwarded-for"),
    ("UPSTASH_REDIS_REST_URL", "http://127.0.0.1:1"), ("UPSTASH_REDIS_REST_TOKEN", "warm"),
]  # fmt: skip


class _Host:
    """One request, and the answers of Redis and of an origin to what the guest asks for it. `begun`: the answer's status."""

    def __init__(self, path: str, cookie: str, accept: str) -> None:
        self._path = path
        sent = {"host": "w.example", "accept": accept, "user-agent": "w", "cookie": cookie, "x-forwarded-for": "192.0.2.1",
                "x-country": "JP"}  # fmt: skip
        self._headers = [(name, value.encode()) for name, value in sent.items()]
        self._sent = b""
        self._coming: list[bytes] = []
        self._status = 200
        self.begun = 0

    def replies(self) -> Replies:
        """By the names of the bindings."""
        new: dict[str, Callable[..., Any]] = {
            "Fields.entries": lambda fields: self._headers,
            "FutureIncomingResponse.get": self._answered,
            "IncomingRequest.authority": lambda request: sample_sale.HOST,
            "IncomingRequest.method": lambda request: types.Method_Get(),
            "IncomingRequest.path_with_query": lambda request: self._path,
            "IncomingRequest.scheme": lambda request: types.Scheme_Http(),
            "IncomingResponse.status": lambda response: 200,
            "InputStream.read": self._read,
            "OutgoingResponse.set_status_code": self._set_status,
            "OutputStream.blocking_splice": lambda sink, source, length: Err(streams.StreamError_Closed()),
            "OutputStream.check_write": lambda stream: Ok(1 << 20),
            "OutputStream.write": self._write,
            "Pollable.ready": lambda pollable: False,
            "ResponseOutparam.set": self._begin,
            "get_environment": lambda: _ENVIRONMENT,
            "poll": lambda pollables: [0],
        }
        for name, kind in (("IncomingRequest.headers", types.Fields), ("IncomingResponse.headers", types.Fields),
                           ("FutureIncomingResponse.subscribe", poll.Pollable), ("InputStream.subscribe", poll.Pollable),
                           ("OutputStream.subscribe", poll.Pollable), ("OutgoingRequest.__init__", types.OutgoingRequest),
                           ("OutgoingResponse.__init__", types.OutgoingResponse), ("subscribe_instant", poll.Pollable),
                           ("subscribe_duration", poll.Pollable),
                           ("RequestOptions.__init__", types.RequestOptions)):  # fmt: skip
            new[name] = partial(made, kind)
        for name, kind in (("IncomingRequest.consume", types.IncomingBody), ("IncomingResponse.consume", types.IncomingBody),
                           ("OutgoingBody.write", streams.OutputStream), ("OutgoingRequest.body", types.OutgoingBody),
                           ("OutgoingResponse.body", types.OutgoingBody), ("Fields.from_list", types.Fields),
                           ("IncomingBody.stream", streams.InputStream), ("handle", types.FutureIncomingResponse)):  # fmt: skip
            new[name] = partial(made_well, kind)
        for name in ("OutgoingBody.finish", "OutgoingRequest.set_authority", "OutgoingRequest.set_method", "OutputStream.flush",
                     "OutgoingRequest.set_path_with_query", "OutgoingRequest.set_scheme",
                     "RequestOptions.set_connect_timeout"):  # fmt: skip
            new[name] = partial(made_well, None)
        return new

    def _write(self, stream: Any, data: bytes) -> Any:
        self._sent += data
        return Ok(None)

    def _answered(self, future: Any) -> Any:
        if self._sent:
            self._coming, self._sent = [sample_sale.redis(self._sent)], b""
        return Ok(Ok(handle(types.IncomingResponse)))

    def _read(self, stream: Any, length: int) -> Any:
        return Ok(self._coming.pop()) if self._coming else Err(streams.StreamError_Closed())

    def _set_status(self, response: Any, status: int) -> Any:
        self._status = status
        return Ok(None)

    def _begin(self, outparam: Any, response: Any) -> None:
        self.begun = self._status


def _store() -> Callable[[str], bytes | None]:
    kept, own = sample_sale.store(), Path(__file__)
    read_file = folder_reader(str(own.parent))

    def read(key: str) -> bytes | None:
        assert read_file(own.name)  # for the way through the files; what is there is another thing
        return kept.get(key)

    return read


def run() -> None:
    """Each kind of request, each time by a gate that knows nothing yet, often enough."""
    cookies, read, write = sample_sale.cookies(), _store(), os.write
    said: list[bytes] = []
    os.write = partial(lambda number, line: said.append(line))  # type: ignore[assignment]
    try:
        for _ in range(warm.TIMES):
            for path, who, accept, status in sample_sale.REQUESTS:
                host = _Host(path, cookies[who], accept)
                with playing(host.replies()):
                    Gate(lambda: read).serve(handle(types.IncomingRequest), handle(types.ResponseOutparam))
                (line,) = said
                said.clear()
                assert host.begun == status, f"{path} for {who}: {host.begun}"
                assert line.startswith(b'{"event":"request"'), line
    finally:
        os.write = write
