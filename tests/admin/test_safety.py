"""Rules over all routes, taken from the app's own route table: GET changes nothing; what changes something wants credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import Mount, Route

from admin import console
from admin.access.needs import access_of, endpoints
from admin.api.all import ROUTERS
from admin.state import users
from edge.core import calls, commands
from tests.admin.conftest import API_TOKEN, Admin, Browser, sign_in
from tests.admin.world import queue_json

OPERATORS_FIELDS = {
    "status",
    "epoch",
    "length",
    "cursor",
    "rate",
    "burst",
    "max_active",
    "inventory",
    "operator",
    "config_version",
}
API = [each for router in ROUTERS for each in endpoints(router.routes)]
CONSOLE = list(endpoints(console.ROUTES))
API_ROUTES = [(method, path) for method, path, _ in API]
CONSOLE_ROUTES = [(method, path) for method, path, _ in CONSOLE]
# Open to everybody: they say why.
PUBLIC = {path for _, path, endpoint in CONSOLE if (access := access_of(endpoint)) and access.permission is None}
# A stream of events has no end to wait for; what it says is the same as /live.
GETS = [path for method, path in API_ROUTES + CONSOLE_ROUTES if method == "GET" and not path.endswith("events")] + [
    "/healthz",
    "/openapi.json",
    "/static/console.js",
]
CHANGES = [(method, path) for method, path in API_ROUTES if method != "GET"]
FORMS = [path for method, path in CONSOLE_ROUTES if method == "POST"]


# Things that exist, for the addresses of their pages.
THINGS = {"queue_id": "sale", "user_id": "0123456789ab", "code": "no-such-code", "token_id": "0123456789ab"}
THINGS |= {"step_id": "0123456789ab", "rehearsal_id": "0123456789ab"}
THINGS |= {"kind": "queues", "entry_id": "sale", "version_id": "1", "version": "1", "brand": "default", "group_id": "g"}
# Whose addresses may lead to nothing in these tests.
VOID = ("code", "version_id", "version", "brand", "entry_id", "rehearsal_id")


def fill(path: str) -> str:
    return re.sub(r"{(\w+)(:\w+)?}", lambda found: THINGS[found[1]], path)


def populate(admin: Admin, queue_id: str) -> None:
    """Brings a queue to where nothing moves by itself: paused, with people in every state."""
    queue = admin.queues[queue_id]
    admin.start(queue_id)
    admin.visitors.join(queue, 4, wants_in=True)
    admin.visitors.join(queue, 30, first=4)
    admin.visitors.run(commands.control(queue_id, "pause", "before", "0" * 32))
    admin.visitors.run(commands.take_snapshot(queue_id, "0" * 32))


def clock_fields(admin: Admin) -> set[str]:
    """What the clock alone moves in the state of such a queue, whoever looks."""
    populate(admin, "twin")
    twin = admin.queues["twin"]
    before, moved = admin.visitors.state(twin), set[str]()
    for ahead_ms in (1, 300, 1_000, 10_000, 61_000):
        admin.visitors.run(commands.take_snapshot("twin", "0" * 32, now_ms=int(before["clock"]) + ahead_ms))
        moved |= {name for name, value in admin.visitors.state(twin).items() if value != before.get(name)}
    admin.visitors.client.delete(*calls.keys("twin"))
    assert not moved & OPERATORS_FIELDS
    return moved


def everything(admin: Admin) -> dict[str, Any]:
    """All of Redis but what the clock moves."""
    ignored = admin.clock_fields
    client: Any = admin.visitors.client
    found: dict[str, Any] = {}
    for key in sorted(client.scan_iter("*", count=1000)):
        if key.endswith((":joins", ":figures")):
            continue  # what a look counts
        match client.type(key):
            case "hash":
                fields = client.hgetall(key)
                found[key] = {name: value for name, value in fields.items() if name not in ignored}
            case "zset":
                found[key] = client.zrange(key, 0, -1, withscores=True)
            case _:
                found[key] = client.dump(key)
    return found


@pytest.fixture
def quiet(admin: Admin) -> Admin:
    """A paused queue with people in every state, where nothing moves by itself; and one without state."""
    slow = {"max_active": 10, "claim_within_s": 3600, "idle_s": 3600}
    admin.publish(queue_json("sale", **slow), queue_json("twin", **slow), queue_json("unborn"))
    admin.clock_fields = clock_fields(admin)
    admin.publish(queue_json("sale", **slow), queue_json("unborn"))
    populate(admin, "sale")
    room = admin.app.state.desk
    room.db.run_now(lambda session: users.add(session, THINGS["user_id"], "mai", "viewer", 1_000))
    return admin


def test_the_tables_are_not_empty() -> None:
    assert len(CHANGES) >= 14
    assert {"/sign-in", "/sign-out", "/queues/{queue_id}/admit"} <= set(FORMS)
    assert {"/api/v1/queues/{queue_id}", "/queues/{queue_id}/live", "/"} <= set(GETS)


def test_every_route_of_the_app_is_in_a_table(admin: Admin) -> None:
    known = {path for _, path in API_ROUTES + CONSOLE_ROUTES} | {"/healthz", "/readyz", "/openapi.json", "/static"}
    for route in admin.app.routes:
        if isinstance(route, (Route, Mount)):
            assert route.path in known


def test_get_changes_nothing(quiet: Admin) -> None:
    query = {"action": "reset", "count": "5", "rate": "7", "confirm": "sale", "do": "config", "next": "/queues/sale/reset"}
    query["url"] = "https://shop.example/sale/"
    refused = []
    with quiet.anyone() as client:
        sign_in(client)
        before = everything(quiet)
        assert len(before) > 3
        for path in GETS:
            if path.startswith("/oidc/"):
                continue  # Without a provider there is nothing; tests/admin/access/test_oidc.py has one.
            for queue_id in ("sale", "unborn") if "{queue_id}" in path else ("",):
                url = fill(path.replace("{queue_id}", queue_id))
                answer = client.get(url, params=query, headers={"Authorization": f"Bearer {API_TOKEN}"})
                void = answer.status_code == 404 and any(f"{{{name}" in path for name in VOID)
                if not void and answer.status_code >= 400:
                    refused.append((url, answer.status_code, answer.text[:300]))
    assert refused == []
    assert everything(quiet) == before


def test_the_api_refuses_without_a_token(quiet: Admin) -> None:
    before = everything(quiet)
    with quiet.anyone() as client:
        sign_in(client)
        for method, path in CHANGES:
            body = {"count": 5} if path.endswith("admit") else {"admit_per_minute": 1} if path.endswith("limits") else {}
            assert client.request(method, fill(path), json=body).status_code == 401, path
    assert everything(quiet) == before


def sendings(browser: Browser, action: str) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Forms that must be refused: what is wrong, the fields, the headers."""
    good = {"csrf": browser.fields("/queues/sale/reset", "/queues/sale/reset")["csrf"], "request_id": "r1"}
    good |= {"count": "5", "rate": "7", "max_active": "3", "confirm": "sale", "never_ran": "1", "user": "admin", "password": "x"}
    yield "no token", {name: value for name, value in good.items() if name != "csrf"}, {}
    yield "another token", {**good, "csrf": "A" * len(good["csrf"])}, {}
    yield "empty token", {**good, "csrf": ""}, {}
    yield "another site", good, {"Origin": "https://evil.example"}
    yield "an opaque origin", good, {"Origin": "null"}
    yield "another port", good, {"Origin": "http://127.0.0.1:1"}


