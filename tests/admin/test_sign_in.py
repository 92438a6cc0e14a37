"""Signing in: who comes in, for how long, and what cannot be tricked."""

from __future__ import annotations

import re
from dataclasses import replace

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.access.forms import HOME, safe_next
from admin.access.sessions import SESSION_IDLE_S
from admin.throttle import NETWORK_ATTEMPTS
from tests.admin.conftest import PASSWORD, Admin, Browser, Serve, sign_in
from tests.admin.world import Bridge, queue_json


def test_sign_in_and_out(admin: Admin) -> None:
    with admin.anyone() as client:
        assert client.get("/").status_code == 303
        assert sign_in(client).headers["location"] == "/"
        assert client.get("/").status_code == 200
        copy = dict(client.cookies)
        token = Browser(client).fields("/", "/sign-out")
        assert client.post("/sign-out", data=token).headers["location"] == "/sign-in"
        assert client.get("/").status_code == 303
        client.cookies.update(copy)
        assert client.get("/").status_code == 303, "a copy of the cookie outlived the sign-out"


@pytest.mark.parametrize(
    ("user", "password"), [("admin", "wrong"), ("root", PASSWORD), ("", ""), ("admin", PASSWORD + " "), ("ADMIN", PASSWORD)]
)
def test_a_wrong_name_or_password(admin: Admin, user: str, password: str) -> None:
    with admin.anyone() as client:
        answer = sign_in(client, password, user=user)
        assert answer.status_code == 401
        assert "do not fit" in answer.text
        assert f'value="{user}"' in answer.text
        assert client.get("/").status_code == 303


def test_the_session_is_another_one_after_signing_in(admin: Admin) -> None:
    with admin.anyone() as client:
        client.get("/sign-in")
        before = client.cookies["stanchion_admin"]
        sign_in(client)
        assert client.cookies["stanchion_admin"] != before
        token = re.search(r'name="csrf" value="([^"]+)"', client.get("/").text)
        client.cookies.clear()
        client.cookies.set("stanchion_admin", before)
        assert token
        assert client.post("/sign-out", data={"csrf": token[1]}).status_code == 403


def test_cookie_flags_over_http(admin: Admin) -> None:
    with admin.anyone() as client:
        cookie = sign_in(client).headers["set-cookie"].lower()
    assert cookie.startswith("stanchion_admin=")
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "; secure" not in cookie


def test_cookie_flags_over_https_behind_a_trusted_proxy(serve: Serve, bridge: Bridge) -> None:
    admin = serve(bridge.url, trusted_proxies=("127.0.0.1",))
    admin.publish(queue_json("sale"))
    with httpx.Client(base_url=admin.url, trust_env=False, headers={"X-Forwarded-Proto": "https"}) as client:
        answer = client.get("/sign-in")
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("__host-stanchion_admin=")
    assert "; secure" in cookie
    assert "max-age" in answer.headers["strict-transport-security"]


def test_forwarding_headers_of_others_are_not_believed(admin: Admin) -> None:
    with admin.anyone() as client:
        answer = client.get("/sign-in", headers={"X-Forwarded-Proto": "https"})
    assert "; secure" not in answer.headers["set-cookie"].lower()


def test_a_session_ends_after_eight_idle_hours(admin: Admin) -> None:
    with admin.anyone() as client:
        sign_in(client)
        admin.clock.ahead_s += SESSION_IDLE_S - 60
        assert client.get("/").status_code == 200
        admin.clock.ahead_s += SESSION_IDLE_S - 60
        assert client.get("/").status_code == 200, "the page before was a sign of life"
        admin.clock.ahead_s += SESSION_IDLE_S + 60
        assert client.get("/").status_code == 303


def test_polling_is_no_sign_of_life(admin: Admin) -> None:
    with admin.anyone() as client:
        sign_in(client)
        for _ in range(3):
            admin.clock.ahead_s += SESSION_IDLE_S / 2 - 60
            status = client.get("/live").status_code
        assert status == 401


def test_a_new_password_ends_old_sessions(admin: Admin) -> None:
    with admin.anyone() as client:
        sign_in(client)
        changed = replace(admin.credentials, password_hash=admin.credentials.password_hash + "x")
        assert changed.fingerprint != admin.credentials.fingerprint
        admin.app.state.desk.sessions._fingerprint = changed.fingerprint
        assert client.get("/").status_code == 303


@pytest.mark.parametrize("cookie", ["", "null", "e30=", "e30=.abc.def", "\u00e4", "x" * 4000])
def test_mangled_cookies_are_nobody(admin: Admin, cookie: str) -> None:
    with admin.anyone() as client:
        answer = client.get("/", headers=[(b"Cookie", f"stanchion_admin={cookie}".encode())])
        assert answer.status_code == 303


def test_guessing_is_slowed_down(admin: Admin) -> None:
    with admin.anyone() as client:
        for _ in range(NETWORK_ATTEMPTS):
            assert sign_in(client, "wrong").status_code == 401
        held = sign_in(client)
        assert held.status_code == 429
        assert "Too many attempts" in held.text
        admin.clock.ahead_s += int(held.headers["retry-after"]) + 1
        assert sign_in(client).status_code == 303


@pytest.mark.parametrize("target", ["/queues/sale", "/queues/sale/limits", "/?page=2&q=sum%20mer", "/"])
def test_next_leads_back(admin: Admin, target: str) -> None:
    with admin.anyone() as client:
        first = client.get(target)
        page = client.get(first.headers["location"]).text.replace("&amp;", "&")
        found = re.search(r'name="next" value="([^"]+)"', page)
        assert found
        assert sign_in(client, next=found[1]).headers["location"] == target


UNSAFE = ["//evil.example", "https://evil.example", "/\\evil.example", "\\/evil", "javascript:alert(1)", "/x//evil", "", "x",
          "/a\nb", "/%0d%0aSet-Cookie:x", " /", "/@evil", "/" + "a" * 600]  # fmt: skip


@pytest.mark.parametrize("target", UNSAFE)
def test_next_never_leads_away(admin: Admin, target: str) -> None:
    with admin.anyone() as client:
        location = sign_in(client, next=target).headers["location"]
    assert location == HOME
    assert not location.startswith(("//", "/\\"))


@given(st.text(max_size=40) | st.from_regex(r"[/\\.:a-z%@?#\n]{0,12}", fullmatch=True))
def test_next_is_a_path_of_this_site(target: str) -> None:
    found = safe_next(target)
    url = httpx.URL("http://console.example/").join(found)
    assert url.host == "console.example"
    assert not found.startswith("//")
    assert "\\" not in found
    assert found.isprintable()
