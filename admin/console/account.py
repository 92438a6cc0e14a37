"""One's own account: password, second factor, sessions, language and time zone."""

from __future__ import annotations

import zoneinfo
from collections.abc import Mapping

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access import totp
from admin.access.actor import actor
from admin.access.forms import HOME, form_of, safe_next
from admin.access.identity import LANGUAGE_COOKIE
from admin.access.needs import needs, public
from admin.access.passwords import MIN_CHARACTERS
from admin.access.permissions import Permission
from admin.audit import audit
from admin.console.render import error_page, page
from admin.console.sign_in import address_of, throttled
from admin.console.words import sentence
from admin.desk import desk
from admin.limits import BadValue
from admin.state.users import Person
from admin.words import LANGUAGES, _

ACCOUNT = "/account"
LANGUAGE_COOKIE_S = 365 * 86_400


@needs(Permission.SEE)
async def show(request: Request) -> Response:
    """The account of who asks."""
    return await _page(request)


async def _page(request: Request, status: int = 200, errors: Mapping[str, str] | None = None) -> Response:
    room, who = desk(request), actor(request)
    return page(
        request, "account.html", status, person=await room.account.person(who), sessions=await room.account.sessions(who),
        errors=errors or {}, zones=sorted(zoneinfo.available_timezones()), least=MIN_CHARACTERS,
    )  # fmt: skip


async def _proved(request: Request, form: Mapping[str, str]) -> Person:
    """The person, when the form has their password: what weakens an account wants it. Raises BadValue."""
    room = desk(request)
    person = await room.account.person(actor(request))
    if person is None:
        raise BadValue("password", _("this account's password is a setting of the app and is changed there"))
    if not person.password_hash:
        return person
    if throttled(request):
        raise BadValue("password", _("too many attempts; wait half a minute"))
    if not await room.doors.is_password_of(person, form.get("password", "")):
        raise BadValue("password", _("this is not your password"))
    room.throttle.succeeded(address_of(request))
    return person


@needs(Permission.SEE)
async def set_password(request: Request) -> Response:
    """A new password, for who knows the old one; ends all other sessions."""
    form, room = await form_of(request), desk(request)
    try:
        await _proved(request, form)
        if form.get("new", "") != form.get("again", ""):
            raise BadValue("again", _("the two passwords differ"))
        new = await room.doors.hash_password(form.get("new", ""))
    except BadValue as error:
        return await _page(request, 422, {error.at: sentence(error.problem)})
    except ValueError as error:
        return await _page(request, 422, {"new": sentence(str(error))})
    await room.account.set_password(audit(request), actor(request), new)
    return _back(request, _("The password is changed. Other browsers are signed out."))


@needs(Permission.SEE)
async def begin_totp(request: Request) -> Response:
    """Shows a new secret to an authenticator app."""
    form = await form_of(request)
    try:
        person = await _proved(request, form)
    except BadValue as error:
        return await _page(request, 422, {f"totp-{error.at}": sentence(error.problem)})
    request.session["totp"] = totp.new_secret()
    return _totp_page(request, person)


def _totp_page(request: Request, person: Person, status: int = 200, error: str = "") -> Response:
    secret = request.session["totp"]
    picture = Markup(totp.picture(secret, person.name))
    spaced = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    return page(request, "totp.html", status, picture=picture, secret=spaced, error=error)


@needs(Permission.SEE)
async def confirm_totp(request: Request) -> Response:
    """Asks for the second factor from now on, once the app has shown a code; shows the recovery codes."""
    form, room, who = await form_of(request), desk(request), actor(request)
    person, secret = await room.account.person(who), request.session.get("totp")
    if person is None or not isinstance(secret, str):
        return RedirectResponse(ACCOUNT, 303)
    try:
        codes = await room.account.begin_totp(audit(request), who, secret, form.get("code", ""))
    except BadValue as error:
        return _totp_page(request, person, 422, sentence(error.problem))
    request.session.pop("totp")
    return page(request, "codes.html", codes=codes)


@needs(Permission.SEE)
async def end_totp(request: Request) -> Response:
    """Asks for no second factor any more, for who knows the password."""
    form = await form_of(request)
    try:
        await _proved(request, form)
    except BadValue as error:
        return await _page(request, 422, {f"totp-{error.at}": sentence(error.problem)})
    await desk(request).account.end_totp(audit(request), actor(request))
    return _back(request, _("No code is asked for any more."))


@needs(Permission.SEE)
async def new_recovery(request: Request) -> Response:
    """New recovery codes, for who knows the password."""
    form = await form_of(request)
    try:
        person = await _proved(request, form)
    except BadValue as error:
        return await _page(request, 422, {f"totp-{error.at}": sentence(error.problem)})
    if not person.has_totp:
        return RedirectResponse(ACCOUNT, 303)
    return page(request, "codes.html", codes=await desk(request).account.new_recovery(audit(request), actor(request)))


@needs(Permission.SEE)
async def end_session(request: Request) -> Response:
    """Signs oneself out in another browser."""
    form = await form_of(request)
    await desk(request).account.end_session(audit(request), actor(request), form.get("session", ""))
    return _back(request, _("That browser is signed out."))


@needs(Permission.SEE)
async def set_preferences(request: Request) -> Response:
    """Language and time zone."""
    form = await form_of(request)
    language = form.get("language", "")
    try:
        await desk(request).account.set_preferences(actor(request), language, form.get("zone", "").strip())
    except BadValue as error:
        return await _page(request, 422, {error.at: sentence(error.problem)})
    return _with_language(_back(request, _("Kept.")), language)


@public("changes the language of one's own pages")
async def set_language(request: Request) -> Response:
    """The language of one's own pages, signed in or not."""
    form, room = await form_of(request), desk(request)
    language = form.get("language", "")
    if language not in LANGUAGES:
        return error_page(request, 422, _("Not done"), _("This language is not on offer."))
    who = request.scope.get("state", {}).get("actor")
    if who is not None and who.user_id:
        await room.account.set_preferences(who, language, who.zone)
    return _with_language(RedirectResponse(safe_next(form.get("back", HOME)), 303), language)


def _with_language(answer: Response, language: str) -> Response:
    answer.set_cookie(LANGUAGE_COOKIE, language, max_age=LANGUAGE_COOKIE_S, samesite="lax", httponly=True)
    return answer


def _back(request: Request, says: str) -> Response:
    request.session["flash"] = says
    return RedirectResponse(ACCOUNT, 303)


ROUTES = [
    Route(ACCOUNT, show, methods=["GET"]),
    *(
        Route(f"{ACCOUNT}/{path}", endpoint, methods=["POST"])
        for path, endpoint in (
            ("password", set_password), ("totp", begin_totp), ("totp/confirm", confirm_totp), ("totp/end", end_totp),
            ("recovery", new_recovery), ("end-session", end_session), ("preferences", set_preferences),
        )
    ),
    Route("/language", set_language, methods=["POST"]),
]  # fmt: skip
