"""Runs whole requests of this guest while the component is built, against a host that is played (edge/guests/rehearsal.py).

Nothing of it stays but what the interpreter has adapted: keys, configuration and visitors are made up here.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from edge.core import builtin_page, identity, pages, scripts
from edge.core.config import CONFIG_KEY, check_config
from edge.core.crawlers import CRAWLERS_KEY
from edge.core.messages import Context, Request
from edge.core.node import NodeCounters
from edge.core.page_set import PageSet, page_set_key, write_page_set
from edge.core.sealed import seal
from edge.core.tokens import Keyring, Pass
from edge.guests import warm
from edge.guests.on_wasi.api import Err, Ok, poll, streams, types
from edge.guests.on_wasi.serving import Gate
from edge.guests.on_wasi.stores import folder_reader
from edge.guests.rehearsal import Replies, handle, playing

_HOUR_MS = 3_600_000
_KEYS = "warm:" + base64.urlsafe_b64encode(bytes(32)).decode()
_EPOCH = "warmwarmwarm"
_QUEUES = [
    {"id": name, "name": "Warm", "admit_per_minute": 6, "page": "warm", "routes": [{"path": f"/{name}/*"}]}
    for name in ("busy", "calm")
]
_ENVIRONMENT = [
    ("STANCHION_SIGNING_KEYS", _KEYS), ("STANCHION_ORIGIN_URL", "http://w.example"), ("STANCHION_COUNTRY_HEADER", "x-country"),
    ("STANCHION_CLIENT_HEADER", "x-forwarded-for"), ("UPSTASH_REDIS_REST_URL", "http://127.0.0.1:1"),
    ("UPSTASH_REDIS_REST_TOKEN", "warm"),
]  # fmt: skip


class _Host:
    """One request, and the answers of Redis and of an origin to what the guest asks for it."""

    def __init__(self, path: str, cookie: str, accept: str) -> None:
        self._path = path
        self._headers = [("host", b"w.example"), ("accept", accept.encode()), ("x-forwarded-for", b"192.0.2.1"),
                         ("x-country", b"JP"), ("user-agent", b"w"), ("cookie", cookie.encode())]  # fmt: skip
        self._sent = b""
        self._coming: list[bytes] = []
        self._status = 200
        self.begun = 0

    def replies(self) -> Replies:
        """By the names of the bindings."""
        new: dict[str, Callable[..., Any]] = {
            "Fields.from_list": lambda fields: Ok(handle(types.Fields)),
            "Fields.entries": lambda fields: self._headers,
            "FutureIncomingResponse.get": self._answered,
            "IncomingBody.stream": lambda body: Ok(handle(streams.InputStream)),
            "IncomingRequest.authority": lambda request: "w.example",
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
            "handle": lambda request, options: Ok(handle(types.FutureIncomingResponse)),
            "poll": lambda pollables: [0],
            "subscribe_duration": lambda duration: handle(poll.Pollable),
        }
        for name, kind in (("IncomingRequest.headers", types.Fields), ("IncomingResponse.headers", types.Fields),
                           ("FutureIncomingResponse.subscribe", poll.Pollable), ("InputStream.subscribe", poll.Pollable),
                           ("OutputStream.subscribe", poll.Pollable), ("OutgoingRequest.__init__", types.OutgoingRequest),
                           ("OutgoingResponse.__init__", types.OutgoingResponse),
                           ("RequestOptions.__init__", types.RequestOptions)):  # fmt: skip
            new[name] = partial(_made, kind)
        for name, kind in (("IncomingRequest.consume", types.IncomingBody), ("IncomingResponse.consume", types.IncomingBody),
                           ("OutgoingBody.write", streams.OutputStream), ("OutgoingRequest.body", types.OutgoingBody),
                           ("OutgoingResponse.body", types.OutgoingBody)):  # fmt: skip
            new[name] = partial(_made_well, kind)
        for name in ("OutgoingBody.finish", "OutgoingRequest.set_authority", "OutgoingRequest.set_method",
                     "OutgoingRequest.set_path_with_query", "OutgoingRequest.set_scheme", "OutputStream.flush",
                     "RequestOptions.set_connect_timeout"):  # fmt: skip
            new[name] = _done
        return new

    def _write(self, stream: Any, data: bytes) -> Any:
        self._sent += data
        return Ok(None)

    def _answered(self, future: Any) -> Any:
        if self._sent:
            told = [{"result": _ANSWERS[command[1]](command)} for command in json.loads(self._sent)]
            self._coming, self._sent = [json.dumps(told).encode()], b""
        return Ok(Ok(handle(types.IncomingResponse)))

    def _read(self, stream: Any, length: int) -> Any:
        return Ok(self._coming.pop()) if self._coming else Err(streams.StreamError_Closed())

    def _set_status(self, response: Any, status: int) -> Any:
        self._status = status
        return Ok(None)

    def _begin(self, outparam: Any, response: Any) -> None:
        self.begun = self._status


def _made(kind: type, *arguments: Any) -> Any:
    return handle(kind)


def _made_well(kind: type, *arguments: Any) -> Any:
    return Ok(handle(kind))


def _done(*arguments: Any) -> Any:
    return Ok(None)


# --- Redis ----------------------------------------------------------------------------------------------------------------


def _short(is_busy: bool) -> list[Any]:
    return [_EPOCH, str(time.time_ns() // 1_000_000), "open", "9", "3" if is_busy else "9", "9", "1", "6", ""]


def _snapshot(command: list[str]) -> list[Any]:
    is_busy = "{busy}" in command[3]
    rest = ["open", "0", "0", "0", "0", "", "", "", "", "60000", "900", "0", "1", 1, "0", "", [], "1000000", "0", ""]
    return [["ok"], [*_short(is_busy), 2 if is_busy else 0, 1, 1, 1, 5, "0", 3, "", "", 1, [], *rest]]


def _joined(command: list[str]) -> list[Any]:
    is_busy, now_ms = "{busy}" in command[3], time.time_ns() // 1_000_000
    details = ["waiting", "8"] if is_busy else ["inside", "9", str(now_ms + _HOUR_MS), str(now_ms + _HOUR_MS // 2)]
    return [details, _short(is_busy)]


_ANSWERS: dict[str, Callable[[list[str]], list[Any]]] = {
    scripts.SNAPSHOT.sha["redis"]: _snapshot,
    **{script.sha["redis"]: _joined for script in (scripts.JOIN, scripts.TOUCH, scripts.RENEW)},
}


# --- visitors -------------------------------------------------------------------------------------------------------------


def _cookies() -> dict[str, str]:
    """The cookies of somebody inside, in line, and with nothing yet."""
    now_ms = time.time_ns() // 1_000_000
    config = check_config({"queues": _QUEUES})
    context = Context.make(config, Keyring.parse(_KEYS), lambda page, language, state: pages.builtin(state), NodeCounters())
    asked = Request("GET", "/", "http", "w.example", "", "", now_ms, "5a" * 32, "")
    busy, calm = config.queues
    held = Pass("calm", _EPOCH, "v" * 16, 2, now_ms + _HOUR_MS, now_ms + 2 * _HOUR_MS)
    made = {
        "inside": identity.pass_cookie(calm, asked, context, held),
        "in line": identity.place_cookie(busy, asked, context, "v" * 16, _EPOCH, 9, now_ms),
        "hopeful": identity.candidate_cookie(busy, asked, context),
    }
    return {name: "other=1; " + cookie.partition(";")[0] for name, cookie in made.items()} | {"nobody": ""}


def _store() -> Callable[[str], bytes | None]:
    page = pages.seal(builtin_page.text("waiting"))
    kept = {CONFIG_KEY: seal({"queues": _QUEUES}), page_set_key("warm"): write_page_set(PageSet(1, 0, ("en",))),
            pages.page_key("warm", 1, "en", "waiting"): page}  # fmt: skip
    own = Path(__file__)
    read_file = folder_reader(str(own.parent))

    def read(key: str) -> bytes | None:
        assert read_file(own.name)  # for the way through the files; what is there is another thing
        return None if key == CRAWLERS_KEY else kept[key].encode()

    return read


_REQUESTS = (
    ("/about", "nobody", "text/html", 200), ("/calm/", "inside", "text/html", 200), ("/calm/", "nobody", "text/html", 200),
    ("/busy/", "nobody", "text/html,*/*;q=0.8", 503), ("/busy/", "hopeful", "text/html", 503),
    ("/busy/", "in line", "text/html", 503), ("/.stanchion/busy/status", "in line", "application/json", 200),
)  # fmt: skip


def run() -> None:
    """Each kind of request, each time by a gate that knows nothing yet, often enough."""
    cookies, read, write = _cookies(), _store(), os.write
    said: list[bytes] = []
    os.write = partial(lambda number, line: said.append(line))  # type: ignore[assignment]
    try:
        for _ in range(warm.TIMES):
            for path, who, accept, status in _REQUESTS:
                host = _Host(path, cookies[who], accept)
                with playing(host.replies()):
                    Gate(lambda: read).serve(handle(types.IncomingRequest), handle(types.ResponseOutparam))
                (line,) = said
                said.clear()
                assert host.begun == status, f"{path} for {who}: {host.begun}"
                assert line.startswith(b'{"event":"request"'), line
    finally:
        os.write = write
