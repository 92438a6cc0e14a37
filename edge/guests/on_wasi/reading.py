"""A visitor's request as the gate reads it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import Any

from edge.core.messages import Request
from edge.guests.on_wasi.api import types

Headers = list[tuple[str, bytes]]
Setting = Callable[[str], str]

_COUNTRY = re.compile(r"[A-Z]{2}\Z")
# What CDNs write for "not known".
_UNKNOWN = ("XX", "ZZ")
_METHODS = {"Get", "Head", "Post", "Put", "Delete", "Connect", "Options", "Trace", "Patch"}


def entries_of(message: Any) -> Headers:
    """The headers of a request or an answer in order, names in lower case."""
    with message.headers() as fields:
        return [(name.lower(), bytes(value)) for name, value in fields.entries()]


def method_of(message: Any) -> str:
    """The method's name."""
    method = message.method()
    name = type(method).__name__.removeprefix("Method_")
    return name.upper() if name in _METHODS else str(method.value)


def joined(headers: Headers) -> dict[str, str]:
    """Headers by name; one that came several times in one line, cookies as cookies are joined."""
    found: dict[str, str] = {}
    for name, value in headers:
        text = value.decode("latin-1")
        if name in found:
            text = f"{found[name]}{'; ' if name == 'cookie' else ', '}{text}"
        found[name] = text
    return found


def country_of(headers: Headers, setting: Setting) -> str:
    """Two capital letters, or empty for unknown. The header is believed: who may send it is for the deployment to see to."""
    wanted = setting("STANCHION_COUNTRY_HEADER").lower()
    told = {value for name, value in headers if name == wanted}
    # Two different values: one of them was not written by the proxy.
    text = told.pop().decode("latin-1") if len(told) == 1 else ""
    return text if _COUNTRY.match(text) and text not in _UNKNOWN else ""


def client_of(headers: dict[str, str], setting: Setting) -> str:
    """The visitor's address: the last one that the named header has, which the nearest proxy wrote. wasi:http knows no peer."""
    name = setting("STANCHION_CLIENT_HEADER").lower()
    return headers.get(name, "").rpartition(",")[2].strip() if name else ""


def scheme_of(message: Any, setting: Setting) -> str:
    """The scheme that visitors use: what the deployment says, else what the host saw."""
    return setting("STANCHION_SCHEME") or ("https" if isinstance(message.scheme(), types.Scheme_Https) else "http")


def read_request(message: Any, headers: Headers, setting: Setting) -> Request:
    """The request."""
    by_name = joined(headers)
    target = message.path_with_query()
    method = method_of(message)
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
        random=os.urandom(32).hex(),
        request_id=os.urandom(8).hex(),
        headers=by_name,
    )
