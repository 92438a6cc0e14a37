"""Links that are good once: for the first owner, and for a person who chooses a password."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.doors import VoidLink
from admin.access.forms import form_of
from admin.access.needs import public
from admin.access.passwords import MIN_CHARACTERS
from admin.console.render import error_page, page
from admin.console.sign_in import SIGN_IN, signed_in, throttled
from admin.console.words import sentence
from admin.desk import desk
from admin.limits import BadValue
from admin.words import _


@public("a form, for who has the code")
async def show_first(request: Request) -> Response:
    """Asks for the name and the password of the first owner."""
    if not await desk(request).doors.is_first(request.path_params["code"]):
        return _void(request)
    return _form(request, first=True)


@public("makes the first owner, for who has the code; throttled")
async def make_first(request: Request) -> Response:
    """Makes the first owner and signs them in."""
    form, code = await form_of(request), request.path_params["code"]
    name = form.get("user", "").strip()
    if throttled(request):
        return _void(request, 429)
    try:
        _check_twice(form.get("password", ""), form.get("again", ""))
        person = await desk(request).doors.make_first(code, name, form.get("password", ""))
    except VoidLink:
        return _void(request)
    except BadValue as error:
        return _form(request, 422, first=True, name=name, errors={error.at: sentence(error.problem)})
    except ValueError as error:
        return _form(request, 422, first=True, name=name, errors={"password": sentence(str(error))})
    answer = await signed_in(request, person, note="first start")
    request.session["flash"] = _("You are the first owner. Invite others under People.")
    return answer


@public("a form, for who has the code")
async def show_password(request: Request) -> Response:
    """Asks for a new password."""
    try:
        person = await desk(request).doors.person_of_link(request.path_params["code"])
    except VoidLink:
        return _void(request)
    return _form(request, name=person.name)


@public("sets the password of the person for whom the code was made; throttled")
async def set_password(request: Request) -> Response:
    """Sets it; who has a second factor signs in with it, others are signed in."""
    form, code, doors = await form_of(request), request.path_params["code"], desk(request).doors
    if throttled(request):
        return _void(request, 429)
    try:
        name = (await doors.person_of_link(code)).name
        _check_twice(form.get("password", ""), form.get("again", ""))
        person = await doors.use_link(code, form.get("password", ""))
    except VoidLink:
        return _void(request)
    except BadValue as error:
        return _form(request, 422, name=name, errors={error.at: sentence(error.problem)})
    except ValueError as error:
        return _form(request, 422, name=name, errors={"password": sentence(str(error))})
    if person.has_totp:
        return RedirectResponse(SIGN_IN, 303)
    return await signed_in(request, person, note="by a link")


def _check_twice(password: str, again: str) -> None:
    if password != again:
        raise BadValue("again", _("the two passwords differ"))


def _form(
    request: Request, status: int = 200, *, first: bool = False, name: str = "", errors: dict[str, str] | None = None
) -> Response:
    return page(
        request, "choose_password.html", status, first=first, name=name, errors=errors or {}, least=MIN_CHARACTERS,
        send_to=request.url.path,
    )  # fmt: skip


def _void(request: Request, status: int = 404) -> Response:
    if status == 429:
        return error_page(request, 429, _("Too many attempts"), _("Wait half a minute, then open the link again."), back=SIGN_IN)
    text = _("It was used, has expired, or a newer one was made. Ask an owner for another; the first is printed at the start.")
    return error_page(request, 404, _("This link is not good any more"), text, back=SIGN_IN)


ROUTES = [
    Route("/first/{code}", show_first, methods=["GET"]),
    Route("/first/{code}", make_first, methods=["POST"]),
    Route("/password/{code}", show_password, methods=["GET"]),
    Route("/password/{code}", set_password, methods=["POST"]),
]
