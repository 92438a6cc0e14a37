"""People and tokens: who may come in, and what they may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from admin.access.actor import actor
from admin.access.forms import form_of
from admin.access.needs import needs
from admin.access.people import Changed, Invited
from admin.access.permissions import Permission
from admin.access.role_words import PERMISSION_WORDS, ROLE_WORDS
from admin.audit import audit
from admin.console.render import page
from admin.console.words import sentence
from admin.desk import desk
from admin.limits import BadValue
from admin.state.users import LastOwner
from admin.words import _

PEOPLE, TOKENS = "/people", "/tokens"
PEOPLE_PER_PAGE = 100
DAYS = ("30", "90", "365", "")


@needs(Permission.MANAGE_PEOPLE)
async def show_people(request: Request) -> Response:
    """All people, and the form for a new one."""
    return await _people(request)


async def _people(request: Request, status: int = 200, *, typed: Mapping[str, str] | None = None,
                  errors: Mapping[str, str] | None = None) -> Response:  # fmt: skip
    after = request.query_params.get("after", "")[:100]
    found = await desk(request).people.page(after, PEOPLE_PER_PAGE + 1)
    shown = found[:PEOPLE_PER_PAGE]
    return page(
        request, "people.html", status, people=shown, typed=typed or {}, errors=errors or {}, roles=ROLE_WORDS,
        next=shown[-1].name if len(found) > PEOPLE_PER_PAGE else "", after=after,
    )  # fmt: skip


@needs(Permission.MANAGE_PEOPLE)
async def create_person(request: Request) -> Response:
    """A new person; shows the link once."""
    form = await form_of(request)
    try:
        made = await desk(request).people.create(audit(request), form.get("name", "").strip(), form.get("role", ""))
    except BadValue as error:
        return await _people(request, 422, typed=form, errors={error.at: sentence(error.problem)})
    return await _person(request, made.person.id, invited=made)


@needs(Permission.MANAGE_PEOPLE)
async def show_person(request: Request) -> Response:
    """One person."""
    return await _person(request, request.path_params["user_id"])


async def _person(
    request: Request, user_id: str, status: int = 200, *, problem: str = "", invited: Invited | None = None
) -> Response:
    room = desk(request)
    person = await room.people.get(user_id)
    link = f"{str(request.base_url).rstrip('/')}/password/{invited.code}" if invited else ""
    return page(
        request, "person.html", status, person=person, problem=problem, link=link, roles=ROLE_WORDS,
        sessions=await room.people.sessions(user_id), is_self=actor(request).user_id == user_id,
    )  # fmt: skip


def _step(name: str) -> Callable[[Request], Awaitable[Response]]:
    @needs(Permission.MANAGE_PEOPLE)
    async def endpoint(request: Request) -> Response:
        form, people, by = await form_of(request), desk(request).people, audit(request)
        user_id = request.path_params["user_id"]
        revision = int(form["revision"]) if form.get("revision", "").isascii() and form.get("revision", "").isdigit() else None
        try:
            match name:
                case "role":
                    person = await people.change_role(by, user_id, form.get("role", ""), revision)
                    says = _("%(name)s is %(role)s now and signs in again.")
                    return _back(request, user_id, says % {"name": person.name, "role": _(ROLE_WORDS[person.role].name)})
                case "disable" | "enable":
                    person = await people.set_disabled(by, user_id, name == "disable", revision)
                    says = _("%(name)s is shut out.") if person.disabled else _("%(name)s may sign in again.")
                    return _back(request, user_id, says % {"name": person.name})
                case "end-sessions":
                    await people.end_sessions(by, user_id)
                    return _back(request, user_id, _("Signed out in every browser."))
                case _:
                    made = await people.new_link(by, user_id, drop_totp=form.get("drop") == "1")
                    return await _person(request, user_id, invited=made)
        except BadValue as error:
            return await _person(request, user_id, 422, problem=sentence(error.problem))
        except LastOwner:
            says = _("This is the last owner who can sign in: make another one first.")
            return await _person(request, user_id, 409, problem=says)
        except Changed:
            says = _("Somebody else changed this person meanwhile. This is how it is now; try again.")
            return await _person(request, user_id, 409, problem=says)

    return endpoint


@needs(Permission.MANAGE_PEOPLE)
async def show_tokens(request: Request) -> Response:
    """All tokens, and the form for a new one."""
    return await _tokens(request)


async def _tokens(
    request: Request, status: int = 200, *, typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None,
    secret: str = "", name: str = "",
) -> Response:  # fmt: skip
    room = desk(request)
    mine = [scope for scope in PERMISSION_WORDS if actor(request).may(scope)]
    return page(
        request, "tokens.html", status, tokens=await room.tokens.page(), scopes=mine, words=PERMISSION_WORDS, days=DAYS,
        typed=typed or {"scope-see": "1", "days": DAYS[1]}, errors=errors or {}, secret=secret, name=name,
        now_ms=int(room.unix_s() * 1000), by_setting=bool(room.credentials.api_token_sha256),
    )  # fmt: skip


@needs(Permission.MANAGE_PEOPLE)
async def make_token(request: Request) -> Response:
    """A new token; shows its secret once."""
    form = await form_of(request)
    scopes = [str(scope) for scope in PERMISSION_WORDS if form.get(f"scope-{scope}") == "1"]
    days = form.get("days", "")
    try:
        number = int(days) if days.isascii() and days.isdigit() and len(days) < 6 else None if not days else 0
        made = await desk(request).tokens.make(audit(request), form.get("name", "").strip(), scopes, number)
    except BadValue as error:
        return await _tokens(request, 422, typed=form, errors={error.at: sentence(error.problem)})
    return await _tokens(request, secret=made.secret, name=made.token.name)


@needs(Permission.MANAGE_PEOPLE)
async def end_token(request: Request) -> Response:
    """Ends a token."""
    await form_of(request)
    ended = await desk(request).tokens.end(audit(request), request.path_params["token_id"])
    request.session["flash"] = _("The token %(name)s opens nothing any more.") % {"name": ended.name}
    return RedirectResponse(TOKENS, 303)


def _back(request: Request, user_id: str, says: str) -> Response:
    request.session["flash"] = says
    return RedirectResponse(f"{PEOPLE}/{user_id}", 303)


ROUTES = [
    Route(PEOPLE, show_people, methods=["GET"]),
    Route(PEOPLE, create_person, methods=["POST"]),
    Route(f"{PEOPLE}/{{user_id}}", show_person, methods=["GET"]),
    *(
        Route(f"{PEOPLE}/{{user_id}}/{name}", _step(name), methods=["POST"])
        for name in ("role", "disable", "enable", "end-sessions", "link")
    ),
    Route(TOKENS, show_tokens, methods=["GET"]),
    Route(TOKENS, make_token, methods=["POST"]),
    Route(f"{TOKENS}/{{token_id}}/end", end_token, methods=["POST"]),
]
