"""Signing in and out: name and password, then the code of the second factor of those who have one."""

from __future__ import annotations

import math
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import Actor, find_actor
from admin.access.forms import HOME, form_of, safe_next
from admin.access.needs import public
from admin.access.permissions import ALL, OWNER, ROLES
from admin.access.sessions import BREAK_GLASS
from admin.audit import audit_for
from admin.console.render import page
from admin.desk import desk
from admin.log import log
from admin.state import users
from admin.state.users import Person
from admin.words import _

SIGN_IN = "/sign-in"
CODE = "/sign-in/code"
# Between the password and the code.
CODE_WITHIN_S = 300


@public("a form")
async def show(request: Request) -> Response:
    """The form; whoever is signed in already goes on."""
    target = safe_next(request.query_params.get("next", ""))
    if find_actor(request) is None:
        return form_page(request, target=target)
    return RedirectResponse(target, 303)


def form_page(request: Request, status: int = 200, *, target: str = HOME, user: str = "", error: str = "") -> Response:
    """The form to sign in, with what went wrong."""
    provider = desk(request).settings.oidc
    name = provider.name if provider else ""
    return page(request, "sign_in.html", status, target=target, user=user, error=error, provider=name)


@public("checks a password, throttled")
async def enter(request: Request) -> Response:
    """Checks name and password, as often as the throttle allows."""
    room = desk(request)
    form = await form_of(request)
    user, target = form.get("user", "").strip(), safe_next(form.get("next", ""))
    wait_s = throttled(request)
    if wait_s:
        return _wait(form_page(request, 429, target=target, user=user, error=_too_many(wait_s)), wait_s)
    known = await room.doors.check(user, form.get("password", ""))
    if known is None:
        log("sign-in refused", address=address_of(request))
        return form_page(request, 401, target=target, user=user, error=_("This name and password do not fit."))
    if known.person and known.person.has_totp:
        request.session["pending"] = {"user": known.person.id, "at": int(room.unix_s()), "next": target}
        return RedirectResponse(CODE, 303)
    return await signed_in(request, known.person, target)


@public("a form, after the password")
async def show_code(request: Request) -> Response:
    """Asks for the second factor."""
    if await _pending(request) is None:
        return RedirectResponse(SIGN_IN, 303)
    return page(request, "second_factor.html", error="")


@public("checks a code after the password, throttled")
async def enter_code(request: Request) -> Response:
    """Checks the second factor: a code of the device, or a recovery code."""
    form = await form_of(request)
    person = await _pending(request)
    if person is None:
        return RedirectResponse(SIGN_IN, 303)
    wait_s = throttled(request)
    if wait_s:
        return _wait(page(request, "second_factor.html", 429, error=_too_many(wait_s)), wait_s)
    if not await desk(request).account.is_second_factor(person, form.get("code", "")):
        log("second factor refused", by=person.name, address=address_of(request))
        return page(request, "second_factor.html", 401, error=_("This code does not fit. Each code is good once."))
    return await signed_in(request, person, safe_next(request.session["pending"]["next"]))


@public("ends the session that the form came from, whosever it is")
async def leave(request: Request) -> Response:
    """Ends the session."""
    await form_of(request)
    await desk(request).sessions.sign_out(request)
    return RedirectResponse(SIGN_IN, 303)


async def signed_in(request: Request, person: Person | None, target: str = HOME, note: str = "") -> Response:
    """Begins the session of somebody who has shown who they are, and leads on. `person` None: the owner by setting."""
    room = desk(request)
    room.throttle.succeeded(address_of(request))
    await room.sessions.sign_in(request, person.id if person else "", room.unix_s())
    name, role = (person.name, person.role) if person else (BREAK_GLASS, OWNER)
    who = Actor(name, role, "console", ROLES.get(role, ALL))
    await audit_for(room, who).record("session.begin", f"person:{name}", note=note)
    return RedirectResponse(target, 303)


def throttled(request: Request) -> int:
    """Takes one attempt of this client. Returns 0, or the seconds to wait."""
    wait_s = math.ceil(desk(request).throttle.take(address_of(request)))
    if wait_s:
        log("sign-in throttled", address=address_of(request))
    return wait_s


def address_of(request: Request) -> str:
    """Where the request comes from."""
    return request.client.host if request.client else ""


def sign_in_path(request: Request) -> str:
    """Where to sign in to come back to this page."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = safe_next(here)
    return SIGN_IN if target == HOME else f"{SIGN_IN}?{urlencode({'next': target})}"


async def _pending(request: Request) -> Person | None:
    given, room = request.session.get("pending"), desk(request)
    if not isinstance(given, dict) or not 0 <= room.unix_s() - given["at"] <= CODE_WITHIN_S:
        return None
    person = await room.db.read(lambda session: users.get(session, given["user"]))
    return person if person and person.has_totp and not person.disabled else None


def _too_many(wait_s: int) -> str:
    return _("Too many attempts. Try again in %(seconds)s s.") % {"seconds": wait_s}


def _wait(answer: Response, wait_s: int) -> Response:
    answer.headers["Retry-After"] = str(wait_s)
    return answer


ROUTES = [
    Route(SIGN_IN, show, methods=["GET"]),
    Route(SIGN_IN, enter, methods=["POST"]),
    Route(CODE, show_code, methods=["GET"]),
    Route(CODE, enter_code, methods=["POST"]),
    Route("/sign-out", leave, methods=["POST"]),
]
