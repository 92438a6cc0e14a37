"""One line of the log for each request, with its id: who asked for what, how it ended and how long it took."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from admin.access.needs import access_of
from admin.log import log
from admin.security import STATIC_PREFIX

# Asked every few seconds by machines; a failure is logged all the same.
_QUIET = (STATIC_PREFIX, "/healthz", "/readyz", "/metrics")
FAILED_FROM = 500


class RequestLog:
    """Says nothing of files, health checks and automatic polling, unless they fail."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_s, status = time.perf_counter(), FAILED_FROM

        async def watching(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watching)
        finally:
            if status >= FAILED_FROM or not _is_quiet(scope):
                _write(scope, status, (time.perf_counter() - began_s) * 1000)


def _is_quiet(scope: Scope) -> bool:
    access = access_of(scope.get("endpoint"))
    return str(scope["path"]).startswith(_QUIET) or bool(access and access.polls)


def _write(scope: Scope, status: int, took_ms: float) -> None:
    path = str(scope["path"])
    # The codes of links are secrets.
    code = scope.get("path_params", {}).get("code")
    path = path.replace(str(code), "…") if code else path
    who = scope.get("state", {}).get("actor")
    address = (scope.get("client") or ("", 0))[0]
    log(
        "request", method=scope["method"], path=path[:200], status=status, took_ms=round(took_ms, 1),
        by=who.name if who else "", address=address,
    )  # fmt: skip
