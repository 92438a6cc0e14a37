"""Role by role and scope by scope, every route there is, by real requests: the table comes from the routes themselves."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from admin.access.needs import UNGUARDED, Access, access_of, endpoints
from admin.access.permissions import ALL, ROLES, VIEWER, Permission
from admin.state.tables import Table
from tests.admin.conftest import Admin, sign_in

API = ("/api/v1/", "/metrics")
NOBODY = "nobody"
# When somebody was seen last is no change that a refused request could have asked for.
_NOT_COMPARED = {"sessions", "samples"}
# What a body is for does not matter here: whoever may gets past the door, and is told what the body lacks.
BODY: Mapping[str, Any] = {"nonsense": "x"}


@dataclass(frozen=True)
class Route:
    """One method of one path, with ids that exist in it."""

    method: str
    path: str
    address: str
    access: Access

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_api(self) -> bool:
        return self.path.startswith(API)

    def allows(self, permissions: frozenset[Permission]) -> bool:
        return self.access.permission is None or self.access.permission in permissions


@pytest.fixture
def world(admin: Admin) -> Admin:
    """A queue that runs, and one of everything that a route names by an id."""
    admin.start()
    admin.visitors.join(admin.queues["sale"], 3)
    return admin


@pytest.fixture
def ids(world: Admin) -> Mapping[str, str]:
    """What the routes' parameters stand for."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(world.clock.unix_s() + 86_400))
    step = world.api("POST", "/queues/sale/schedule", json={"at": at, "action": "pause"}).json()["id"]
    token = world.api("POST", "/tokens", json={"name": "to be ended", "scopes": ["see"]}).json()["id"]
    world.api("PATCH", "/configuration/queues/sale", json={"name": "Winter sale"}, headers={"If-Match": "*"})
    version = world.api("GET", "/versions").json()["versions"][0]["id"]
    return {
        "queue_id": "sale", "entry_id": "sale", "kind": "queues", "brand": "shop", "version": "1", "step_id": step,
        "token_id": token, "version_id": str(version), "user_id": world.person("somebody", VIEWER).id, "rehearsal_id": "none",
        "code": "none",
    }  # fmt: skip


@pytest.fixture
def routes(world: Admin, ids: Mapping[str, str]) -> list[Route]:
    """All of them. One with a parameter that `ids` does not know ends the test."""
    found = []
    for method, path, endpoint in endpoints(world.app.routes):
        access = access_of(endpoint)
        if path not in UNGUARDED:
            assert access is not None, f"{method} {path} does not say who may use it"
            known = {**ids, "entry_id": "none"} if "/groups/" in path else ids
            found.append(Route(method, path, _filled(path, known), access))
    return found


def _filled(path: str, ids: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)(:\w+)?\}", lambda name: ids[name[1]], path)


def everything(admin: Admin) -> dict[str, Any]:
    """What a request could change: tables, published files, and what the queue is."""
    queue = admin.api("GET", "/queues/sale").json()
    moves = {"admitted_last_minute", "present", "outflow_per_minute", "now_ms", "age_s"}

    def rows(session: Any) -> dict[str, Any]:
        tables = [table for table in Table.metadata.sorted_tables if table.name not in _NOT_COMPARED]
        return {table.name: sorted(map(repr, session.execute(select(table)).all())) for table in tables}

    files = sorted((str(file), file.read_bytes()) for file in admin.settings.kv_dir.rglob("*") if file.is_file())
    return {
        **admin.app.state.desk.db.run_now(rows), "files": files,
        "queue": {name: value for name, value in queue.items() if name not in moves},
    }  # fmt: skip


def status_of(client: httpx.Client, route: Route, **more: Any) -> tuple[int, str]:
    """The status and where it leads; of a stream only its head is read."""
    with client.stream(route.method, route.address, **more) as answer:
        return answer.status_code, answer.headers.get("location", "")


def sent(client: httpx.Client, route: Route, csrf: str) -> tuple[int, str]:
    return status_of(client, route, **({"data": {**BODY, "csrf": csrf}} if route.method == "POST" else {}))


@dataclass(frozen=True)
class Somebody:
    """Somebody of a role, signed in, or nobody; with the token of their forms."""

    role: str
    client: httpx.Client
    csrf: str

    @property
    def may(self) -> frozenset[Permission]:
        return ROLES.get(self.role, frozenset())


@pytest.fixture
def everybody(world: Admin) -> Iterator[list[Somebody]]:
    with contextlib.ExitStack() as open_browsers:
        found = []
        for role in (*ROLES, NOBODY):
            client = open_browsers.enter_context(world.anyone())
            if role != NOBODY:
                world.person(f"some-{role}", role)
                assert sign_in(client, user=f"some-{role}").status_code == 303
            page = client.get("/sign-in" if role == NOBODY else "/account").text
            found.append(Somebody(role, client, re.findall(r'name="csrf" value="([^"]+)"', page)[0]))
        yield found


