"""People, tokens and who one is, over the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Query, Request, Response

from admin.access.actor import actor
from admin.access.api_tokens import Made
from admin.access.needs import needs
from admin.access.people import Invited
from admin.access.permissions import Permission
from admin.api.access import api_router
from admin.api.checks import keys
from admin.api.etags import etag_of, wanted_revision
from admin.api.people_models import (
    LINK_BODY,
    PERSON_BODY,
    PERSON_CHANGE_BODY,
    TOKEN_BODY,
    InvitedShape,
    MadeTokenShape,
    MeShape,
    PeopleList,
    PersonShape,
    TokenList,
    TokenShape,
)
from admin.api.routes import LIST_AT_MOST, described
from admin.audit import audit
from admin.bodies import read_json, read_nothing
from admin.desk import desk
from admin.limits import BadValue
from admin.state.tokens import Token
from admin.state.users import Person
from edge.core.moments import moment_text

router = api_router("people")


@router.get("/me", response_model=MeShape, responses=described())
@needs(Permission.SEE)
async def me(request: Request) -> Mapping[str, Any]:
    """Whose token this is, and what it may do."""
    who = actor(request)
    return {"name": who.name, "role": who.role, "scopes": sorted(who.permissions)}


@router.get("/people", response_model=PeopleList, responses=described(422))
@needs(Permission.MANAGE_PEOPLE)
async def list_people(
    request: Request, after: str = "", limit: Annotated[int, Query(ge=1, le=LIST_AT_MOST)] = 100
) -> Mapping[str, Any]:
    """People by name."""
    found = await desk(request).people.page(after, limit + 1)
    shown = found[:limit]
    return {"people": [_person(each) for each in shown], "next": shown[-1].name if len(found) > limit else None}


@router.post(
    "/people", status_code=201, response_model=InvitedShape, responses=described(413, 415, 422), openapi_extra=PERSON_BODY
)
@needs(Permission.MANAGE_PEOPLE)
async def create_person(request: Request) -> Mapping[str, Any]:
    """A new person, and a link by which they choose a password: it is shown once and good once."""
    given = keys(await read_json(request), ("name", "role"))
    name, role = _text(given, "name"), _text(given, "role")
    return _invited(request, await desk(request).people.create(audit(request), name, role))


@router.get("/people/{user_id}", response_model=PersonShape, responses=described(404, 422))
@needs(Permission.MANAGE_PEOPLE)
async def get_person(request: Request, response: Response, user_id: str) -> Mapping[str, Any]:
    """One person. The `ETag` is wanted for a change."""
    person = await desk(request).people.get(user_id)
    response.headers["ETag"] = etag_of(person.revision)
    return _person(person)


@router.patch(
    "/people/{user_id}", response_model=PersonShape, responses=described(404, 409, 412, 413, 415, 422, 428),
    openapi_extra=PERSON_CHANGE_BODY,
)  # fmt: skip
@needs(Permission.MANAGE_PEOPLE)
async def change_person(request: Request, response: Response, user_id: str) -> Mapping[str, Any]:
    """Another role, or shut out or let in; either ends the person's sessions. Wants `If-Match`."""
    people, by = desk(request).people, audit(request)
    await people.get(user_id)
    revision = wanted_revision(request)
    given = keys(await read_json(request), (), ("role", "disabled"))
    if len(given) != 1:
        raise BadValue("body", "must change one thing: role or disabled")
    if "role" in given:
        person = await people.change_role(by, user_id, _text(given, "role"), revision)
    elif isinstance(given["disabled"], bool):
        person = await people.set_disabled(by, user_id, given["disabled"], revision)
    else:
        raise BadValue("disabled", f"{repr(given['disabled'])[:40]} is not allowed: true or false")
    response.headers["ETag"] = etag_of(person.revision)
    return _person(person)


