"""The console in a real browser: live numbers, every control, narrow and dark, and what happens when Redis goes away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from admin.limits import configured
from admin.queue_view import view
from admin.store import Reading
from edge.core import commands
from edge.core.calls import Answer
from tests.admin import looks
from tests.admin.conftest import PASSWORD, Admin, Serve
from tests.admin.looks import LAPTOP, PHONE, WAIT_MS
from tests.admin.sale import run_sale
from tests.admin.world import Bridge, RedisServer, config_text, queue_json, queues_of


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with looks.chromium() as started:
        yield started


@pytest.fixture
def sale(admin: Admin) -> Admin:
    """A manual queue with a line, an ordinary one and one that has never run."""
    admin.publish(
        queue_json("sale", name="Summer Tour", manual=True, max_active=500, admit_per_minute=240),
        queue_json("drop", name="Sneaker drop"),
        queue_json("later", name="Later"),
    )
    admin.start("sale", "drop")
    admin.visitors.join(admin.queues["sale"], 1200)
    return admin


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    made = chromium.new_context(viewport=LAPTOP)  # type: ignore[arg-type]
    made.set_default_timeout(WAIT_MS)
    yield made
    made.close()


class Faults(list[str]):
    """What a page complained about."""

    def watch(self, page: Page) -> Page:
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("console", lambda said: self.append(said.text) if said.type == "error" else None)
        return page


@pytest.fixture
def faults() -> Iterator[Faults]:
    found = Faults()
    yield found
    assert [text for text in found if "Content Security Policy" in text or "Error:" in text] == []


def sign_in(page: Page, admin: Admin, path: str = "/") -> None:
    page.goto(f"{admin.url}{path}")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{admin.url}{path}")


def number(page: Page, name: str) -> Any:
    return expect(page.locator(f'main [data-k="{name}"]'))


def test_an_operator_drives_a_queue(sale: Admin, context: BrowserContext, faults: Faults) -> None:
    page = faults.watch(context.new_page())
    sign_in(page, sale)
    number(page, "sale.waiting").to_have_text("1,200", timeout=WAIT_MS)
    expect(page.locator('[data-k="later.status-word"]')).to_have_text("Missing")
    page.get_by_role("link", name="Summer Tour").click()

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused: nobody is called until you resume.")).to_be_visible()
    number(page, "status-word").to_have_text("Paused")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    page.get_by_role("button", name="Resume").click()
    number(page, "status-word").to_have_text("Open")

    page.get_by_label("Admit a batch").fill("70")
    number(page, "say-admit").to_contain_text("Calls the next 70 of 1,200 waiting", timeout=WAIT_MS)
    page.get_by_role("button", name="Call them").click()
    expect(page.get_by_text("Called 70 people.")).to_be_visible()
    number(page, "waiting").to_have_text("1,130")
    assert sale.api("GET", "/queues/sale").json()["called"] == 70

    page.get_by_role("textbox", name="Rate").fill("300")
    number(page, "say-rate").to_contain_text("From 240 a minute to 300 a minute", timeout=WAIT_MS)
    page.get_by_role("button", name="Set rate").click()
    expect(page.get_by_text("Rate: 240 → 300.")).to_be_visible()
    page.get_by_role("button", name="Back to 240").click()
    expect(page.get_by_text("Rate: 300 → 240.")).to_be_visible()

    page.get_by_text("Drain, close, maintenance, message").click()
    page.get_by_label("Message").fill("Doors open at 8")
    page.get_by_role("button", name="Show it").click()
    expect(page.get_by_text("The message is shown to those who wait.")).to_be_visible()
    for link, button, word in (
        ("Drain…", "Drain the queue", "Draining"), ("Close…", "Close the queue", "Closed"),
        ("Maintenance…", "Begin maintenance", "Maintenance"),
    ):  # fmt: skip
        page.get_by_text("Drain, close, maintenance, message").click()
        page.get_by_role("link", name=link).click()
        expect(page.get_by_text("Newcomers get no place")).to_be_visible()
        page.get_by_role("button", name=button).click()
        number(page, "status-word").to_have_text(word)
        page.get_by_role("button", name="Open", exact=True).click()
        number(page, "status-word").to_have_text("Open")
    page.get_by_label("over the rate").check()
    page.get_by_label("Admit a batch").fill("1")
    page.get_by_role("button", name="Call them").click()
    expect(page.get_by_text("Called 1 person.")).to_be_visible()
    assert sale.api("GET", "/queues/sale").json()["message"] == "Doors open at 8"

    page.get_by_role("link", name="Reset…").click()
    expect(page.get_by_text("1,129 people waiting lose their places")).to_be_visible()
    page.get_by_role("button", name="Reset the queue").click()
    expect(page.get_by_text("Type sale to reset this queue, or go back.")).to_be_visible()
    page.get_by_label("Type sale").fill("sale")
    page.get_by_role("button", name="Reset the queue").click()
    expect(page.get_by_text("Reset: a new line has begun.")).to_be_visible()
    number(page, "waiting").to_have_text("0")

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_numbers_move_by_themselves(sale: Admin, context: BrowserContext, faults: Faults) -> None:
    page = faults.watch(context.new_page())
    sign_in(page, sale, "/queues/sale")
    number(page, "waiting").to_have_text("1,200", timeout=WAIT_MS)
    page.get_by_label("Admit a batch").fill("33")
    sale.visitors.join(sale.queues["sale"], 5, first=1200)
    number(page, "waiting").to_have_text("1,205", timeout=WAIT_MS)
    number(page, "say-admit").to_contain_text("Calls the next 33 of 1,205", timeout=WAIT_MS)
    expect(page.locator('.rail [data-k="sale.waiting"]')).to_have_text("1,205")
    sale.visitors.run(commands.control("sale", "pause", "elsewhere", "0" * 32))
    number(page, "status-word").to_have_text("Paused", timeout=WAIT_MS)
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert page.get_by_label("Admit a batch").input_value() == "33", "typing was lost"
    assert (page.locator('[data-k="depth"]').get_attribute("d") or "").startswith("M")
    page.get_by_text("As a table").click()
    expect(page.locator("[data-table] tr").first).to_contain_text("1,205", timeout=WAIT_MS)


def test_a_page_that_becomes_another_one_loads_again(sale: Admin, context: BrowserContext, faults: Faults) -> None:
    page = faults.watch(context.new_page())
    sign_in(page, sale, "/queues/later")
    expect(page.get_by_role("heading", name="Redis has no state")).to_be_visible()
    sale.start("later")
    number(page, "waiting").to_have_text("0", timeout=WAIT_MS)


def test_redis_and_the_app_go_away(serve: Serve, redis_server: RedisServer, context: BrowserContext, faults: Faults) -> None:
    bridge = Bridge(redis_server.port)
    bridge.start()
    try:
        admin = serve(bridge.url)
        admin.publish(queue_json("sale", name="Summer Tour", manual=True))
        admin.start()
        admin.visitors.join(admin.queues["sale"], 41)
        page = faults.watch(context.new_page())
        sign_in(page, admin, "/queues/sale")
        number(page, "waiting").to_have_text("41", timeout=WAIT_MS)
        expect(page.get_by_text("No fresh numbers.")).to_be_hidden()
        bridge.stop()
        expect(page.get_by_text("No fresh numbers.")).to_be_visible(timeout=WAIT_MS)
        expect(page.locator("main")).to_have_attribute("data-stale", "yes")
        expect(page.locator('[data-k="age"]')).to_contain_text("last update")
        number(page, "waiting").to_have_text("41")
        bridge.start()
        expect(page.get_by_text("No fresh numbers.")).to_be_hidden(timeout=WAIT_MS)
        expect(page.locator("main")).to_have_attribute("data-stale", "no")
        context.set_offline(True)
        page.get_by_label("Admit a batch").fill("7")  # the stream that is open goes on; another one cannot be had
        expect(page.get_by_text("The admin app does not answer.")).to_be_visible(timeout=WAIT_MS)
        context.set_offline(False)
        expect(page.get_by_text("The admin app does not answer.")).to_be_hidden(timeout=WAIT_MS)
    finally:
        bridge.stop()


def test_a_signed_out_page_says_so(sale: Admin, context: BrowserContext, faults: Faults) -> None:
    page = faults.watch(context.new_page())
    sign_in(page, sale, "/queues/sale")
    other = context.new_page()
    other.goto(f"{sale.url}/")
    other.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out.")).to_be_visible(timeout=WAIT_MS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/queues/sale", "/queues/later", "/queues/sale/reset", "/queues/sale/limits"])
def test_nothing_is_wider_than_a_phone(sale: Admin, chromium: Browser, path: str, scheme: Any) -> None:
    context = chromium.new_context(viewport=PHONE, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        sign_in(page, sale, path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        clipped = page.evaluate(
            "[...document.querySelectorAll('main button, main .figure, main h1, main .says, main .status')]"
            ".filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
        )
        assert clipped == []
    finally:
        context.close()


def test_one_screen_on_a_laptop(sale: Admin, context: BrowserContext, faults: Faults) -> None:
    page = faults.watch(context.new_page())
    sign_in(page, sale, "/queues/sale")
    lowest = "Math.max(...[...document.querySelectorAll('.tiles, .chart, .controls')].map(e => e.getBoundingClientRect().bottom))"
    assert page.evaluate(lowest) <= LAPTOP["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= LAPTOP["width"]


CONTRAST = """
() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const v = c / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !element.offsetParent || element.closest("svg")) continue;
    const [a, b] = [luminance(rgb(getComputedStyle(element).color)), luminance(ground(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(`${element.textContent.trim().slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return found;
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(sale: Admin, chromium: Browser, scheme: Any) -> None:
    context = chromium.new_context(viewport=LAPTOP, color_scheme=scheme)  # type: ignore[arg-type]
    try:
        page = context.new_page()
        sign_in(page, sale)
        page.goto(f"{sale.url}/queues/sale")
        page.get_by_role("button", name="Pause").click()
        page.wait_for_url(f"{sale.url}/queues/sale")
        for path in ("/", "/queues/sale", "/queues/later", "/queues/sale/reset", "/queues/sale/limits"):
            page.goto(f"{sale.url}{path}")
            assert page.evaluate(CONTRAST) == [], path
    finally:
        context.close()


def test_without_javascript(sale: Admin, chromium: Browser) -> None:
    context = chromium.new_context(viewport=LAPTOP, java_script_enabled=False)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT_MS)
    try:
        page = context.new_page()
        sign_in(page, sale, "/queues/sale")
        page.get_by_label("Admit a batch").fill("20")
        page.get_by_role("button", name="Call them").click()
        expect(page.get_by_text("Called 20 people.")).to_be_visible()
        expect(page.get_by_role("link", name="Refresh")).to_be_visible()
    finally:
        context.close()


def test_a_sale_in_full_swing(admin: Admin, chromium: Browser, faults: Faults) -> None:
    """A quarter of an hour of a sale is on the chart."""
    tour = queue_json("summer-tour", name="Summer Tour", admit_per_minute=240, max_active=900)
    others = (
        queue_json("sneaker-drop", name="Sneaker drop", admit_per_minute=120, inventory=400),
        queue_json("members", name="Members' presale", manual=True, max_active=200),
        queue_json("autumn", name="Autumn tour"),
    )
    admin.publish(*others)
    admin.start("sneaker-drop", "members")
    admin.visitors.join(admin.queues["members"], 640)
    admin.visitors.join(admin.queues["sneaker-drop"], 900)
    admin.visitors.run(commands.control("sneaker-drop", "pause", "p", "0" * 32))
    history, queue, off_s = admin.app.state.desk.watch.history, queues_of(config_text(tour))[0], admin.clock.ahead_s + 2

    def keep(seen: Answer, now_ms: int) -> None:
        history.add(view(queue, Reading(seen, configured(queue), {})), now_ms / 1000 + off_s)

    run_sale(admin.visitors, queue, int(time.time() * 1000), keep)
    admin.publish(tour, *others)
    context = chromium.new_context(viewport=LAPTOP)  # type: ignore[arg-type]
    try:
        page = faults.watch(context.new_page())
        sign_in(page, admin, "/queues/summer-tour")
        drawn = page.locator('main [data-k="depth"]').get_attribute("d") or ""
        assert drawn.count("L") > 80
        assert max(sample.admitted_last_minute for sample in history.of("summer-tour", admin.app.state.desk.unix_s())) > 150
    finally:
        context.close()
