"""Runs whole requests of this guest while the component is built, against a host that is played (edge/guests/rehearsal.py)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from edge.guests import sample_sale, warm
from edge.guests.builtin import built_in
from edge.guests.on_fastly.api import (
    Ok,
    async_io,
    backend,
    cache,
    config_store,
    erl,
    http_req,
    http_resp,
    kv_store,
    log_endpoints,
    secret_store,
    types,
)
from edge.guests.on_fastly.reading import address_of
from edge.guests.on_fastly.shared import Known
from edge.guests.rehearsal import Replies, handle, made_well, playing

_SETTINGS = {"UPSTASH_REDIS_REST_URL": "http://w.example", "STANCHION_REDIS_FLAVOUR": "redis", "STANCHION_RATE_COUNTER": "w",
             "STANCHION_COUNTRY_HEADER": "x-country", "STANCHION_COUNTRY_TRUST_ALL": "1"}  # fmt: skip
_SECRETS = {"signing-keys": sample_sale.KEYS.encode(), "redis-rest-token": b"warm"}
_State = cache.LookupState


class _Host:
    """One request, and what the platform and those behind it answer. `is_known`: a fresh snapshot is shared."""

    def __init__(self, path: str, cookie: str, accept: str, kept: dict[str, bytes], is_known: bool) -> None:
        self._path, self._kept, self._is_known = path, kept, is_known
        self._headers = {"host": b"w.example", "accept": accept.encode(), "x-country": b"JP"}
        if cookie:
            self._headers["cookie"] = cookie.encode()
        self._sent = self._asked_for = b""
        self._is_obliged = False
        self._coming: list[bytes] = []
        self.begun = 0
        self.said: list[bytes] = []

    def replies(self) -> Replies:
        """By the names of the bindings."""
        new: dict[str, Callable[..., Any]] = {
            "Endpoint.write": lambda endpoint, line: self.said.append(line),
            "Entry.get_body": self._shared,
            "Entry.get_state": lambda entry: Ok(self._state()),
            "Entry.lookup": self._look,
            "Entry.take_body": self._take,
            "Entry.transaction_lookup_async": self._begin_transaction,
            "RateCounter.lookup_count": lambda counter, entry, duration: Ok(1),
            "Request.get_header_names": lambda request, room, cursor: Ok(("\0".join([*self._headers, ""]), None)),
            "Request.get_header_values": lambda request, name, room, cursor: Ok((self._headers[name] + b"\0", None)),
            "Request.get_method": lambda request, room: Ok("GET"),
            "Request.get_uri": lambda request, room: Ok(f"http://{sample_sale.HOST}{self._path}"),
            "Response.get_header_names": lambda response, room, cursor: Ok(("content-type\0cache-control\0", None)),
            "Response.get_header_values": lambda response, name, room, cursor: Ok((b"private\0", None)),
            "Response.get_status": self._status,
            "Response.set_status": self._set_status,
            "Secret.plaintext": lambda secret, room: Ok(_SECRETS[self._asked_for.decode()]),
            "Store.lookup_async": self._look_up,
            "await_lookup": lambda pending: Ok(handle(kv_store.Entry) if self._kept.get(self._asked_for.decode()) else None),
            "await_response": self._answered,
            "config_store.Store.get": lambda store, key, room: Ok(json.dumps(_SETTINGS)),
            "downstream_client_ip_addr": lambda request: types.IpAddress_Ipv4((192, 0, 2, 1)),
            "read": lambda body, size: Ok(self._coming.pop() if self._coming else b""),
            "secret_store.Store.get": self._secret,
            "select_with_timeout": lambda handles, timeout_ms: 0,
            "send_uncached": lambda *request: Ok((handle(http_resp.Response), handle(async_io.Pollable))),
            "write": self._write,
        }
        for name, kind in (("Backend.open", backend.Backend), ("Endpoint.open", log_endpoints.Endpoint),
                           ("new", async_io.Pollable), ("RateCounter.open", erl.RateCounter),
                           ("Entry.transaction_insert", async_io.Pollable),
                           ("Request.new", http_req.Request), ("Response.new", http_resp.Response), ("await_entry", cache.Entry),
                           ("config_store.Store.open", config_store.Store), ("insert", async_io.Pollable),
                           ("kv_store.Store.open", kv_store.Store), ("secret_store.Store.open", secret_store.Store),
                           ("send_async_uncached", async_io.Pollable)):  # fmt: skip
            new[name] = partial(made_well, kind)
        for name in ("RateCounter.increment", "Request.insert_header", "Request.remove_header", "Request.set_method",
                     "Request.set_uri", "Response.append_header", "Response.remove_header", "close", "close_entry",
                     "send_downstream"):  # fmt: skip
            new[name] = partial(made_well, None)
        return new

    def _state(self) -> Any:
        if self._is_obliged:
            return _State.MUST_INSERT_OR_UPDATE
        return _State.FOUND | _State.USABLE if self._is_known else _State(0)

    def _look(self, key: bytes, options: Any) -> Any:
        self._asked_for = key
        return Ok(handle(cache.Entry))

    def _begin_transaction(self, key: bytes, options: Any) -> Any:
        self._is_obliged = True
        return Ok(handle(async_io.Pollable))

    def _shared(self, entry: Any, options: Any) -> Any:
        result = sample_sale.snapshot(self._asked_for.endswith(b"busy"))
        self._coming = [Known(int(result[1][1]), [{"result": result}]).text().encode()]
        return Ok(handle(async_io.Pollable))

    def _look_up(self, store: Any, key: str) -> Any:
        self._asked_for = key.encode()
        return Ok(handle(async_io.Pollable))

    def _take(self, entry: Any) -> Any:
        self._coming = [self._kept[self._asked_for.decode()]]
        return handle(async_io.Pollable)

    def _secret(self, store: Any, name: str) -> Any:
        self._asked_for = name.encode()
        return Ok(handle(secret_store.Secret))

    def _write(self, body: Any, data: bytes) -> Any:
        self._sent = data
        return Ok(len(data))

    def _answered(self, pending: Any) -> Any:
        self._coming = [sample_sale.redis(self._sent)]
        return Ok((handle(http_resp.Response), handle(async_io.Pollable)))

    def _status(self, response: Any) -> Any:
        self.begun = 200
        return Ok(200)

    def _set_status(self, response: Any, status: int) -> Any:
        self.begun = status
        return Ok(None)


def run(make_gate: Callable[[], Any]) -> None:
    """Each kind of request, each time by a gate that knows nothing yet, often enough."""
    cookies, kept = sample_sale.cookies(), sample_sale.store()
    for time in range(warm.TIMES):
        for path, who, accept, status in sample_sale.REQUESTS:
            host = _Host(path, cookies[who], accept, kept, is_known=time % 4 != 0)
            with playing(host.replies()):
                make_gate().serve(handle(http_req.Request), handle(async_io.Pollable))
            assert host.begun == status, f"{path} for {who}: {host.begun}, {host.said}"
            assert [line for line in host.said if not line.startswith(b'{"event":"request"')] == []
    address_of(types.IpAddress_Ipv6((8193, 3512, 0, 0, 0, 0, 0, 1)))
    for accept in ("", "application/json"):
        built_in(502, "", accept)
    # A set of flags is made when it is first seen, and kept.
    for flags in range(1, 2 * cache.LookupState.USABLE_IF_ERROR.value):
        cache.LookupState(flags)
