"""A visitor's browser in front of one published page; the edge behind it is scripted by the test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from admin.publish.samples import NOW_MS, sample_page, sample_status, sample_values
from edge.core.pages import compile_page, content_security_policy, page_key
from tests.needs import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request, Route

SEED = Path(__file__).parents[3] / "kv-seed"
URL = "http://shop.test/launch/?a=1&b=%2F"
_TURN = """() => new Promise(done => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done(document.readyState === "complete" && !window.unsettled);
  channel.port2.postMessage(0);
})"""
# Counts the answers that the page has not finished reading, and says when it is about to leave.
_WATCH = """
window.unsettled = 0;
const ask = window.fetch;
window.fetch = async (...how) => {
  window.unsettled += 1;
  const answer = ask(...how);
  answer.then(a => a.clone().text()).catch(() => {}).then(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => { window.unsettled -= 1; };
    channel.port2.postMessage(0);
  });
  return answer;
};
addEventListener("beforeunload", () => { window.unsettled += 1; });
"""
_QUIET_TURNS = 5


@contextmanager
def chromium() -> Iterator[Browser]:
    program = needs("chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=[*quiet, "--disable-component-update", "--disable-sync"])
        try:
            yield browser
        finally:
            browser.close()


status = sample_status


def filled(brand: str, language: str, state: str, *, page: str = "", **changed: str) -> str:
    """A published page as the edge would fill it; `page` where it is not the one of the state."""
    key = page_key(brand, 1, language, page or sample_page(state))
    return compile_page((SEED / key).read_text(encoding="utf-8")).fill(sample_values(state, **changed))


class Visit:
    """One tab. `answers`: what status requests get, the last one again and again: a JSON value, or a number (HTTP status)."""

    def __init__(self, tab: Page, html: str, *answers: object, fragment: str = "") -> None:
        self.tab = tab
        self.html = html
        self.answers = list(answers) or [status()]
        self.asked = 0
        self.loads = 0
        self.posts: list[str] = []
        self.complaints: list[str] = []
        self.under_way = 0
        self._error: type[Exception] = pytest.importorskip("playwright.sync_api").Error
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.route("**/*", self._serve)
        tab.on("request", lambda _: self._count(1))
        tab.on("requestfinished", lambda _: self._count(-1))
        tab.on("requestfailed", lambda _: self._count(-1))
        tab.add_init_script(_WATCH)
        tab.clock.install(time=NOW_MS / 1000)
        tab.goto(URL + fragment)

    def _count(self, step: int) -> None:
        self.under_way += step

    def _serve(self, route: Route, request: Request) -> None:
        if request.method == "POST":
            self.posts.append(request.url)
            if request.url.endswith("/leave") and not request.is_navigation_request():
                route.fulfill(body=json.dumps(sample_status("ended")), content_type="application/json")
                return
        if request.url.endswith("/.stanchion/launch/status"):
            self.asked += 1
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer == "away":
                route.abort()
            elif isinstance(answer, int):
                route.fulfill(status=answer, body="{}", content_type="application/json")
            else:
                route.fulfill(body=json.dumps(answer), content_type="application/json")
            return
        if request.is_navigation_request() and request.frame.parent_frame is None:
            self.loads += 1
        policy = {"content-security-policy": content_security_policy("bm9uY2U=")}
        route.fulfill(body=self.html, content_type="text/html; charset=utf-8", headers=policy)

    def after(self, seconds: float, step_s: float = 0.5) -> None:
        """Lets that much of the page's time pass, and its requests come back, step by step."""
        for _ in range(max(1, round(seconds / step_s))):
            asked = self.asked
            self.tab.clock.run_for(round(1000 * step_s))
            if self.asked != asked:
                self.settle()
        self.settle()

    def until_asked(self, times: int) -> None:
        """Lets the page's time pass until it has asked for the status that often in all; at most two minutes."""
        for _ in range(240):
            if self.asked >= times:
                return
            self.after(0.5)
        raise AssertionError(f"asked {self.asked} times within two minutes, not {times}")

    def settle(self) -> None:
        """Waits until everything that the page asked for has arrived and been shown."""
        quiet = 0
        for _ in range(1000):
            quiet = quiet + 1 if self._tick() and self.under_way == 0 else 0
            if quiet == _QUIET_TURNS:
                return
        raise AssertionError("the page never comes to rest")

    def _tick(self) -> bool:
        """One turn of the page's event loop; False while it is on its way to another page."""
        try:
            return bool(self.tab.evaluate(_TURN))
        except self._error as error:
            if "navigation" not in str(error) and "destroyed" not in str(error):
                raise
            return False

    def text(self, selector: str) -> str:
        return self.tab.locator(selector).inner_text()

    def sees(self, selector: str) -> bool:
        return self.tab.locator(selector).is_visible()
