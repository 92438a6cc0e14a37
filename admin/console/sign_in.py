"""Signing in and out."""

from __future__ import annotations

import asyncio
import math
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access import passwords
from admin.access.actor import find_actor
from admin.access.forms import HOME, form_of, safe_next
from admin.access.needs import public
from admin.access.sessions import BREAK_GLASS
from admin.console.render import page
from admin.desk import Desk, desk
from admin.log import log
from admin.state import users
from admin.words import _

SIGN_IN = "/sign-in"


@public("a form")
async def show(request: Request) -> Response:
    """The form; whoever is signed in already goes on."""
    target = safe_next(request.query_params.get("next", ""))
    if find_actor(request) is None:
        return page(request, "sign_in.html", target=target, user="", error="")
    return RedirectResponse(target, 303)


@public("checks a password, throttled")
async def enter(request: Request) -> Response:
    """Checks name and password, as often as the throttle allows."""
    room = desk(request)
    form = await form_of(request)
    user, target = form.get("user", "").strip(), safe_next(form.get("next", ""))
    address = request.client.host if request.client else ""
    wait_s = math.ceil(room.throttle.take(address))
    if wait_s:
        log("sign-in throttled", address=address)
        text = _("Too many attempts. Try again in %(seconds)s s.") % {"seconds": wait_s}
        answer = page(request, "sign_in.html", 429, target=target, user=user, error=text)
        answer.headers["Retry-After"] = str(wait_s)
        return answer
    user_id = await _check(room, user, form.get("password", ""))
    if user_id is None:
        log("sign-in refused", address=address)
        return page(request, "sign_in.html", 401, target=target, user=user, error=_("This name and password do not fit."))
    room.throttle.succeeded(address)
    await room.sessions.sign_in(request, user_id, room.unix_s())
    log("signed in", by=user, address=address)
    return RedirectResponse(target, 303)


async def _check(room: Desk, name: str, password: str) -> str | None:
    """The id of the person whose name and password these are (empty: the owner by setting), or None."""
    if name == BREAK_GLASS:
        async with room.checking:
            return "" if await asyncio.to_thread(room.credentials.is_password, name, password) else None
    person = await room.db.read(lambda session: users.by_name(session, name))
    async with room.checking:
        fits = await asyncio.to_thread(passwords.matches, person.password_hash if person else "", password)
    return person.id if person and fits and not person.disabled else None


@public("ends the session that the form came from, whosever it is")
async def leave(request: Request) -> Response:
    """Ends the session."""
    room = desk(request)
    await form_of(request)
    await room.sessions.sign_out(request)
    return RedirectResponse(SIGN_IN, 303)


def sign_in_path(request: Request) -> str:
    """Where to sign in to come back to this page."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = safe_next(here)
    return SIGN_IN if target == HOME else f"{SIGN_IN}?{urlencode({'next': target})}"


ROUTES = [
    Route(SIGN_IN, show, methods=["GET"]),
    Route(SIGN_IN, enter, methods=["POST"]),
    Route("/sign-out", leave, methods=["POST"]),
]
