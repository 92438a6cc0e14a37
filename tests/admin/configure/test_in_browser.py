"""The settings in a real browser: scripts, keyboard, phone width, dark mode, and axe without a violation on every page.

STANCHION_SCREENSHOTS names a folder for pictures of the documentation.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from edge.core.config import CONFIG_KEY, load_config
from tests.admin import looks
from tests.admin.conftest import Admin
from tests.admin.looks import LAPTOP, PHONE, WAIT_MS
from tests.admin.test_browser import Faults, sign_in
from tests.admin.world import queue_json

_AXE = """() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(
  found => found.violations.map(v => [v.id, v.help, ...v.nodes.map(n => n.html.slice(0, 160))]))"""
LANES = [{"name": "all"}, {"name": "vip", "invite": True, "share": 2}]
HOME = "/configuration"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with looks.chromium() as started:
        yield started


@pytest.fixture
def shop(admin: Admin) -> Admin:
    member = {"routes": [{"path": "/concert/*"}]}
    world = {"id": "world", "name": "World tour", "queues": ["jp", "us"], "quotas": {"jp": 2}, "max_active": 400}
    admin.publish(
        queue_json("sale", name="Summer sale", max_active=100, lanes=LANES, opens_at="2026-12-01T10:00:00Z"),
        {"id": "jp", "name": "Tour, Japan", "countries": ["JP"], **member},
        {"id": "us", "name": "Tour, America", "countries": ["US", "CA"], **member},
        groups=[world],
    )
    return admin


@pytest.fixture
def faults() -> Iterator[Faults]:
    found = Faults()
    yield found
    assert [text for text in found if "Content Security Policy" in text or "Error:" in text] == []


def opened(chromium: Browser, admin: Admin, faults: Faults, path: str = HOME, **more: Any) -> Page:
    context = chromium.new_context(**({"viewport": LAPTOP} | more))
    context.set_default_timeout(WAIT_MS)
    page = faults.watch(context.new_page())
    sign_in(page, admin, path)
    return page


def published(admin: Admin) -> Any:
    return load_config(admin.kv.get(CONFIG_KEY) or "")


def test_a_queue_is_made_and_changed_with_scripts(chromium: Browser, shop: Admin, faults: Faults) -> None:
    page = opened(chromium, shop, faults)
    page.get_by_role("link", name="New queue").click()
    page.get_by_label("Id", exact=True).fill("drop")
    page.get_by_label("Name", exact=True).fill("The drop")
    for number in (1, 2, 3, 4):  # a row more than there are: the table grows
        page.get_by_label(f"Path {number}", exact=True).fill(f"/drop-{number}/*")
    page.get_by_label("Call by hand").check()
    page.locator("#part-country summary").click()
    page.get_by_label("Find a country").fill("jap")
    expect(page.get_by_role("checkbox", name="Germany")).to_be_hidden()
    page.get_by_role("checkbox", name="Japan").check()
    page.get_by_role("button", name="Save", exact=True).last.click()
    expect(page.get_by_text("Saved, and in force: Queue drop is new.")).to_be_visible()
    drop = published(shop).queue("drop")
    assert [route.path for route in drop.routes] == [f"/drop-{number}/*" for number in (1, 2, 3, 4)]
    assert (drop.countries, drop.manual) == (("JP",), True)
    # Enter in a field saves, as people expect; nothing else changed.
    page.get_by_label("Name", exact=True).fill("The big drop")
    page.get_by_label("Name", exact=True).press("Enter")
    expect(page.get_by_text("Queue drop, Name: The drop → The big drop.")).to_be_visible()
    page.context.close()


def test_two_operators_at_once(chromium: Browser, shop: Admin, faults: Faults) -> None:
    path = f"{HOME}/queues/sale"
    first, second = opened(chromium, shop, faults, path), opened(chromium, shop, faults, path)
    first.get_by_label("Admissions a minute").fill("90")
    first.get_by_role("button", name="Save", exact=True).last.click()
    expect(first.get_by_text("Admissions a minute: 60 → 90")).to_be_visible()
    second.get_by_label("Admissions a minute").fill("120")
    second.get_by_label("People inside").fill("50")
    second.get_by_role("button", name="Save", exact=True).last.click()
    expect(second.get_by_text("Meanwhile somebody else published:")).to_be_visible()
    expect(second.get_by_label("Admissions a minute")).to_have_value("120")
    second.get_by_role("button", name="Save", exact=True).last.click()
    expect(second.get_by_text("Admissions a minute: 90 → 120")).to_be_visible()
    assert (published(shop).queue("sale").admit_per_minute, published(shop).queue("sale").max_active) == (120, 50)
    for page in (first, second):
        page.context.close()


def test_json_keeps_its_line_numbers(chromium: Browser, shop: Admin, faults: Faults) -> None:
    page = opened(chromium, shop, faults, f"{HOME}/json")
    box = page.get_by_role("textbox", name="The configuration as JSON")
    box.fill('{\n "queues": [\n  {"id": "x"}\n ]\n}')
    expect(page.locator(".code-box pre")).to_have_text("1\n2\n3\n4\n5")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert").get_by_text("line 3").first).to_be_visible()
    page.context.close()


PAGES = {
    "overview": "", "queue": "/queues/sale", "group": "/groups/world",
    "remove": "/queues/sale/remove", "json": "/json", "history": "/history", "version": "/history/1",
    "explain": "/explain?url=https%3A%2F%2Fshop.example.org%2Fconcert%2F1&country=JP", "transfer": "/transfer",
}  # fmt: skip


AXE_ON_A_PHONE = ("overview", "group", "json", "explain")  # dark; what differs there is colours and width


@pytest.mark.parametrize("look", ["laptop", "phone"])
def test_every_page_passes_axe_and_fits(chromium: Browser, shop: Admin, faults: Faults, look: str) -> None:
    axe = looks.axe_text()
    size, scheme = (LAPTOP, "light") if look == "laptop" else (PHONE, "dark")
    page = opened(chromium, shop, faults, viewport=size, color_scheme=scheme)
    pictures, found = os.environ.get("STANCHION_SCREENSHOTS"), {}
    for name, path in PAGES.items():
        answer = page.goto(f"{shop.url}{HOME}{path}")
        assert answer
        assert answer.status == 200, name
        page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        if look == "laptop" or name in AXE_ON_A_PHONE:
            page.evaluate(axe)
            if violations := page.evaluate(_AXE):
                found[name] = violations
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], name
        if pictures:
            page.screenshot(path=str(Path(pictures) / f"settings-{name}-{look}.png"), full_page=True)
    page.context.close()
    assert found == {}