def test_forms_refuse_what_is_not_ours(quiet: Admin) -> None:
    with quiet.anyone() as client:
        sign_in(client)
        browser = Browser(client)
        before = everything(quiet)
        for path in FORMS:
            for what, fields, headers in sendings(browser, path):
                # The import takes a file; what is none is refused before its token is looked for.
                refused = (403, 415) if path == "/configuration/transfer" else (403,)
                assert client.post(fill(path), data=fields, headers=headers).status_code in refused, (path, what)
        assert everything(quiet) == before
        assert client.get("/", follow_redirects=False).status_code == 200


def test_forms_refuse_the_signed_out(quiet: Admin) -> None:
    with quiet.anyone() as client:
        sign_in(client)
        token = Browser(client).fields("/queues/sale/reset", "/queues/sale/reset")["csrf"]
        client.cookies.clear()
        before = everything(quiet)
        fields = {"csrf": token, "count": "5", "rate": "7", "confirm": "sale", "never_ran": "1", "max_active": "3"}
        for path in FORMS:
            if path not in PUBLIC:
                answer = client.post(fill(path), data=fields, headers={"Authorization": f"Bearer {API_TOKEN}"})
                assert answer.status_code == 401, path
                assert "signed out" in answer.text or "signed_out" in answer.text, path
    assert everything(quiet) == before


def test_pages_want_a_session(quiet: Admin) -> None:
    with quiet.anyone() as client:
        for method, path, endpoint in CONSOLE:
            if method != "GET" or path in PUBLIC:
                continue
            answer = client.get(fill(path), headers={"Authorization": f"Bearer {API_TOKEN}"})
            access = access_of(endpoint)
            if access and access.polls:
                assert (answer.status_code, answer.json()) == (401, {"signed_out": True}), path
            else:
                assert answer.status_code == 303, path
                assert answer.headers["location"].startswith("/sign-in"), path


@pytest.mark.parametrize(
    "path", ["/", "/sign-in", "/queues/sale", "/static/console.css", "/healthz", "/openapi.json", "/nothing"]
)
def test_every_answer_has_the_security_headers(quiet: Admin, path: str) -> None:
    with quiet.anyone() as client:
        sign_in(client)
        answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")


def test_pages_have_no_inline_script_or_style(quiet: Admin) -> None:
    with quiet.anyone() as client:
        sign_in(client)
        pages = [path for path in GETS if "api" not in path and "live" not in path]
        for path in pages:
            html = client.get(fill(path), follow_redirects=True).text
            if html.startswith("<!doctype html>") and "/preview" not in path:
                assert "<style" not in html, path
                assert " style=" not in html, path
                assert " onclick=" not in html, path
                assert html.count("<script") == html.count('<script src="/static/'), path
