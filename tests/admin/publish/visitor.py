"""A visitor's browser in front of one published page; the edge behind it is scripted by the test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from edge.core.pages import compile_page, content_security_policy, page_key, page_state
from tests.needs import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request, Route

SEED = Path(__file__).parents[3] / "kv-seed"
URL = "http://shop.test/launch/?a=1&b=%2F"
NOW_MS = 1_904_040_271_000
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


def status(state: str = "waiting", **changed: Any) -> dict[str, Any]:
    """The status JSON; with `position` and `ahead` where the state has them."""
    placed = state not in ("candidate", "not_open", "prequeue", "unavailable")
    value: dict[str, Any] = {
        "queue": "launch", "state": state, "position": 5012 if placed else None, "ahead": 1204 if placed else None,
        "wait_s": {"low": 480, "high": 720} if placed else None, "poll_s": 10, "epoch": "e1", "now": NOW_MS,
        "claim_left_s": None, "opens_at": None, "message": None, "arrival": None, "draw": None, "lane": None,
    }  # fmt: skip
    return value | changed


def filled(brand: str, language: str, state: str, *, page: str = "", **changed: str) -> str:
    """A published page as the edge would fill it; `page` where it is not the one of the state."""
    says = status(state, message=changed.get("message") or None)
    values = {
        "queue_name": "Spring Release", "queue_id": "launch", "state": state, "position": "5012", "ahead": "1204",
        "wait_low_min": "8", "wait_high_min": "12", "wait_known": "yes", "poll_s": "10", "refresh_s": "15", "claim_left_s": "292",
        "wait_low": "8", "wait_high": "12", "wait_unit": "min",
        "retry_s": "10", "updated_iso": "2030-05-03T12:04:31Z", "updated_utc": "12:04:31", "status_url": "/.stanchion/status",
        "leave_url": "/.stanchion/leave", "target_url": "/launch/?a=1&b=%2F", "nonce": "bm9uY2U=", "request_id": "7f3a9c21",
        "message": "", "status_json": json.dumps(says),
        "claim_left_clock": "4:52",
        "opens_iso": "", "opens_utc": "", "opens_in_s": "", "spread_s": "30", "order": "draw",
        "arrival_number": "", "drawn": "no", "draw_url": "", "lane": "", "claim": "2", "claim_unit": "min", "late_claim": "head",
        "late": "15", "late_unit": "min", "grace": "24", "grace_unit": "h",
    }  # fmt: skip
    if says["ahead"] is None:
        values |= {"position": "", "ahead": "", "wait_low_min": "", "wait_high_min": "", "wait_known": "no",
                   "wait_low": "", "wait_high": "", "wait_unit": ""}  # fmt: skip
    key = page_key(brand, 1, language, page or page_state(state))
    return compile_page((SEED / key).read_text(encoding="utf-8")).fill(values | changed)


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
        if request.url.endswith("/.stanchion/status"):
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
