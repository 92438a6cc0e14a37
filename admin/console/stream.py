"""A stream of events for whoever is signed in, for as long as they are."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from admin.access.permissions import Permission
from admin.console.events import Look
from admin.desk import desk
from admin.state.db import StateUnavailable


def stream(request: Request, look: Look) -> Response:
    """The stream of what `look` answers. It ends soon after the session, or the right to see."""
    room = desk(request)

    async def may_go_on() -> bool:
        try:
            who = await room.sessions.find(request, room.unix_s())
        except StateUnavailable:
            return True  # nobody is sent away because the database is
        return who is not None and who.may(Permission.SEE)

    return room.operate.streams.answer(look, may_go_on)
