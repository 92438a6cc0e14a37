"""The ways in: the first owner's link, links for passwords, second factors, and one's own account."""

from __future__ import annotations

import re
import time
from typing import Any

import pyotp
import pytest

from admin.access import totp
from admin.access.permissions import OWNER, VIEWER
from tests.admin.conftest import PASSWORD, Admin, Browser, sign_in, text_of

NEW = "another good password"


def path_of(link: str, admin: Admin) -> str:
    assert link.startswith(admin.url)
    return link.removeprefix(admin.url)


def fields(client: Any, path: str) -> dict[str, str]:
    token = re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)
    assert token
    return {"csrf": token[1]}


def send(client: Any, path: str, **values: str) -> Any:
    return client.post(path, data={**fields(client, path), **values})


def test_the_first_owner_is_made_by_a_link_that_is_good_once(admin: Admin) -> None:
    path = f"/first/{admin.app.state.desk.doors.first_link()}"
    with admin.anyone() as client:
        assert "Make the first owner" in client.get(path).text
        short = send(client, path, user="mai", password="short", again="short")
        assert (short.status_code, "12 to 1000 characters" in short.text) == (422, True)
        assert 'value="mai"' in short.text, "what was typed is lost"
        assert send(client, path, user="mai", password=NEW, again=PASSWORD).status_code == 422
        assert send(client, path, user="admin", password=NEW, again=NEW).status_code == 422
        assert send(client, path, user="mai", password=NEW, again=NEW).status_code == 303
        assert "You are the first owner" in client.get("/").text
        assert client.get("/people").status_code == 200
    with admin.anyone() as other:
        assert other.get(path).status_code == 404
        assert other.post(path, data={**fields(other, "/sign-in"), "user": "x", "password": NEW, "again": NEW}).status_code == 404
        assert sign_in(other, NEW, user="mai").status_code == 303
    found = admin.api("GET", "/audit", params={"action": "person.create"}).json()["entries"]
    assert [(entry["who"], entry["target"]) for entry in found] == [("mai", "person:mai")]


def test_a_newer_first_link_voids_the_one_before(admin: Admin) -> None:
    old, new = (admin.app.state.desk.doors.first_link() for _ in range(2))
    with admin.anyone() as client:
        assert client.get(f"/first/{old}").status_code == 404
        assert client.get(f"/first/{new}").status_code == 200
        admin.clock.ahead_s += 8 * 86_400
        assert client.get(f"/first/{new}").status_code == 404


def test_an_invited_person_chooses_a_password(admin: Admin) -> None:
    made = admin.api("POST", "/people", json={"name": "mai", "role": VIEWER}).json()
    path = path_of(made["link"], admin)
    with admin.anyone() as client:
        assert sign_in(client, "", user="mai").status_code == 401, "no password is no empty password"
        assert send(client, path, password=NEW, again="differs").status_code == 422
        assert send(client, path, password=NEW, again=NEW).status_code == 303
        assert client.get("/").status_code == 200
        assert client.get(path).status_code == 404
    code = path.rpartition("/")[2]
    stored = admin.settings.admin_dir / "admin.db"
    assert code.encode() not in stored.read_bytes() + (stored.parent / "admin.db-wal").read_bytes()


def test_a_link_for_a_password_ends_sessions_and_expires(admin: Admin) -> None:
    person = admin.person("mai", VIEWER)
    with admin.anyone() as client, admin.anyone() as other:
        sign_in(client, user="mai")
        first, second = (admin.api("POST", f"/people/{person.id}/link", json={}).json()["link"] for _ in range(2))
        assert other.get(path_of(first, admin)).status_code == 404, "a newer one was made"
        assert send(other, path_of(second, admin), password=NEW, again=NEW).status_code == 303
        assert client.get("/").status_code == 303
        late = admin.api("POST", f"/people/{person.id}/link", json={}).json()["link"]
        admin.clock.ahead_s += 49 * 3600
        assert other.get(path_of(late, admin)).status_code == 404


def test_one_who_was_shut_out_cannot_use_a_link(admin: Admin) -> None:
    made = admin.api("POST", "/people", json={"name": "mai", "role": VIEWER}).json()
    admin.api("PATCH", f"/people/{made['person']['id']}", json={"disabled": True}, headers={"If-Match": "*"})
    with admin.anyone() as client:
        assert client.get(path_of(made["link"], admin)).status_code == 404


