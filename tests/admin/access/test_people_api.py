"""People and tokens over the API: who can be made, changed and shut out, and what keeps everybody from being locked out."""

from __future__ import annotations

from typing import Any

import pytest

from admin.access.permissions import ALL, OWNER, VIEWER
from admin.state import audit, users
from admin.state.audit import Wanted
from tests.admin.conftest import PASSWORD_HASH, Admin, Browser, sign_in


def entries(admin: Admin) -> list[tuple[str, str, str]]:
    found = admin.app.state.desk.db.run_now(lambda session: audit.page(session, Wanted(), 100))
    return [(entry.who, entry.action, entry.target) for entry in reversed(found)]


def create(admin: Admin, name: str, role: str) -> dict[str, Any]:
    answer = admin.api("POST", "/people", json={"name": name, "role": role})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def change(admin: Admin, user_id: str, body: dict[str, Any], tag: str = "*") -> Any:
    return admin.api("PATCH", f"/people/{user_id}", json=body, headers={"If-Match": tag})


def test_a_person_from_invitation_to_shut_out(admin: Admin) -> None:
    made = create(admin, "mai@example.org", VIEWER)
    assert made["link"].startswith(f"{admin.url}/password/")
    user_id = made["person"]["id"]
    read = admin.api("GET", f"/people/{user_id}")
    tag = read.headers["etag"]
    assert change(admin, user_id, {"role": "operator"}, tag).json()["role"] == "operator"
    assert change(admin, user_id, {"role": "viewer"}, tag).status_code == 412
    assert change(admin, user_id, {"disabled": True}).json()["disabled"] is True
    assert [person["name"] for person in admin.api("GET", "/people").json()["people"]] == ["mai@example.org"]
    target = "person:mai@example.org"
    assert entries(admin) == [
        ("token", "person.create", target), ("token", "person.role", target), ("token", "person.disable", target),
    ]  # fmt: skip


def test_a_change_wants_its_tag(admin: Admin) -> None:
    user_id = create(admin, "mai", VIEWER)["person"]["id"]
    assert admin.api("PATCH", f"/people/{user_id}", json={"role": "operator"}).status_code == 428
    assert change(admin, user_id, {"role": "operator"}, '"x"').status_code == 412


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"name": "two words", "role": "viewer"}, "name"),
        ({"name": "", "role": "viewer"}, "name"),
        ({"name": "Admin", "role": "viewer"}, "name"),
        ({"name": "MAI", "role": "viewer"}, "name"),
        ({"name": "ok", "role": "king"}, "role"),
        ({"name": "ok", "role": 5}, "role"),
        ({"name": "ok"}, "role"),
    ],
)
def test_what_a_person_cannot_be(admin: Admin, body: dict[str, Any], at: str) -> None:
    create(admin, "mai", VIEWER)
    answer = admin.api("POST", "/people", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["at"]) == (422, at)


def test_the_last_owner_stays(admin: Admin) -> None:
    first, second = admin.person("one", OWNER), create(admin, "two", OWNER)["person"]
    for body in ({"role": "viewer"}, {"disabled": True}):
        refused = change(admin, first.id, body)
        assert refused.status_code == 409, "the other one has no way in yet"
        assert "last owner" in refused.json()["detail"]
    admin.app.state.desk.db.run_now(lambda session: users.set_password(session, second["id"], PASSWORD_HASH))
    assert change(admin, first.id, {"disabled": True}).status_code == 200
    assert change(admin, second["id"], {"role": "operator"}).status_code == 409
    assert entries(admin)[-1] == ("token", "person.disable", "person:one")


@pytest.mark.parametrize("body", [{"role": "operator"}, {"disabled": True}])
def test_a_change_of_rights_ends_sessions(admin: Admin, body: dict[str, Any]) -> None:
    person = admin.person("mai", VIEWER)
    with admin.anyone() as client:
        assert sign_in(client, user="mai").status_code == 303
        assert client.get("/").status_code == 200
        assert change(admin, person.id, body).status_code == 200
        assert client.get("/").status_code == 303


def test_sessions_are_ended_from_outside(admin: Admin) -> None:
    person = admin.person("mai", VIEWER)
    with admin.anyone() as client:
        sign_in(client, user="mai")
        assert admin.api("POST", f"/people/{person.id}/end-sessions").status_code == 200
        assert client.get("/").status_code == 303


def test_one_who_is_shut_out_cannot_sign_in(admin: Admin) -> None:
    person = admin.person("mai", VIEWER)
    change(admin, person.id, {"disabled": True})
    with admin.anyone() as client:
        assert sign_in(client, user="mai").status_code == 401


def test_a_token_opens_what_its_scopes_say(admin: Admin) -> None:
    made = admin.api("POST", "/tokens", json={"name": "dashboards", "scopes": ["see"], "days": 30})
    assert made.status_code == 201
    secret = made.json()["secret"]
    assert admin.api("GET", "/queues/sale", token=secret).status_code == 200
    assert admin.api("GET", "/me", token=secret).json() == {"name": "token:dashboards", "role": "token", "scopes": ["see"]}
    refused = admin.api("POST", "/queues/sale/pause", token=secret)
    assert (refused.status_code, refused.json()["needs"]) == (403, "operate")
    assert 'scope="operate"' in refused.headers["www-authenticate"]
    listed = admin.api("GET", "/tokens").json()["tokens"][0]
    assert listed["used_at"]
    assert secret not in str(listed)
    stored = admin.settings.admin_dir / "admin.db"
    assert secret.encode() not in stored.read_bytes() + (stored.parent / "admin.db-wal").read_bytes()