def test_the_console_by_role(world: Admin, routes: list[Route], everybody: list[Somebody]) -> None:
    ours = [route for route in routes if not route.is_api and route.access.permission is not None]
    assert len(ours) > 80
    before = everything(world)
    for who in everybody:
        refused = [route for route in ours if not route.allows(who.may)]
        got = {route.name: sent(who.client, route, who.csrf) for route in refused}
        assert {route.name: got[route.name] for route in refused if not _is_refusal(route, who.role, got[route.name])} == {}
    assert everything(world) == before
    for who in everybody:
        # First what only looks, while everything that is looked at is there.
        for route in sorted((route for route in ours if route.allows(who.may)), key=lambda route: route.method):
            status, leads_to = sent(who.client, route, who.csrf)
            where = (who.role, route.name, status)
            assert status < 500, where
            assert status not in (401, 403, 405), where
            assert "/sign-in" not in leads_to, where
            if route.method == "GET":
                assert status in (200, 303) or "none" in route.address or "/history/1" in route.address, where


def _is_refusal(route: Route, role: str, got: tuple[int, str]) -> bool:
    status, leads_to = got
    if role != NOBODY:
        return status == 403
    if route.method == "GET" and not route.access.polls:
        return status == 303 and leads_to.startswith("/sign-in")
    return status == 401


def test_what_is_open_to_everybody(world: Admin, routes: list[Route]) -> None:
    found = [route for route in routes if route.access.permission is None]
    assert {route.path for route in found} == {
        "/sign-in", "/sign-in/code", "/sign-out", "/oidc/sign-in", "/oidc/callback", "/first/{code}", "/password/{code}",
        "/language", "/healthz", "/readyz",
    }  # fmt: skip
    before = everything(world)
    with world.anyone() as client:
        for route in found:
            # A form that no page of ours made does nothing.
            assert sent(client, route, "made up")[0] < 500
    assert everything(world) == before


def test_the_api_by_scope(world: Admin, routes: list[Route]) -> None:
    """A token with one scope each; a token that we never made, and none at all."""
    ours = [route for route in routes if route.is_api]
    assert len(ours) > 60
    assert all(route.access.permission for route in ours)
    made = {scope: world.api("POST", "/tokens", json={"name": scope, "scopes": [scope]}).json()["secret"] for scope in Permission}
    before = everything(world)
    with world.anyone() as client:
        for route in ours:
            for scope, secret in made.items():
                if not route.allows(frozenset({scope})):
                    assert _by_token(client, route, secret, BODY) == 403, (scope, route.name)
            assert _by_token(client, route, "made up", BODY) == 401, route.name
            assert status_of(client, route, json=BODY)[0] == 401, route.name
        # When a token was used last is kept.
        assert {**everything(world), "api_tokens": before["api_tokens"]} == before
        for route in sorted(ours, key=lambda route: (route.method != "GET", route.method)):
            assert route.access.permission
            status = _by_token(client, route, made[route.access.permission], BODY if route.method != "GET" else None)
            assert status < 500, (route.name, status)
            assert status not in (401, 403, 405), (route.name, status)


def _by_token(client: httpx.Client, route: Route, secret: str, body: Any) -> int:
    return status_of(client, route, json=body, headers={"Authorization": f"Bearer {secret}"})[0]


# What changes something below a path needs one of these; written down apart from the routes, so that no slip there goes unseen.
CHANGES: Mapping[str, set[Permission]] = {
    "/queues/": {Permission.OPERATE}, "/schedule/": {Permission.OPERATE}, "/rehearsals/": {Permission.OPERATE},
    "/configuration": {Permission.CONFIGURE}, "/pages": {Permission.EDIT_PAGES, Permission.PUBLISH_PAGES},
    "/people": {Permission.MANAGE_PEOPLE}, "/tokens": {Permission.MANAGE_PEOPLE}, "/account/": {Permission.SEE},
}  # fmt: skip


def test_what_changes_something_needs_more_than_to_see(routes: list[Route]) -> None:
    ours = [route for route in routes if not route.is_api and route.access.permission and route.method != "GET"]
    for route in ours:
        allowed = [needed for begin, needed in CHANGES.items() if route.path.startswith(begin)]
        assert len(allowed) == 1, f"say in CHANGES what {route.name} needs"
        assert route.access.permission in allowed[0], route.name
    publishing = [route.name for route in ours if route.access.permission == Permission.PUBLISH_PAGES]
    assert publishing == ["POST /pages/{brand}/publish", "POST /pages/{brand}/roll-back"]


def test_the_token_that_is_a_setting_may_everything(routes: list[Route]) -> None:
    assert [route.name for route in routes if not route.allows(ALL)] == []
