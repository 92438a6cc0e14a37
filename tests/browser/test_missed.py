"""A turn that nobody takes, with the page open: each way that a queue may go on, before the whole product."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.shop import WAIT_MS, ahead, becomes, has_state, heading, visitor
from tests.e2e.stack import Stack

LATE = ("refused", "back", "head")


def number(page: Page) -> str:
    """The place, as the page says it."""
    return page.locator("html").get_attribute("data-position") or ""


def test_a_missed_turn_is_told_and_nobody_joins_by_itself(stack: Stack, browser: Browser) -> None:
    with visitor(browser) as person:
        pages = {late: person.new_page() for late in LATE}
        for late, page in pages.items():
            page.bring_to_front()
            page.goto(f"{stack.edge}/late-{late}/?a=1#f")
            ahead(page, 0)
            stack.api("POST", f"/queues/late-{late}/admit", {"count": 1})
            page.get_by_role("button", name="Wait, I will press the button myself").click()
        # With nobody else in the line, who is back at the head is called again only by the next batch.
        has_state(pages["head"], "waiting")
        expect(pages["head"].locator("#missed")).to_contain_text("did not come in, so others went on", timeout=WAIT_MS)
        assert number(pages["head"]) == "1"
        for late in ("refused", "back"):
            page = pages[late]
            page.bring_to_front()
            heading(page, "Your turn has passed")
            page.wait_for_timeout(3000)  # three polls of the page that it used to be
            heading(page, "Your turn has passed")
            becomes(stack, f"late-{late}", waiting=0, called=0, inside=0)
            assert stack.api("GET", f"/queues/late-{late}")["length"] == 1, "nobody has joined"
            page.get_by_role("link", name="Come back").click()
            heading(page, "You are in line for The rush")
            assert (number(page), page.url) == ("2", f"{stack.edge}/late-{late}/?a=1#f")


def test_who_leaves_and_joins_again_is_where_the_page_was(stack: Stack, browser: Browser) -> None:
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{stack.edge}/drop/?a=1#f")
        has_state(page, "waiting")
        before = int(number(page))
        page.get_by_text("Leave the line").click()
        page.get_by_role("button", name="Give up my place").click()
        heading(page, "You are no longer in line")
        page.get_by_role("link", name="Join again").click()
        heading(page, "You are in line for The drop")
        assert (int(number(page)), page.url) == (before + 1, f"{stack.edge}/drop/?a=1#f")