def test_a_token_ends(admin: Admin) -> None:
    made = [admin.api("POST", "/tokens", json={"name": name, "scopes": ["see"], "days": 1}).json() for name in ("a", "b")]
    assert admin.api("DELETE", f"/tokens/{made[0]['id']}").json()["ended_at"]
    assert admin.api("GET", "/queues", token=made[0]["secret"]).status_code == 401
    admin.clock.ahead_s += 86_400 + 60
    expired = admin.api("GET", "/queues", token=made[1]["secret"])
    assert expired.status_code == 401
    assert "expired" in expired.json()["detail"]
    assert admin.api("DELETE", "/tokens/nothing").status_code == 404


def test_nobody_gives_more_than_they_may(admin: Admin) -> None:
    manager = admin.api("POST", "/tokens", json={"name": "hr", "scopes": ["manage_people", "see"]}).json()["secret"]
    answer = admin.api("POST", "/tokens", json={"name": "more", "scopes": sorted(ALL)}, token=manager)
    assert answer.status_code == 422
    assert admin.api("POST", "/people", json={"name": "boss", "role": OWNER}, token=manager).status_code == 422
    assert admin.api("POST", "/people", json={"name": "guest", "role": VIEWER}, token=manager).status_code == 201
    owner = admin.person("owner", OWNER)
    assert admin.api("POST", f"/people/{owner.id}/link", json={}, token=manager).status_code == 422
    for body in ({"role": VIEWER}, {"disabled": True}):
        refused = admin.api("PATCH", f"/people/{owner.id}", json=body, headers={"If-Match": "*"}, token=manager)
        assert refused.status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["fly"]},
        {"name": "", "scopes": ["see"]},
        {"name": "x", "scopes": ["see"], "days": 0},
        {"name": "x", "scopes": ["see"], "days": True},
        {"name": "x", "scopes": "see"},
    ],
)
def test_what_a_token_cannot_be(admin: Admin, body: dict[str, Any]) -> None:
    assert admin.api("POST", "/tokens", json=body).status_code == 422


def test_a_deed_in_the_console_is_in_the_log_with_its_values(admin: Admin) -> None:
    admin.start()
    with admin.as_role("operator") as browser:
        answer = browser.send("/queues/sale", "/queues/sale/rate", rate="30", do="set")
        assert answer.status_code == 303
        request_id = answer.headers["x-request-id"]
    found = admin.api("GET", "/audit", params={"target": "queue:*"}).json()["entries"]
    assert [(entry["who"], entry["role"], entry["via"], entry["action"]) for entry in found] == [
        ("some-operator", "operator", "console", "queue.limits")
    ]
    assert found[0]["before"] == {"admit_per_minute": 60, "live": []}
    assert found[0]["after"] == {"admit_per_minute": 30, "live": ["admit_per_minute"]}
    assert found[0]["request_id"] == request_id


def test_the_audit_log_by_who_what_when_and_page_by_page(admin: Admin) -> None:
    for number in range(5):
        create(admin, f"person-{number}", VIEWER)
    first = admin.api("GET", "/audit", params={"limit": 2}).json()
    assert [entry["target"] for entry in first["entries"]] == ["person:person-4", "person:person-3"]
    rest = admin.api("GET", "/audit", params={"limit": 10, "after": first["next"]}).json()
    assert [entry["target"] for entry in rest["entries"]] == [f"person:person-{number}" for number in (2, 1, 0)]
    assert rest["next"] is None

    def count(**query: str) -> int:
        return len(admin.api("GET", "/audit", params=query).json()["entries"])

    assert (count(who="token"), count(who="nobody")) == (5, 0)
    assert (count(action="person.*"), count(action="person.create"), count(action="person")) == (5, 5, 0)
    assert (count(target="person:person-1"), count(target="person:%*")) == (1, 0)
    assert (count(since="2020-01-01"), count(until="2020-01-01"), count(since="2999-01-01T00:00:00Z")) == (5, 0, 0)
    assert admin.api("GET", "/audit", params={"since": "yesterday"}).status_code == 422
    lines = admin.api("GET", "/audit/export").text.splitlines()
    assert len(lines) == 5
    assert '"person:person-4"' in lines[0]


def test_a_token_that_asks_too_often_waits(serve: Any, bridge: Any) -> None:
    admin = serve(bridge.url, api_per_minute=3)
    answers = [admin.api("GET", "/me") for _ in range(5)]
    assert [answer.status_code for answer in answers[:3]] == [200, 200, 200]
    assert answers[-1].status_code == 429
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60


def test_roles_see_what_is_theirs(admin: Admin) -> None:
    admin.start()
    with admin.as_role("viewer") as browser:
        assert isinstance(browser, Browser)
        assert browser.client.get("/queues/sale").status_code == 200
        refused = browser.client.get("/queues/sale/limits")
        assert refused.status_code == 403
        assert "viewer" in refused.text
        fields = browser.fields("/queues/sale", "/sign-out")
        assert browser.client.post("/queues/sale/pause", data=fields).status_code == 403
    assert admin.api("GET", "/queues/sale").json()["status"] == "open"