@router.post("/people/{user_id}/end-sessions", response_model=PersonShape, responses=described(404, 413, 415, 422))
@needs(Permission.MANAGE_PEOPLE)
async def end_sessions(request: Request, user_id: str) -> Mapping[str, Any]:
    """Signs a person out in every browser."""
    await read_nothing(request)
    await desk(request).people.end_sessions(audit(request), user_id)
    return _person(await desk(request).people.get(user_id))


@router.post(
    "/people/{user_id}/link", status_code=201, response_model=InvitedShape, responses=described(404, 413, 415, 422),
    openapi_extra=LINK_BODY,
)  # fmt: skip
@needs(Permission.MANAGE_PEOPLE)
async def new_link(request: Request, user_id: str) -> Mapping[str, Any]:
    """A link by which a person chooses a new password. `drop_second_factor`: for who has lost device and recovery codes."""
    await desk(request).people.get(user_id)
    given = keys(await read_json(request), (), ("drop_second_factor",))
    drop = given.get("drop_second_factor", False)
    if not isinstance(drop, bool):
        raise BadValue("drop_second_factor", f"{repr(drop)[:40]} is not allowed: true or false")
    return _invited(request, await desk(request).people.new_link(audit(request), user_id, drop_totp=drop))


@router.get("/tokens", response_model=TokenList, responses=described())
@needs(Permission.MANAGE_PEOPLE)
async def list_tokens(request: Request) -> Mapping[str, Any]:
    """All tokens, the newest first, without their secrets."""
    return {"tokens": [_token(each) for each in await desk(request).tokens.page()]}


@router.post(
    "/tokens", status_code=201, response_model=MadeTokenShape, responses=described(413, 415, 422), openapi_extra=TOKEN_BODY
)
@needs(Permission.MANAGE_PEOPLE)
async def make_token(request: Request) -> Mapping[str, Any]:
    """A new token. Its secret is in this answer and nowhere else."""
    given = keys(await read_json(request), ("name", "scopes"), ("days",))
    scopes, days = given["scopes"], given.get("days")
    if not isinstance(scopes, list) or not all(isinstance(each, str) for each in scopes):
        raise BadValue("scopes", "must be a list of names")
    if days is not None and (isinstance(days, bool) or not isinstance(days, int)):
        raise BadValue("days", f"{repr(days)[:40]} is not allowed: a whole number, or null for no end")
    made: Made = await desk(request).tokens.make(audit(request), _text(given, "name"), scopes, days)
    return {**_token(made.token), "secret": made.secret}


@router.delete("/tokens/{token_id}", response_model=TokenShape, responses=described(404, 422))
@needs(Permission.MANAGE_PEOPLE)
async def end_token(request: Request, token_id: str) -> Mapping[str, Any]:
    """Ends a token at once. It stays in the list."""
    return _token(await desk(request).tokens.end(audit(request), token_id))


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given[name]
    if not isinstance(value, str):
        raise BadValue(name, f"{repr(value)[:40]} is not allowed: a text")
    return value


def _person(person: Person) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "role": person.role,
        "disabled": person.disabled,
        "second_factor": person.has_totp,
        "signs_in_elsewhere": person.oidc_subject is not None,
        "created_at": moment_text(person.created_at_ms),
        "seen_at": moment_text(person.seen_at_ms) if person.seen_at_ms else None,
    }


def _invited(request: Request, made: Invited) -> dict[str, Any]:
    link = f"{str(request.base_url).rstrip('/')}/password/{made.code}"
    return {"person": _person(made.person), "link": link, "expires_at": moment_text(made.expires_at_ms)}


def _token(token: Token) -> dict[str, Any]:
    moments = {name: getattr(token, f"{name}_ms") for name in ("created_at", "expires_at", "used_at", "ended_at")}
    return {
        "id": token.id,
        "name": token.name,
        "scopes": list(token.scopes),
        "created_by": token.created_by,
        **{name: None if ms is None else moment_text(ms) for name, ms in moments.items()},
    }
