"""Pictures of the waiting pages for the documentation, taken in a headless Chromium (the development extra `playwright`)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from admin.publish.errors import PublishError
from admin.publish.looks import preview_page
from admin.publish.samples import NOW_MS
from edge.core.pages import content_security_policy

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_PHONE, _DESKTOP = (390, 844), (1280, 800)
_NONCE = "bm9uY2U="
_HEADERS = {"content-security-policy": content_security_policy(_NONCE)}
_ADDRESS = "http://shop.example/"


@dataclass(frozen=True)
class Picture:
    """One picture: what it shows, and on which screen."""

    brand: str
    state: str
    scheme: Literal["light", "dark"]
    screen: tuple[int, int]

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"page-{self.brand}-{self.state}-{self.scheme}-{'phone' if self.screen == _PHONE else 'desktop'}.png"


PICTURES = (
    *(Picture(brand, state, "light", _PHONE) for brand in ("default", "concert", "shop") for state in ("waiting", "called")),
    *(Picture(brand, "waiting", "dark", _DESKTOP) for brand in ("default", "shop")),
    Picture("concert", "prequeue", "light", _DESKTOP),
)


def take_pictures(templates_dir: Path, folder: Path) -> list[str]:
    """Writes the pictures into the folder; answers their names. Raises PublishError without a browser, or for a page unfit."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise PublishError("pictures", 0, "they need playwright: pip install playwright") from error
    program = next((path for name in _PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        raise PublishError("pictures", 0, f"they need a browser: one of {', '.join(_PROGRAMS)}")
    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        try:
            for each in PICTURES:
                html = preview_page(templates_dir, each.brand, "en", each.state, _NONCE)
                _take(browser, each, html, folder / each.name)
        finally:
            browser.close()
    return [each.name for each in PICTURES]


def _take(browser: Browser, picture: Picture, html: str, file: Path) -> None:
    def answer(route: Route) -> None:
        route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=_HEADERS)

    width, height = picture.screen
    tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=picture.scheme, locale="en-GB",
                           timezone_id="UTC")  # fmt: skip
    tab.route("**/*", answer)
    tab.clock.install(time=NOW_MS / 1000)
    tab.goto(_ADDRESS)
    tab.evaluate("document.activeElement.blur()")
    tab.screenshot(path=str(file), animations="disabled")
    tab.close()
