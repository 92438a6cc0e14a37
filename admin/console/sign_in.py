"""Signing in and out."""

from __future__ import annotations

import asyncio
import math
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.bodies import read_form
from admin.console.render import page
from admin.desk import desk
from admin.log import log
from admin.sessions import HOME, Operator, SignInNeeded, check_form, safe_next

SIGN_IN = "/sign-in"


async def show(request: Request) -> Response:
    """The form; whoever is signed in already goes on."""
    room = desk(request)
    target = safe_next(request.query_params.get("next", ""))
    try:
        room.sessions.operator(request, room.unix_s())
    except SignInNeeded:
        return page(request, "sign_in.html", target=target, user="", error="")
    return RedirectResponse(target, 303)


async def enter(request: Request) -> Response:
    """Checks name and password, as often as the throttle allows."""
    room = desk(request)
    form = await read_form(request)
    check_form(request, form)
    user, target = form.get("user", "").strip(), safe_next(form.get("next", ""))
    address = request.client.host if request.client else ""
    wait_s = math.ceil(room.throttle.take(address))
    if wait_s:
        log("sign-in throttled", address=address)
        text = f"Too many attempts. Try again in {wait_s} s."
        answer = page(request, "sign_in.html", 429, target=target, user=user, error=text)
        answer.headers["Retry-After"] = str(wait_s)
        return answer
    async with room.checking:
        is_operator = await asyncio.to_thread(room.credentials.is_password, user, form.get("password", ""))
    if not is_operator:
        log("sign-in refused", address=address)
        return page(request, "sign_in.html", 401, target=target, user=user, error="This name and password do not fit.")
    room.throttle.succeeded(address)
    room.sessions.sign_in(request, Operator(user), room.unix_s())
    log("signed in", by=user, address=address)
    return RedirectResponse(target, 303)


async def leave(request: Request) -> Response:
    """Ends the session."""
    room = desk(request)
    check_form(request, await read_form(request))
    room.sessions.sign_out(request, room.unix_s())
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