def test_a_second_factor_from_setting_up_to_losing_the_device(admin: Admin) -> None:
    person = admin.person("mai", OWNER)

    def code(steps: int = 0) -> str:
        return pyotp.TOTP(secret).at(int(admin.clock.unix_s()) + 30 * steps)

    with admin.anyone() as client, admin.anyone() as other:
        sign_in(client, user="mai")
        sign_in(other, user="mai")
        assert send(client, "/account", password="wrong").status_code == 405
        form = fields(client, "/account")
        assert client.post("/account/totp", data={**form, "password": "wrong"}).status_code == 422
        page = client.post("/account/totp", data={**form, "password": PASSWORD})
        found = re.search(r"<code>([A-Z2-7 ]+)</code>", page.text)
        assert found
        assert "<svg" in page.text
        secret = found[1].replace(" ", "")
        wrong = client.post("/account/totp/confirm", data={**form, "code": "000000"})
        assert (wrong.status_code, secret[:4] in wrong.text) == (422, True)
        done = client.post("/account/totp/confirm", data={**form, "code": code()})
        codes = re.findall(r"<li><code>([a-z0-9-]+)</code>", done.text)
        assert len(codes) == 10
        assert other.get("/").status_code == 303, "other browsers are signed out"

        assert sign_in(other, user="mai").headers["location"] == "/sign-in/code"
        assert other.get("/").status_code == 303, "the password alone opens nothing"
        assert send(other, "/sign-in/code", code=code()).status_code == 401, "that code was used"
        admin.clock.ahead_s += 30
        assert send(other, "/sign-in/code", code=code()).status_code == 303
        assert other.get("/").status_code == 200

        with admin.anyone() as third:
            sign_in(third, user="mai")
            assert send(third, "/sign-in/code", code=codes[0].upper()).status_code == 303
            assert third.get("/").status_code == 200
        with admin.anyone() as fourth:
            sign_in(fourth, user="mai")
            assert send(fourth, "/sign-in/code", code=codes[0]).status_code == 401, "a recovery code is good once"
        assert "9 recovery codes are left" in text_of(client.get("/account").text)
        link = admin.api("POST", f"/people/{person.id}/link", json={"drop_second_factor": True}).json()["link"]
        assert send(client, path_of(link, admin), password=NEW, again=NEW).status_code == 303
        assert client.get("/").status_code == 200


def test_the_code_step_wants_the_password_first_and_soon(admin: Admin) -> None:
    admin.person("mai", VIEWER)
    with admin.anyone() as client:
        assert client.get("/sign-in/code").status_code == 303
        answer = client.post("/sign-in/code", data={**fields(client, "/sign-in"), "code": "123456"})
        assert answer.headers["location"] == "/sign-in"


@pytest.mark.parametrize("code", ["", "12345", "1234567", "abcdef", "١٢٣٤٥٦", "123456\n1"])
def test_codes_of_another_shape_are_none(code: str) -> None:
    assert totp.step_of(totp.new_secret(), code, time.time()) is None
    assert totp.step_of("", "123456", time.time()) is None


def test_a_password_is_changed_by_who_knows_it(admin: Admin) -> None:
    admin.person("mai", VIEWER)
    with admin.anyone() as client, admin.anyone() as other:
        sign_in(client, user="mai")
        sign_in(other, user="mai")
        form = fields(client, "/account")
        for values in (
            {"password": "wrong", "new": NEW, "again": NEW},
            {"password": PASSWORD, "new": "short", "again": "short"},
            {"password": PASSWORD, "new": NEW, "again": "x"},
        ):
            assert client.post("/account/password", data={**form, **values}).status_code == 422
        assert client.post("/account/password", data={**form, "password": PASSWORD, "new": NEW, "again": NEW}).status_code == 303
        assert client.get("/").status_code == 200
        assert other.get("/").status_code == 303
        assert sign_in(other, user="mai").status_code == 401
        assert sign_in(other, NEW, user="mai").status_code == 303


def test_one_signs_oneself_out_elsewhere(admin: Admin) -> None:
    admin.person("mai", VIEWER)
    with admin.anyone() as client, admin.anyone() as other:
        sign_in(client, user="mai")
        sign_in(other, user="mai")
        html = client.get("/account").text
        found = re.findall(r'name="session" value="([0-9a-f]+)"', html)
        assert len(found) == 1
        client.post("/account/end-session", data={**fields(client, "/account"), "session": found[0]})
        assert other.get("/").status_code == 303
        assert client.get("/").status_code == 200


