"""Sign-in at a provider, against a stand-in that signs real tokens: who comes in, with what role, and what is refused."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from admin.access.permissions import OPERATOR, OWNER, VIEWER
from admin.settings import Oidc, SettingsError, load
from admin.state import users
from tests.admin.access.provider import CLIENT_ID, CLIENT_SECRET, StandIn, new_key, running
from tests.admin.conftest import Admin, Serve
from tests.admin.world import Bridge

MAI = {"email": "mai@example.org", "email_verified": True}
Start = Callable[..., Admin]


@pytest.fixture
def provider() -> Iterator[StandIn]:
    with running(StandIn(dict(MAI))) as stand_in:
        yield stand_in


@pytest.fixture
def start(serve: Serve, bridge: Bridge, provider: StandIn, monkeypatch: pytest.MonkeyPatch) -> Start:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def run(**more: Any) -> Admin:
        return serve(bridge.url, oidc=Oidc(provider.url, CLIENT_ID, CLIENT_SECRET, name="Example ID", **more))

    return run


def go(client: httpx.Client, path: str = "/oidc/sign-in") -> httpx.Response:
    """Follows the browser to the provider and back, up to the answer of our callback."""
    answer = client.get(path)
    for _ in range(2):
        answer = client.get(answer.headers["location"])
    return answer


def role_of(admin: Admin, name: str) -> str:
    person = admin.app.state.desk.db.run_now(lambda session: users.by_name(session, name))
    return person.role if person else ""


def test_who_was_created_before_comes_in(start: Start, provider: StandIn) -> None:
    admin = start()
    admin.api("POST", "/people", json={"name": "mai@example.org", "role": OPERATOR})
    with admin.anyone() as client:
        assert "Sign in with Example ID" in client.get("/sign-in").text
        answer = go(client, "/oidc/sign-in?next=/audit")
        assert (answer.status_code, answer.headers["location"]) == (303, "/audit")
        assert client.get("/audit").status_code == 200
        assert client.get("/people").status_code == 403
    provider.claims = {"email": "renamed@example.org", "email_verified": True}
    with admin.anyone() as client:
        assert go(client).status_code == 303, "the subject counts, not the name of today"
    assert provider.complaints == []
    begun = admin.api("GET", "/audit", params={"action": "session.begin"}).json()["entries"]
    assert {(entry["who"], entry["note"]) for entry in begun} == {("mai@example.org", "by the provider")}


@pytest.mark.parametrize(
    "claims", [{"email": "ken@example.org", "email_verified": True}, {"email": "mai@example.org"}, {"email_verified": True}]
)
def test_who_was_not_created_stays_out(start: Start, provider: StandIn, claims: dict[str, Any]) -> None:
    admin = start()
    admin.api("POST", "/people", json={"name": "mai@example.org", "role": OPERATOR})
    provider.claims = claims
    with admin.anyone() as client:
        answer = go(client)
        assert answer.status_code == 401
        assert "Nobody has invited you" in answer.text
        assert client.get("/").status_code == 303


def test_another_subject_does_not_take_over_a_name(start: Start, provider: StandIn) -> None:
    admin = start()
    admin.api("POST", "/people", json={"name": "mai@example.org", "role": OWNER})
    with admin.anyone() as client:
        assert go(client).status_code == 303
    provider.claims = {**MAI, "sub": "somebody-else"}
    with admin.anyone() as client:
        assert go(client).status_code == 401


def test_one_who_is_shut_out_stays_out(start: Start) -> None:
    admin = start()
    made = admin.api("POST", "/people", json={"name": "mai@example.org", "role": VIEWER}).json()
    admin.api("PATCH", f"/people/{made['person']['id']}", json={"disabled": True}, headers={"If-Match": "*"})
    with admin.anyone() as client:
        assert "shut out" in go(client).text
        assert client.get("/").status_code == 303


def test_the_role_claim_creates_and_changes(start: Start, provider: StandIn) -> None:
    admin = start(role_claim="realm.roles", roles={"ops": OPERATOR})
    provider.claims = {**MAI, "realm": {"roles": ["staff", "ops", "viewer"]}}
    with admin.anyone() as client:
        assert go(client).status_code == 303
        assert role_of(admin, "mai@example.org") == OPERATOR, "the one that may most"
        provider.claims = {**MAI, "realm": {"roles": ["viewer"]}}
        with admin.anyone() as again:
            assert go(again).status_code == 303
        assert role_of(admin, "mai@example.org") == VIEWER
        assert client.get("/").status_code == 303, "the session with the other role is over"
    provider.claims = {**MAI, "realm": {"roles": ["staff"]}}
    with admin.anyone() as client:
        assert "no role" in go(client).text
    actions = [entry["action"] for entry in admin.api("GET", "/audit", params={"action": "person.*"}).json()["entries"]]
    assert actions == ["person.role", "person.create"]


def test_the_claim_does_not_demote_the_last_owner(start: Start, provider: StandIn) -> None:
    admin = start(role_claim="role")
    for role in (OWNER, VIEWER):
        provider.claims = {**MAI, "role": role}
        with admin.anyone() as client:
            assert go(client).status_code == 303
    assert role_of(admin, "mai@example.org") == OWNER


@pytest.mark.parametrize(
    "lies",
    [
        {"nonce": "another"},
        {"aud": "another-client"},
        {"aud": ["another-client"], "azp": CLIENT_ID},
        {"iss": "https://evil.example"},
        {"exp": int(time.time()) - 600},
        {"sub": None},
        {"key": "foreign"},
    ],
)
def test_a_token_that_is_not_ours_opens_nothing(start: Start, provider: StandIn, lies: dict[str, Any]) -> None:
    admin = start()
    admin.api("POST", "/people", json={"name": "mai@example.org", "role": OWNER})
    if lies.pop("key", ""):
        provider.foreign_key = new_key()
    provider.lies = lies
    with admin.anyone() as client:
        answer = go(client)
        assert answer.status_code == 401
        assert "Begin again" in answer.text
        assert client.get("/").status_code == 303


def test_a_callback_of_another_browser_opens_nothing(start: Start) -> None:
    admin = start()
    admin.api("POST", "/people", json={"name": "mai@example.org", "role": OWNER})
    with admin.anyone() as victim, admin.anyone() as attacker:
        to_provider = attacker.get("/oidc/sign-in")
        back = attacker.get(to_provider.headers["location"]).headers["location"]
        assert victim.get(back).status_code == 401
        assert victim.get("/").status_code == 303
        assert attacker.get(back).status_code == 303
        assert attacker.get(back).status_code == 401, "the same answer is good once"


def test_who_says_no_at_the_provider_is_told_so(start: Start, provider: StandIn) -> None:
    admin = start()
    provider.refuses = True
    with admin.anyone() as client:
        answer = go(client)
        assert (answer.status_code, "Begin again" in answer.text) == (401, True)


def test_a_provider_that_is_away_leaves_the_password(serve: Serve, bridge: Bridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    admin = serve(bridge.url, oidc=Oidc("http://127.0.0.1:9", CLIENT_ID, CLIENT_SECRET))
    with admin.anyone() as client:
        answer = client.get("/oidc/sign-in")
        assert answer.status_code == 502
        assert "does not answer" in answer.text
        assert 'name="password"' in answer.text


def test_without_a_provider_there_is_nothing(admin: Admin) -> None:
    with admin.anyone() as client:
        assert client.get("/oidc/sign-in").status_code == 404
        assert client.get("/oidc/callback?code=x&state=y").status_code == 404


GOOD = {
    "UPSTASH_REDIS_REST_TOKEN": "t",
    "STANCHION_ADMIN_OIDC_ISSUER": "https://id.example.org/realms/main",
    "STANCHION_ADMIN_OIDC_CLIENT_ID": "console",
    "STANCHION_ADMIN_OIDC_CLIENT_SECRET": "very-secret",
    "STANCHION_ADMIN_OIDC_ROLES": "cn=ops,dc=example=operator boss=owner",
}


def test_settings_of_a_provider() -> None:
    found = load(GOOD).oidc
    assert found
    assert found.roles == {"cn=ops,dc=example": "operator", "boss": "owner"}
    assert "very-secret" not in repr(found)
    assert load({"UPSTASH_REDIS_REST_TOKEN": "t"}).oidc is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ISSUER", "http://id.example.org"),
        ("ISSUER", "id.example.org"),
        ("CLIENT_ID", ""),
        ("CLIENT_SECRET", ""),
        ("ROLES", "ops=king"),
        ("ROLES", "=owner"),
    ],
)
def test_settings_of_a_provider_that_cannot_be(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"STANCHION_ADMIN_OIDC_{name}"):
        load({**GOOD, f"STANCHION_ADMIN_OIDC_{name}": value})
