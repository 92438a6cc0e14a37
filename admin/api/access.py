"""Who asks the API: the holder of a token, and what that token may do."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from admin.access.actor import Actor, NotAllowed, set_actor
from admin.access.needs import access_of, admit
from admin.access.permissions import ALL, OWNER, Permission
from admin.api.problems import Problem
from admin.desk import desk
from admin.hashes import sha256
from admin.state import tokens
from admin.state.tokens import USED_TOUCH_MS

PREFIX = "/api/v1"
# The holder of STANCHION_ADMIN_TOKEN.
BY_SETTING = "token"
_bearer = HTTPBearer(auto_error=False, description="STANCHION_ADMIN_TOKEN, or a token of the console", scheme_name="token")


async def require_access(request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]) -> None:
    """Finds who asks and lets them pass. Raises Problem: 401 without a good token, 403 for a token without the scope."""
    if given is None:
        challenge = 'Bearer realm="stanchion"'
        raise Problem(401, "This needs a token: Authorization: Bearer <token>.", {"WWW-Authenticate": challenge})
    who = await _holder(request, given.credentials)
    wait_s = desk(request).rates.wait_s(who.name)
    if wait_s:
        raise Problem(429, f"This token asked too often. Ask again in {wait_s} s.", {"Retry-After": str(wait_s)})
    set_actor(request, who)
    access = access_of(request.scope["endpoint"])
    if access is None:
        raise Problem(500, "This route does not say who may use it.")
    try:
        await admit(request, access)
    except NotAllowed as error:
        raise forbidden(error) from error


def forbidden(error: NotAllowed) -> Problem:
    """The answer to a token that lacks a scope."""
    challenge = f'Bearer realm="stanchion", error="insufficient_scope", scope="{error.permission}"'
    detail = f"This token may not do that: it needs the scope {error.permission}, and has {_listed(error.actor)}."
    return Problem(403, detail, {"WWW-Authenticate": challenge}, needs=str(error.permission))


def _listed(who: Actor) -> str:
    return ", ".join(sorted(who.permissions)) or "none"


async def _holder(request: Request, secret: str) -> Actor:
    room = desk(request)
    # The token that is a setting works also when the database does not.
    if room.credentials.is_api_token(secret):
        return Actor(BY_SETTING, OWNER, "api", ALL)
    now_ms = int(room.unix_s() * 1000)
    hashed = sha256(secret)
    found = await room.db.read(lambda session: tokens.find(session, hashed))
    if found is None or not found.is_good(now_ms):
        why = "The token is not one that this app knows." if found is None else "The token has been ended or has expired."
        raise Problem(401, why, {"WWW-Authenticate": 'Bearer realm="stanchion", error="invalid_token"'})
    if now_ms - (found.used_at_ms or 0) > USED_TOUCH_MS:
        await room.db.run(lambda session: tokens.used(session, found.id, now_ms))
    scopes = frozenset(Permission(scope) for scope in found.scopes if scope in ALL)
    return Actor(f"{BY_SETTING}:{found.name}", BY_SETTING, "api", scopes)


def api_router(tag: str) -> APIRouter:
    """A router of the API: every route wants a token, and says with `@needs` which scope."""
    return APIRouter(
        prefix=PREFIX, dependencies=[Security(require_access)], tags=[tag], redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )  # fmt: skip
