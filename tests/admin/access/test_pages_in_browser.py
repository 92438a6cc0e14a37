"""People, tokens, one's account, the audit log and the ways in, in a real browser: flows, axe, phone and dark, keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyotp
import pytest

from admin.access.permissions import OPERATOR, OWNER, VIEWER
from tests.admin.conftest import Admin
from tests.admin.looks import LAPTOP, PHONE, axe_text, chromium, enter, faults, picture, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PASSWORD = "a password of the first one"
PAGES = ("/", "/people", "/people/{id}", "/tokens", "/audit", "/account", "/nothing")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def axe() -> str:
    return axe_text()


@pytest.fixture
def peopled(admin: Admin) -> tuple[Admin, str]:
    """Some people, tokens and entries; and the id of one of them."""
    mai = admin.person("mai@example.org", OWNER)
    admin.person("ken", OPERATOR)
    out = admin.person("yuki", VIEWER)
    admin.api("PATCH", f"/people/{out.id}", json={"disabled": True}, headers={"If-Match": "*"})
    admin.api("POST", "/people", json={"name": "new.person@example.org", "role": "marketer"})
    admin.api("POST", "/tokens", json={"name": "dashboards", "scopes": ["see"], "days": 90})
    admin.api("POST", "/tokens", json={"name": "shop checkout", "scopes": ["see", "operate"]})
    admin.start()
    admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 90})
    admin.api("POST", "/queues/sale/pause")
    return admin, mai.id


@pytest.mark.parametrize(
    ("size", "scheme", "language"), [(LAPTOP, "light", "en"), (PHONE, "dark", "en"), (LAPTOP, "dark", "ja")]
)
def test_every_page_under_axe(
    peopled: tuple[Admin, str], browser: Browser, axe: str, size: dict[str, int], scheme: Any, language: str
) -> None:
    admin, user_id = peopled
    found: dict[str, Any] = {}
    name = f"{size['width']}-{scheme}-{language}"
    with tab(browser, size=size, scheme=scheme, locale=language) as page:
        page.goto(f"{admin.url}/sign-in")
        assert page.evaluate("document.documentElement.lang") == language
        found["/sign-in"] = faults(page, axe)
        picture(page, f"{name}-sign-in")
        enter(page, admin, "mai@example.org", "correct horse battery")
        for path in PAGES:
            page.goto(admin.url + path.replace("{id}", user_id))
            found[path] = faults(page, axe)
            picture(page, f"{name}-{path.strip('/').replace('/{id}', '-one') or 'queues'}")
    assert {path: each for path, each in found.items() if each} == {}


def test_from_the_first_link_to_a_second_factor_by_keyboard(admin: Admin, browser: Browser, axe: str) -> None:
    with tab(browser) as page:
        page.goto(f"{admin.url}/first/{admin.app.state.desk.doors.first_link()}")
        assert faults(page, axe) == []
        picture(page, "first")
        page.keyboard.type("mai")
        for text in (PASSWORD, PASSWORD):
            page.keyboard.press("Tab")
            page.keyboard.type(text)
        page.keyboard.press("Enter")
        page.get_by_text("You are the first owner").wait_for()
        page.goto(f"{admin.url}/account")
        page.locator("#totp-password").fill(PASSWORD)
        page.get_by_role("button", name="Set up an authenticator app").click()
        assert faults(page, axe) == []
        picture(page, "totp")
        key = re.sub(r"\s", "", page.locator(".key code").inner_text())
        page.get_by_role("textbox", name="Code").fill(pyotp.TOTP(key).at(int(admin.clock.unix_s())))
        page.get_by_role("button", name="Ask for codes").click()
        page.get_by_role("heading", name="Recovery codes").wait_for()
        assert faults(page, axe) == []
        picture(page, "codes")
        code = page.locator(".codes code").first.inner_text()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Name").fill("mai")
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Code of your device").wait_for()
        assert faults(page, axe) == []
        picture(page, "second-factor")
        page.keyboard.type(code)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{admin.url}/")


def test_an_invitation_and_a_token_are_shown_once(admin: Admin, browser: Browser, axe: str) -> None:
    admin.person("mai", OWNER)
    with tab(browser) as page, tab(browser, size=PHONE) as theirs:
        enter(page, admin, "mai", "correct horse battery")
        page.get_by_role("link", name="People").first.click()
        page.get_by_label("Name").fill("ken")
        page.get_by_role("radio", name="operator").check()
        page.get_by_role("button", name="Make a link").click()
        link = page.get_by_label("Link for ken").input_value()
        assert faults(page, axe) == []
        picture(page, "invited")
        page.reload()
        theirs.goto(link)
        assert faults(theirs, axe) == []
        picture(theirs, "password")
        theirs.get_by_label("New password").fill(PASSWORD)
        theirs.get_by_label("Again").fill(PASSWORD)
        theirs.get_by_role("button", name="Set the password").click()
        theirs.wait_for_url(f"{admin.url}/")
        rooms = theirs.locator("nav.rooms a").all_inner_texts()
        assert "People" not in rooms, "what a role may not see is not shown"
        assert "Audit" in rooms
        page.goto(f"{admin.url}/tokens")
        page.get_by_label("Name").fill("shop")
        page.get_by_role("button", name="Make the token").click()
        assert page.get_by_role("textbox", name="Token shop").input_value().startswith("stn_")
        assert faults(page, axe) == []
        picture(page, "token")
        page.goto(f"{admin.url}/tokens")
        assert "stn_" not in page.content()


def test_the_language_is_switched_where_one_stands(admin: Admin, browser: Browser) -> None:
    with tab(browser) as page:
        enter(page, admin)
        page.goto(f"{admin.url}/audit")
        page.get_by_role("button", name="日本語").click()
        page.wait_for_url(f"{admin.url}/audit")
        assert page.get_by_role("heading", name="監査ログ").is_visible()
        page.get_by_role("button", name="English").click()
        assert page.get_by_role("heading", name="Audit log").is_visible()


def test_times_are_in_the_zone_of_the_account(admin: Admin, browser: Browser) -> None:
    admin.person("mai", OWNER)
    with tab(browser, timezone_id="Europe/Berlin") as page:
        enter(page, admin, "mai", "correct horse battery")
        page.goto(f"{admin.url}/account")
        moment = page.locator(".sessions time")
        berlin = moment.inner_text()
        page.get_by_label("Time zone").fill("Asia/Tokyo")
        page.get_by_role("button", name="Keep").click()
        page.get_by_text("Kept.").wait_for()
        tokyo = moment.inner_text()
        apart_h = (int(tokyo[11:13]) - int(berlin[11:13])) % 24
        assert apart_h in (7, 8)
        assert (moment.get_attribute("title") or "").endswith("UTC")
