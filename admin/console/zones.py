"""In which zone a person reads times: the one of their account, else the one that their browser says, else UTC."""

from __future__ import annotations

from urllib.parse import unquote
from zoneinfo import ZoneInfo

from starlette.requests import Request

from admin.access.actor import find_actor
from admin.operate.moments import known_zone

# Set by console.js.
ZONE_COOKIE = "stanchion_zone"


def zone_of(request: Request) -> ZoneInfo:
    """The zone of who asks."""
    who = find_actor(request)
    return known_zone((who.zone if who else "") or unquote(request.cookies.get(ZONE_COOKIE, "")[:80]))
