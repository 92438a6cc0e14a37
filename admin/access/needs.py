"""What each endpoint needs, written at the endpoint: `@needs(Permission.OPERATE)` or `@public("why")`.

An endpoint without one of the two is not served: `check_routes` refuses to make an app that has one.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.routing import BaseRoute, Mount

from admin.access.actor import NotAllowed, SignInNeeded, find_actor
from admin.access.permissions import Permission
from admin.desk import desk
from admin.state.db import StateUnavailable

Endpoint = TypeVar("Endpoint", bound=Callable[..., Awaitable[Any]])
_MARK = "__access__"
# FastAPI's own description of the API, and the mount of static files.
UNGUARDED = ("/openapi.json", "/static")


@dataclass(frozen=True)
class Access:
    """`permission` None: open to everybody, and `why`. `polls`: the request is made by a script, not a sign of life."""

    permission: Permission | None
    why: str = ""
    polls: bool = False


class Unguarded(Exception):
    """A route does not say who may use it."""


def needs(permission: Permission, *, polls: bool = False) -> Callable[[Endpoint], Endpoint]:
    """Marks and guards an endpoint (`async def f(request, …)`): who may not gets SignInNeeded, a 401 problem or NotAllowed."""
    access = Access(permission, polls=polls)

    def mark(endpoint: Endpoint) -> Endpoint:
        @functools.wraps(endpoint)
        async def guarded(*args: Any, **values: Any) -> Any:
            await admit(values["request"] if "request" in values else args[0], access)
            return await endpoint(*args, **values)

        setattr(guarded, _MARK, access)
        return guarded  # type: ignore[return-value]

    return mark


def public(why: str) -> Callable[[Endpoint], Endpoint]:
    """Marks an endpoint that anybody may use; `why` says what makes that safe."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _MARK, Access(None, why))
        return endpoint

    return mark


def access_of(endpoint: Any) -> Access | None:
    """What an endpoint needs, or None when it does not say."""
    found: Access | None = getattr(endpoint, _MARK, None)
    return found


async def admit(request: Request, access: Access) -> None:
    """Lets the request pass, or raises SignInNeeded, NotAllowed or StateUnavailable.

    Who asks was found before, by `admin.access.identity` or by the API's token.
    """
    if access.permission is None:
        return
    who = find_actor(request)
    if who is None:
        problem = request.scope.get("state", {}).get("state_problem")
        raise StateUnavailable(problem) if problem else SignInNeeded
    if not who.may(access.permission):
        raise NotAllowed(who, access.permission)
    if who.session and not access.polls:
        room = desk(request)
        with contextlib.suppress(StateUnavailable):
            await room.sessions.touch(request, who, room.unix_s())


def endpoints(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str, Any]]:
    """Method, path and endpoint of every route, those of included routers too."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from endpoints(included.routes)
        elif isinstance(route, Mount):
            yield "GET", route.path, None
        else:
            for method in sorted(set(getattr(route, "methods", None) or {"GET"}) - {"HEAD"}):
                yield method, str(getattr(route, "path", route)), getattr(route, "endpoint", None)


def check_routes(routes: Sequence[BaseRoute]) -> None:
    """Raises Unguarded for the first route that does not say who may use it."""
    for method, path, endpoint in endpoints(routes):
        if path not in UNGUARDED and access_of(endpoint) is None:
            raise Unguarded(f"{method} {path} does not say who may use it: add @needs(Permission.…) or @public(\"why\")")
