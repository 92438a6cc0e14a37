"""Every request has an id: in its answer (X-Request-Id), its log lines, its problems and what it leaves in the audit log."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Sequence
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-Id"
_GOOD = re.compile(r"[A-Za-z0-9_.:/+=-]{8,128}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def request_id() -> str:
    """The id of the request that is being answered; empty outside of one."""
    return _current.get()


class RequestIds:
    """An id of a proxy that is trusted is kept; anybody else's is not, because it would stand in our records."""

    def __init__(self, app: ASGIApp, trusted_proxies: Sequence[str] = ()) -> None:
        self._app = app
        self._trusted = [ipaddress.ip_network(network) for network in trusted_proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application. It must see the peer's own address: it stands before what takes the visitor's from a header."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        current = given if _GOOD.fullmatch(given) and self._is_trusted(scope) else secrets.token_hex(8)
        _current.set(current)

        async def with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = current
            await send(message)

        await self._app(scope, receive, with_id)

    def _is_trusted(self, scope: Scope) -> bool:
        try:
            peer = ipaddress.ip_address((scope.get("client") or ("", 0))[0])
        except ValueError:
            return False
        return any(peer in network for network in self._trusted)