def test_nobody_ends_the_session_of_another(admin: Admin) -> None:
    admin.person("mai", VIEWER)
    admin.person("ken", VIEWER)
    with admin.anyone() as client, admin.anyone() as other:
        sign_in(client, user="mai")
        sign_in(other, user="ken")
        mine = admin.app.state.desk.db.run_now(lambda session: session.connection().exec_driver_sql(
            "SELECT id_sha256 FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.name = 'ken'").scalar_one())  # fmt: skip
        client.post("/account/end-session", data={**fields(client, "/account"), "session": mine})
        assert other.get("/").status_code == 200


def test_the_language_and_the_zone_are_kept(admin: Admin) -> None:
    admin.person("mai", VIEWER)
    with admin.anyone() as client:
        assert '<html lang="en">' in client.get("/sign-in").text
        assert '<html lang="ja">' in client.get("/sign-in", headers={"Accept-Language": "ja,en;q=0.5"}).text
        form = fields(client, "/sign-in")
        assert client.post("/language", data={**form, "language": "ja", "back": "/sign-in"}).headers["location"] == "/sign-in"
        assert "サインイン" in client.get("/sign-in").text
        assert client.post("/language", data={**form, "language": "xx"}).status_code == 422
        assert client.post("/language", data={**form, "language": "en", "back": "//evil.example"}).headers["location"] == "/"
        sign_in(client, user="mai")
        form = fields(client, "/account")
        assert client.post("/account/preferences", data={**form, "language": "ja", "zone": "Mars/Base"}).status_code == 422
        assert client.post("/account/preferences", data={**form, "language": "ja", "zone": "Asia/Tokyo"}).status_code == 303
    with admin.anyone() as elsewhere:
        sign_in(elsewhere, user="mai")
        assert '<html lang="ja" data-zone="Asia/Tokyo">' in elsewhere.get("/account").text


def test_people_and_tokens_in_the_console(admin: Admin) -> None:
    with admin.as_role(OWNER) as browser:
        assert isinstance(browser, Browser)
        made = browser.send("/people", "/people", name="ken", role="operator")
        link = re.search(r'value="(http[^"]+/password/[^"]+)"', made.text)
        assert link
        again = browser.send("/people", "/people", name="ken", role="viewer")
        assert (again.status_code, "names are not given twice" in again.text, 'value="ken"' in again.text) == (422, True, True)
        page = re.search(r'href="(/people/[0-9a-f]+)">ken<', browser.get("/people"))
        assert page
        path = page[1]
        assert browser.send(path, f"{path}/role", role="viewer").status_code == 303
        assert "ken is viewer now" in browser.get(path)
        stale = {**browser.fields(path, f"{path}/role"), "role": "marketer", "revision": "1"}
        assert browser.client.post(f"{path}/role", data=stale).status_code == 409
        assert browser.send(path, f"{path}/disable").status_code == 303
        assert "shut out" in browser.get(path)
        mine = re.search(r'href="(/people/[0-9a-f]+)">some-owner<', browser.get("/people"))
        assert mine
        last = browser.send(mine[1], f"{mine[1]}/disable")
        assert (last.status_code, "last owner" in last.text) == (409, True)

        token = browser.send("/tokens", "/tokens", name="shop", days="30", **{"scope-see": "1", "scope-operate": "1"})
        secret = re.search(r'value="(stn_[^"]+)"', token.text)
        assert secret
        assert admin.api("GET", "/me", token=secret[1]).json()["scopes"] == ["operate", "see"]
        assert secret[1] not in browser.get("/tokens")
        ending = re.search(r'action="(/tokens/[0-9a-f]+/end)"', browser.get("/tokens"))
        assert ending
        browser.send("/tokens", ending[1])
        assert admin.api("GET", "/me", token=secret[1]).status_code == 401

        log = browser.get("/audit?action=person.*")
        assert "person.disable" in text_of(log)
        assert "token.create" not in text_of(log)
        assert browser.client.get("/audit?since=yesterday").status_code == 422
        lines = browser.get("/audit/export?action=token.*").splitlines()
        assert len(lines) == 2


def test_the_owner_by_setting_has_no_account_to_change(admin: Admin) -> None:
    with admin.anyone() as client:
        sign_in(client)
        assert "a setting of the app" in client.get("/account").text
        values = {"password": PASSWORD, "new": NEW, "again": NEW}
        refused = client.post("/account/password", data={**fields(client, "/account"), **values})
        assert refused.status_code == 422
