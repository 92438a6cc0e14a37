"""Finds, before anything else looks at a request of the console, who is signed in and in which language they read."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from admin.access.actor import set_actor
from admin.desk import Desk
from admin.state.db import StateUnavailable
from admin.words import LANGUAGES, accepted, use_language

LANGUAGE_COOKIE = "stanchion_language"
# These ask for no session: tokens, files, and what a process manager asks.
_WITHOUT = ("/api/", "/static/", "/healthz", "/readyz", "/metrics", "/openapi.json")


class Identity:
    """Sets the actor and the language of the request. Stands behind the session cookies."""

    def __init__(self, app: ASGIApp, room: Desk) -> None:
        self._app = app
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application."""
        if scope["type"] == "http" and not scope["path"].startswith(_WITHOUT):
            await self._identify(Request(scope))
        await self._app(scope, receive, send)

    async def _identify(self, request: Request) -> None:
        language = request.cookies.get(LANGUAGE_COOKIE, "")
        try:
            who = await self._room.sessions.find(request, self._room.unix_s())
        except StateUnavailable as error:
            request.scope.setdefault("state", {})["state_problem"] = str(error)
        else:
            set_actor(request, who)
            language = (who.language if who else "") or language
        use_language(language if language in LANGUAGES else accepted(request.headers.get("accept-language", "")))
