"""The task that a queue sets before it gives a place, solved by the page's own script in a real browser."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from admin.publish.samples import sample_values
from edge.core import pages
from edge.core.pages import content_security_policy
from edge.core.work import Challenge, is_solved
from tests.admin.publish.visitor import chromium, filled, status

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request, Route

TASK = Challenge("a-candidate", 7)
OTHER = Challenge("another", 7)
WITHIN_MS = 15_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def candidate(task: Challenge | None = TASK) -> dict[str, Any]:
    return status("candidate", challenge=task and task.public(), poll_s=1)


def page_of(task: Challenge | None = TASK, *, builtin: bool = False) -> str:
    values = {"work": "yes" if task else "no", "poll_s": "1", "status_json": json.dumps(candidate(task))}
    if builtin:
        return pages.builtin("waiting").fill({**sample_values("candidate"), **values})
    return filled("default", "en", "candidate", **values)


class Edge:
    """The gate as one page sees it: `tasks` are given in turn, the last one again; the right solution for it gets a place."""

    def __init__(self, tab: Page, html: str, *tasks: Challenge, scheme: str = "https") -> None:
        self.html, self.tasks, self.said, self.loads = html, list(tasks), list[str](), 0
        self.tab, self.complaints = tab, list[str]()
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.route("**/*", self._serve)
        tab.goto(f"{scheme}://shop.test/launch/")

    def _serve(self, route: Route, request: Request) -> None:
        if request.url.endswith("/status"):
            said = request.headers.get("stanchion-work", "")
            self.said.append(said)
            is_right = is_solved(self.tasks[0], said)
            route.fulfill(json=status(ahead=3, poll_s=10) if is_right else candidate(self.tasks[0]))
            if not is_right and len(self.tasks) > 1:
                self.tasks.pop(0)
            return
        self.loads += 1
        route.fulfill(body=self.html, content_type="text/html; charset=utf-8",
                      headers={"content-security-policy": content_security_policy("bm9uY2U=")})  # fmt: skip


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(locale="en-GB")
    yield context.new_page()
    context.close()


def test_the_page_solves_it_and_gets_in_line_without_a_reload(tab: Page) -> None:
    edge = Edge(tab, page_of(), TASK)
    assert "small task" in str(tab.locator("#work").text_content())
    tab.locator("#ahead").wait_for(state="visible", timeout=WITHIN_MS)
    assert is_solved(TASK, edge.said[-1])
    assert (edge.loads, edge.complaints) == (1, [])
    assert not tab.locator("#work").is_visible()
    assert "?" not in tab.url


def test_the_page_stays_alive_while_it_works(tab: Page) -> None:
    endless = Challenge("endless", 31)
    Edge(tab, page_of(endless), endless)
    assert tab.locator("#work").is_visible()
    longest = tab.evaluate("""() => new Promise((done) => {
      let last = performance.now(), longest = 0, turns = 0;
      const turn = () => {
        const now = performance.now();
        longest = Math.max(longest, now - last);
        last = now;
        if (++turns < 30) setTimeout(turn, 10); else done(longest);
      };
      setTimeout(turn, 10);
    })""")
    assert tab.locator("#work").is_visible(), "it works all the while"
    assert longest < 1000, f"the page stood still for {longest:.0f} ms"


def test_a_new_task_is_begun_anew(tab: Page) -> None:
    edge = Edge(tab, page_of(), OTHER)
    tab.locator("#ahead").wait_for(state="visible", timeout=WITHIN_MS)
    assert is_solved(OTHER, edge.said[-1])
    assert not tab.locator("#blocked").is_visible()


def test_a_task_that_changes_each_time_means_that_cookies_are_blocked(tab: Page) -> None:
    tasks = [Challenge(f"task-{number}", 3) for number in range(9)]
    Edge(tab, page_of(tasks[0]), *tasks[1:])
    tab.locator("#blocked").wait_for(state="visible", timeout=WITHIN_MS)


def test_a_page_without_a_task_says_nothing_of_one(tab: Page) -> None:
    Edge(tab, page_of(None), TASK)
    assert not tab.locator("#work").is_visible()
    tab.locator("#ahead").wait_for(state="visible", timeout=WITHIN_MS)


def test_without_a_secure_connection_the_page_says_what_is_missing(tab: Page) -> None:
    edge = Edge(tab, page_of(), TASK, scheme="http")
    tab.locator("#insecure").wait_for(state="visible", timeout=WITHIN_MS)
    assert "https" in tab.locator("#insecure").inner_text()
    assert edge.complaints == []


def test_without_scripts_the_page_says_that_it_needs_them(browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    Edge(tab, page_of(), TASK)
    assert "needs JavaScript" in tab.locator("#work").inner_text()
    context.close()


def test_the_builtin_page_solves_it_too(tab: Page) -> None:
    edge = Edge(tab, page_of(builtin=True), TASK)
    deadline = time.monotonic() + WITHIN_MS / 1000
    while edge.loads < 2:
        assert time.monotonic() < deadline
        tab.wait_for_timeout(50)
    assert is_solved(TASK, next(filter(None, edge.said)))
    assert edge.complaints == []
