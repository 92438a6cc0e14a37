"""Who may use a route stands at the route; one that does not say is not served."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from admin.access.needs import UNGUARDED, Unguarded, access_of, check_routes, endpoints, needs, public
from admin.access.permissions import ALL, OPERATOR, OWNER, ROLES, Permission, roles_with
from tests.admin.conftest import Admin


async def plain(request: Request) -> Response:
    return Response("served")


def test_a_route_that_does_not_say_is_refused() -> None:
    with pytest.raises(Unguarded, match=r"POST /x does not say"):
        check_routes(Starlette(routes=[Route("/x", plain, methods=["POST"])]).routes)


@pytest.mark.parametrize("mark", [needs(Permission.SEE), public("a test")])
def test_a_route_that_says_is_good(mark: object) -> None:
    check_routes([Route("/x", mark(plain), methods=["POST"])])  # type: ignore[operator]


def test_every_route_of_the_app_says(admin: Admin) -> None:
    found = {(method, path): access_of(endpoint) for method, path, endpoint in endpoints(admin.app.routes)}
    assert len(found) > 30
    silent = [key for key, access in found.items() if access is None and key[1] not in UNGUARDED]
    assert silent == []
    assert all(access.permission or access.why for access in found.values() if access)
    # These only look, and take what they look at as a body.
    looks = ("/api/v1/configuration/plan", "/api/v1/explain", "/api/v1/brands/{brand}/check")
    changes = [access for (method, path), access in found.items()
               if method != "GET" and path.startswith("/api/") and path not in looks]  # fmt: skip
    assert all(access and access.permission not in (None, Permission.SEE) for access in changes)


def test_roles_hold_what_the_ones_of_more_trust_hold() -> None:
    assert ROLES[OWNER] == ALL
    assert all(Permission.SEE in may for may in ROLES.values())
    assert roles_with(Permission.MANAGE_PEOPLE) == [OWNER]
    assert roles_with(Permission.OPERATE) == [OPERATOR, OWNER]
