"""The studio in a real browser: what is typed becomes draft and page, and what is published is what visitors get."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from tests.admin import looks
from tests.admin.conftest import Admin
from tests.admin.looks import LAPTOP, PHONE, WAIT_MS
from tests.admin.test_browser import sign_in
from tests.admin.world import queue_json

SHOTS = os.environ.get("STANCHION_SCREENSHOTS")
expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with looks.chromium() as started:
        yield started


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    made = chromium.new_context(viewport=LAPTOP)  # type: ignore[arg-type]
    made.set_default_timeout(WAIT_MS)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, admin: Admin) -> Page:
    admin.publish(queue_json("sale", name="Summer sale", page="shop"))
    page = context.new_page()
    sign_in(page, admin, "/pages")
    expect(page.get_by_role("heading", name="Pages", exact=True)).to_be_visible()
    return page


def shown(page: Page) -> FrameLocator:
    return page.frame_locator("#stage-frame")


def no_violations(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


def test_from_a_colour_to_what_visitors_get_and_back(page: Page, admin: Admin) -> None:
    shoot(page, "studio-brands")
    no_violations(page)
    page.get_by_role("link", name="Bodega").click()
    expect(shown(page).locator("h1").first).to_contain_text("in line")
    page.get_by_label("Name", exact=True).fill("Bodega Norte")
    expect(shown(page).locator("body")).to_contain_text("Bodega Norte")
    expect(page.locator("#draft-state")).to_contain_text("Draft, saved")
    shoot(page, "studio")
    no_violations(page)

    # A fault is told at its field, and the page that fitted last stays.
    light = page.get_by_role("group", name="Light").get_by_role("textbox", name="Brand", exact=True)
    light.fill("#12")
    expect(page.locator('[data-error="light.brand"]')).to_contain_text("is no colour")
    expect(shown(page).locator("body")).to_contain_text("Bodega Norte")
    no_violations(page)
    light.fill("#00695c")
    expect(page.locator('[data-error="light.brand"]')).to_be_hidden()

    page.get_by_label("State").select_option("called")
    expect(shown(page).get_by_role("link", name="Start shopping")).to_be_visible()
    page.locator("#switches [name=language]").select_option("ja")
    expect(shown(page).locator("html")).to_have_attribute("lang", "ja")
    page.get_by_label("Width").select_option("320")
    expect(page.locator("#stage-frame")).to_have_css("width", "320px")

    for language in ("Deutsch", "English"):
        page.get_by_label(language, exact=True).check()
    expect(page.locator("#saved")).to_have_text("Saved.")
    page.reload()
    expect(page.get_by_label("Deutsch", exact=True)).to_be_checked()
    page.get_by_role("link", name="Publish…").click()
    expect(page.get_by_role("row", name="light.brand #d6006c #00695c")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Queues that show it: sale.")
    no_violations(page)
    shoot(page, "studio-publish")
    page.get_by_label("What changed").fill("New name")
    page.get_by_role("button", name="Publish").click(timeout=60_000)
    expect(page.locator(".banner.good")).to_contain_text("Version 1 is in force, in 2 languages.")
    assert "Bodega Norte" in (admin.kv.get("pages/shop/1/de/waiting.html") or "")

    page.get_by_role("link", name="History").click()
    row = page.get_by_role("row", name=re.compile("New name"))
    expect(row).to_contain_text("in force")
    no_violations(page)
    row.get_by_role("link", name="Changes").click()
    expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    no_violations(page)


def test_words_and_source(page: Page, admin: Admin) -> None:
    page.goto(f"{admin.url}/pages/shop/words?language=de&state=called")
    page.get_by_label(re.compile("called.button")).fill("Los geht’s")
    expect(shown(page).get_by_role("link", name="Los geht’s")).to_be_visible()
    # The page takes the focus for its button as it loads; whoever types goes on typing.
    expect(page.get_by_label(re.compile("called.button"))).to_be_focused()
    page.get_by_label(re.compile("called.button")).fill("Los {nirgendwo}")
    expect(page.locator('[data-error="text.called.button"]')).to_contain_text("no placeholder")
    no_violations(page)
    shoot(page, "studio-words")
    page.get_by_label(re.compile("called.button")).fill("")
    expect(page.locator('[data-error="text.called.button"]')).to_be_hidden()

    page.goto(f"{admin.url}/pages/shop/source?file=closed.html.jinja")
    page.locator("#text").fill('{% extends "base/line.html.jinja" %}\n{{ nothing_here }}\n')
    page.get_by_role("button", name="Save draft").click()
    page.goto(f"{admin.url}/pages/shop/source?file=brand.css")
    page.locator("#text").fill("body { outline: 3px solid url(https://elsewhere.example/a.png); }\n")
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator("#source-error")).to_contain_text("brand.css:1")
    expect(page.locator("#source-error")).to_contain_text("elsewhere.example")
    no_violations(page)
    shoot(page, "studio-source")


def test_two_people_at_one_draft(page: Page, admin: Admin, chromium: Browser) -> None:
    page.goto(f"{admin.url}/pages/concert/look")
    with chromium.new_context(viewport=LAPTOP) as other:  # type: ignore[arg-type]
        other.set_default_timeout(WAIT_MS)
        second = other.new_page()
        sign_in(second, admin, "/pages/concert/look")
        second.get_by_label("Name", exact=True).fill("Hall Ten")
        expect(second.locator("#saved")).to_have_text("Saved.")
    page.get_by_label("Name", exact=True).fill("Hall Eleven")
    expect(page.locator("#conflict")).to_contain_text("saved this draft meanwhile")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Hall Eleven")
    files = admin.api("GET", "/brands/concert").json()["files"]
    assert "Hall Ten" in files["brand.json"]


def test_a_phone_and_the_dark(page: Page, admin: Admin) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.emulate_media(color_scheme="dark")
    for path in ("/pages", "/pages/default/look", "/pages/default/source", "/pages/default/history"):
        page.goto(f"{admin.url}{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path
        no_violations(page)
        shoot(page, f"studio-phone{path.replace('/', '-')}")
