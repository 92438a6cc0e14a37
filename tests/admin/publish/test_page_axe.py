"""Every state of every brand under axe-core (WCAG 2.2 AA and its best practices), with no violation; and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from admin.publish.preview import LOOKS
from admin.publish.samples import BLOCKED, sample_status
from tests.admin.looks import axe_text
from tests.admin.publish.visitor import Visit, chromium, filled

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BRANDS = ("default", "concert", "shop")
MESSAGE = "Doors of hall B open at two."
_RUN = """() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(
  found => found.violations.map(v => [v.id, v.help, ...v.nodes.map(n => n.html.slice(0, 120))]))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def axe() -> str:
    return axe_text()


def look_at(visit: Visit, brand: str, look: str) -> None:
    """Shows another page in the same tab."""
    shown = "candidate" if look == BLOCKED else look
    visit.answers = [sample_status(shown, message=MESSAGE, poll_s=600)]
    visit.html = filled(brand, "en", shown, message=MESSAGE, poll_s="600")
    visit.tab.reload()
    visit.settle()
    if look == BLOCKED:
        visit.until_asked(visit.asked + 3)
        assert visit.sees("#blocked")


@pytest.mark.parametrize("brand", BRANDS)
def test_axe_finds_nothing_in_any_state(browser: Browser, axe: str, brand: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en-GB")
    found: dict[str, Any] = {}
    try:
        visit = Visit(context.new_page(), filled(brand, "en", "waiting"), sample_status())
        for look in LOOKS:
            visit.tab.emulate_media(color_scheme="dark" if look in ("waiting", "called", "ended") else "light")
            look_at(visit, brand, look)
            visit.tab.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
            visit.tab.evaluate(axe)
            if violations := visit.tab.evaluate(_RUN):
                found[look] = violations
        visit.tab.emulate_media(color_scheme="light")
        for look in ("waiting", "called"):
            look_at(visit, brand, look)
            visit.tab.evaluate(axe)
            if violations := visit.tab.evaluate(_RUN):
                found[f"{look}, light"] = violations
        assert found == {}
        assert visit.complaints == []
    finally:
        context.close()
