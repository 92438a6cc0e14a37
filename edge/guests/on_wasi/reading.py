"""A visitor's request as the gate reads it."""

from __future__ import annotations

import os
import time
from typing import Any

from edge.core.messages import Request
from edge.guests.on_wasi.api import types
from edge.guests.on_wasi.believing import Setting, client_of, country_of, joined
from edge.guests.on_wasi.hop import Headers

_METHODS = {"Get", "Head", "Post", "Put", "Delete", "Connect", "Options", "Trace", "Patch"}


def entries_of(message: Any) -> Headers:
    """The headers of a request or an answer in order, names in lower case."""
    with message.headers() as fields:
        entries: Headers = fields.entries()
    names = "".join([name for name, _ in entries])
    return entries if names == names.lower() else [(name.lower(), value) for name, value in entries]


def method_of(message: Any) -> str:
    """The method's name."""
    method = message.method()
    name = type(method).__name__.removeprefix("Method_")
    return name.upper() if name in _METHODS else str(method.value)


def scheme_of(message: Any, setting: Setting) -> str:
    """The scheme that visitors use: what the deployment says, else what the host saw."""
    return setting("STANCHION_SCHEME") or ("https" if isinstance(message.scheme(), types.Scheme_Https) else "http")


def read_request(message: Any, method: str, headers: Headers, setting: Setting) -> Request:
    """The request; its method was read before."""
    by_name, random = joined(headers), os.urandom(40).hex()
    target = message.path_with_query()
    if not target:
        target = "*" if method == "OPTIONS" else "/"
    return Request(
        method=method,
        target=target,
        scheme=scheme_of(message, setting),
        host=message.authority() or by_name.get("host", ""),
        client=client_of(by_name, setting),
        country=country_of(headers, setting),
        now_ms=time.time_ns() // 1_000_000,
        random=random[:64],
        request_id=random[64:],
        headers=by_name,
    )
