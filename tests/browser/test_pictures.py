"""The pages of a large sale as people see them: in one screen, each number and promise in its place.

STANCHION_SCREENSHOTS names a folder for the pictures of the documentation (docs/images).
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.shop import SCREEN, ahead, becomes, crowd, crowd_leaves, has_state, heading, reset, see, visitor
from tests.e2e.stack import PATIENCE_S, Stack

MAX_PICTURE_BYTES = 300_000


def picture(page: Page, name: str) -> None:
    """Nothing is wider than the screen; the picture is kept when a folder is named."""
    assert page.evaluate("document.documentElement.scrollWidth") <= SCREEN["width"]
    shot = page.screenshot(animations="disabled")
    assert len(shot) < MAX_PICTURE_BYTES
    folder = os.environ.get("STANCHION_SCREENSHOTS", "")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.png").write_bytes(shot)


def wait_in_a_crowd(stack: Stack, page: Page, queue_id: str, path: str, before: int, gone: int) -> None:
    """Stands behind `before` people, `gone` of whom then give up, evenly along the line."""
    crowd(stack, queue_id, before)
    page.goto(f"{stack.edge}{path}")
    has_state(page, "waiting")
    first = shown_ahead(page)
    step = before / gone
    crowd_leaves(stack, queue_id, sorted({before - int(number * step) for number in range(gone)}))
    deadline = time.monotonic() + PATIENCE_S
    while shown_ahead(page) > first - gone * 9 // 10:  # far back a page asks seldom: this visitor is impatient
        assert time.monotonic() < deadline, f"{shown_ahead(page)} ahead, of {first}"
        page.reload()


def shown_ahead(page: Page) -> int:
    """The number that the page shows."""
    return int(page.locator("#ahead").inner_text().replace(",", ""))


def test_waiting(stack: Stack, browser: Browser) -> None:
    with visitor(browser) as person:
        page = person.new_page()
        wait_in_a_crowd(stack, page, "season", "/launch/season/", before=2100, gone=800)
        heading(page, "You are in line for Spring season tickets")
        expect(page.locator("#wait")).to_contain_text(re.compile(r"about \d+ to \d+ minutes"))
        expect(page.locator(".promise")).to_contain_text("your place is kept for 24 hours", use_inner_text=True)
        expect(page.locator(".promise")).to_contain_text("you have 2 minutes to come in", use_inner_text=True)
        done = float(page.locator("#bar").get_attribute("aria-valuenow") or 0)
        assert 30 <= done <= 50
        assert page.locator(".promise").evaluate("e => e.getBoundingClientRect().bottom") <= SCREEN["height"]
        picture(page, "waiting")


def test_waiting_for_the_concert(stack: Stack, browser: Browser) -> None:
    with visitor(browser) as person:
        page = person.new_page()
        wait_in_a_crowd(stack, page, "tour", "/concert/tour/", before=900, gone=260)
        heading(page, "You are in line for The concert")
        assert page.locator(".promise").evaluate("e => e.getBoundingClientRect().bottom") <= SCREEN["height"]
        picture(page, "waiting-concert")


def test_the_turn_and_the_shop(stack: Stack, browser: Browser) -> None:
    reset(stack, "spring")
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{stack.edge}/launch/item/season")
        ahead(page, 0)
        # The door opens by itself after a moment: the answer is kept back for as long as the picture takes.
        kept: list[Route] = []
        page.route("**/launch/item/season", lambda route: kept.append(route))
        stack.api("POST", "/queues/spring/admit", {"count": 1})
        heading(page, "It is your turn")
        expect(page.get_by_role("link", name="Enter now")).to_be_focused()
        assert page.evaluate("document.documentElement.scrollHeight") <= SCREEN["height"]
        picture(page, "turn")
        page.unroute("**/launch/item/season")
        for route in kept:
            route.continue_()
        heading(page, "Season pass")
        becomes(stack, "spring", inside=1)

        page.goto(f"{stack.edge}/launch/item/season")
        see(page, "pass for spring, good until")
        assert page.evaluate("document.documentElement.scrollHeight") <= SCREEN["height"]
        picture(page, "shop")
