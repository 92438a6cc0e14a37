"""Looking at pages of the console in a real browser: axe finds nothing, nothing is wider than the screen; pictures on request.

STANCHION_SCREENSHOTS names a folder for pictures.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.admin.conftest import PASSWORD, Admin
from tests.needs import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
LAPTOP, PHONE = {"width": 1366, "height": 720}, {"width": 390, "height": 844}
WAIT_MS = 10_000
_RUN = """() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(
  found => found.violations.map(v => [v.id, v.help, ...v.nodes.map(n => n.html.slice(0, 160))]))"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser; closed at the end, because an open one keeps its event loop."""
    from playwright.sync_api import sync_playwright

    program = needs("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


def axe_text() -> str:
    """The text of axe-core, which the package ships."""
    package = pytest.importorskip("axe_playwright_python")
    return (Path(package.__file__).parent / "axe.min.js").read_text("utf-8")


@contextmanager
def tab(browser: Browser, *, size: dict[str, int] = LAPTOP, scheme: Any = "light", **more: Any) -> Iterator[Page]:
    """A tab of its own context."""
    context: BrowserContext = browser.new_context(viewport=size, color_scheme=scheme, **more)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT_MS)
    try:
        yield context.new_page()
    finally:
        context.close()


def enter(page: Page, admin: Admin, name: str = "admin", password: str = PASSWORD) -> None:
    """Signs in."""
    page.goto(f"{admin.url}/sign-in")
    page.locator("#user").fill(name)
    page.locator("#password").fill(password)
    page.locator("form[action='/sign-in'] button").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)


def faults(page: Page, axe: str) -> list[Any]:
    """What axe finds, and what is wider than the screen."""
    page.evaluate(axe)
    found: list[Any] = page.evaluate(_RUN)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return [*found, *([f"{wide} px wider than the screen"] if wide > 0 else [])]


def picture(page: Page, name: str, *, whole: bool = True) -> None:
    """Keeps a picture when somebody wants pictures. `whole`: of all that one could scroll to, not only of the screen."""
    folder = os.environ.get("STANCHION_SCREENSHOTS", "")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=whole)
