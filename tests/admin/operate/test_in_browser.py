"""A sale driven in a real browser: sliders, two operators, undo, the schedule, a role that only looks; axe, phone and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from admin.access.permissions import VIEWER
from edge.core.moments import moment_text
from tests.admin.conftest import Admin
from tests.admin.looks import LAPTOP, PHONE, axe_text, chromium, enter, faults, picture, tab
from tests.admin.world import queue_json

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TOKYO = ZoneInfo("Asia/Tokyo")
PAGES = (
    "/", "/queues/sale", "/queues/sale?span=day", "/queues/sale/confirm-close", "/schedule", "/schedule/sale", "/schedule/drop",
    "/rehearsals/sale",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def axe() -> str:
    return axe_text()


@pytest.fixture
def sale(admin: Admin) -> Admin:
    """A sale with people in every state, two steps to come and one that is over."""
    admin.publish(
        queue_json("sale", name="Summer sale", admit_per_minute=60, max_active=30, closes_at="2091-01-01T00:00:00Z"),
        queue_json("drop", name="Sneaker drop"),
    )
    admin.start("sale")
    queue = admin.queues["sale"]
    admin.visitors.join(queue, 8, wants_in=True)
    admin.visitors.join(queue, 300, first=8)
    for days, body in ((2, {"changes": {"admit_per_minute": 240}}), (3, {"action": "pause"})):
        at = moment_text(int((admin.clock.unix_s() + days * 86_400) * 1000))
        assert admin.api("POST", "/queues/sale/schedule", json={"at": at, **body}).status_code == 201
    admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 90})
    admin.clock.ahead_s += 2
    return admin


@pytest.mark.parametrize(("size", "scheme"), [(LAPTOP, "light"), (PHONE, "dark")], ids=["laptop", "phone dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    sale: Admin, browser: Browser, axe: str, size: dict[str, int], scheme: Any
) -> None:
    with tab(browser, size=size, scheme=scheme) as page:
        enter(page, sale)
        for path in PAGES:
            page.goto(f"{sale.url}{path}")
            page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
            picture(page, f"operate{path.replace('/', '-').replace('?', '-')}-{scheme}")
            assert faults(page, axe) == [], path


def test_a_slider_and_a_number_are_one_and_say_when_the_line_empties(sale: Admin, browser: Browser) -> None:
    from playwright.sync_api import expect

    with tab(browser) as page:
        enter(page, sale)
        page.goto(f"{sale.url}/queues/sale")
        page.get_by_role("slider", name="Rate, roughly").fill("100")
        expect(page.get_by_role("textbox", name="Rate")).to_have_value("100")
        expect(page.locator("#say-rate")).to_contain_text("At this rate the line of")
        page.get_by_role("textbox", name="Rate").fill("150")
        expect(page.get_by_role("slider", name="Rate, roughly")).to_have_value("150")
        page.get_by_role("button", name="Set rate").click()
        expect(page.get_by_text("Rate: 90 → 150.")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_text("Taken back. Rate: 150 → 90.")).to_be_visible()


def test_the_later_of_two_operators_is_told(sale: Admin, browser: Browser) -> None:
    from playwright.sync_api import expect

    with tab(browser) as one, tab(browser) as other:
        for page in (one, other):
            enter(page, sale)
            page.goto(f"{sale.url}/queues/sale")
        one.get_by_role("textbox", name="Rate").fill("70")
        one.get_by_role("button", name="Set rate").click()
        expect(other.locator('[data-k="last-change-says"]')).to_contain_text("Rate: 90 → 70, by admin")
        other.get_by_role("textbox", name="Rate").fill("200")
        other.get_by_role("button", name="Set rate").click()
        expect(other.locator("#rate-error")).to_contain_text("Meanwhile admin changed it from 90 to 70")
        expect(other.get_by_role("textbox", name="Rate")).to_have_value("200")


def test_who_may_only_look_sees_why_nothing_can_be_pressed(sale: Admin, browser: Browser) -> None:
    from playwright.sync_api import expect

    sale.person("ken", VIEWER)
    with tab(browser) as page:
        enter(page, sale, "ken")
        page.goto(f"{sale.url}/queues/sale")
        expect(page.get_by_role("button", name="Pause")).to_be_disabled()
        expect(page.get_by_text("Your role may look at queues, not change them.")).to_be_visible()
        page.goto(f"{sale.url}/schedule/sale")
        expect(page.get_by_role("button", name="Schedule it")).to_be_disabled()


def test_a_step_is_scheduled_and_taken_back(sale: Admin, browser: Browser) -> None:
    from playwright.sync_api import expect

    with tab(browser, timezone_id="Asia/Tokyo") as page:
        enter(page, sale)
        page.goto(f"{sale.url}/schedule/drop")
        page.reload()
        expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
        page.get_by_label("What").select_option("close")
        at = datetime.fromtimestamp(sale.clock.unix_s() + 10 * 86_400, TOKYO).replace(second=0, microsecond=0)
        page.get_by_label("When").fill(at.strftime("%Y-%m-%dT%H:%M"))
        page.get_by_role("button", name="Schedule it").click()
        expect(page.get_by_text(at.strftime("%Y-%m-%d %H:%M JST")).first).to_be_visible()
        told = sale.api("GET", "/queues/drop/schedule").json()["to_come"][0]
        assert told["at"] == moment_text(int(at.timestamp() * 1000))
        page.get_by_role("button", name="Take back").click()
        expect(page.get_by_text("Nothing is scheduled for this queue.")).to_be_visible()


def test_the_day_is_one_press_away(sale: Admin, browser: Browser) -> None:
    from playwright.sync_api import expect

    with tab(browser) as page:
        enter(page, sale)
        page.goto(f"{sale.url}/queues/sale")
        page.get_by_role("link", name="Day").click()
        expect(page.get_by_role("link", name="Day")).to_have_attribute("aria-current", "true")
        expect(page.locator('[data-k="waiting"]').last).to_have_text("278")
        expect(page.get_by_role("rowheader", name="Got a place")).to_be_visible()


def test_in_japanese_every_word_of_the_queue_is(sale: Admin, browser: Browser) -> None:
    with tab(browser, locale="ja-JP", timezone_id="Asia/Tokyo") as page:
        enter(page, sale)
        page.goto(f"{sale.url}/queues/sale")
        page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        picture(page, "operate-queues-sale-ja")
        text = page.locator("main").inner_text()
        page.goto(f"{sale.url}/schedule/sale")
        text += page.locator("main").inner_text()
        allowed = {"Summer", "sale", "Asia", "Tokyo", "token", "admin", "JST", "ID"}
        left = {word for word in re.findall(r"[A-Za-z]{2,}", text) if word not in allowed}
        assert left == set()
