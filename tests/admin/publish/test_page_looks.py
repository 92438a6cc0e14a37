"""What every published page owes to the eye: contrast, room, sizes, nothing outside the policy (WCAG 2.2 AA)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from edge.core.pages import STATES
from tests.admin.publish.visitor import Visit, chromium, filled, status

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVERY_PAGE = [(brand, language, state) for brand in ("default", "concert") for language in ("en", "ja") for state in STATES]
LONG = {"queue_name": "The Incomprehensibilities of Llanfairpwllgwyngyllgogerychwyrndrobwll Tour 2030", "message": "m" * 80}

# The contrast of every visible text with the ground behind it; the size of every control; the width that is used.
LOOKS = r"""() => {
  const rgb = text => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = rgb(getComputedStyle(e).backgroundColor);
      if (a > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const shown = e => e.checkVisibility() && e.getBoundingClientRect().width > 1;
  const texts = [...document.body.querySelectorAll("*")].filter(e => shown(e) && e.nodeName !== "SCRIPT"
    && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()));
  return {
    faint: texts.map(e => {
      const [one, other] = [light(rgb(getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a);
      return [e.textContent.trim().slice(0, 40), (one + 0.05) / (other + 0.05)];
    }).filter(([, ratio]) => ratio < 4.5),
    texts: texts.length,
    small: [...document.querySelectorAll("a, button, summary")].filter(shown)
      .filter(e => e.getBoundingClientRect().height < 24 || e.getBoundingClientRect().width < 24).map(e => e.textContent),
    tiny: texts.filter(e => parseFloat(getComputedStyle(e).fontSize) < 13).length,
    headings: [...document.querySelectorAll("h1")].filter(shown).length,
    width: document.documentElement.scrollWidth,
  };
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize(("brand", "language", "state"), EVERY_PAGE)
def test_every_page_can_be_read_and_used(browser: Browser, brand: str, language: str, state: str) -> None:
    context = browser.new_context()
    try:
        tab = Visit(context.new_page(), filled(brand, language, state, **LONG), status())
        for width, dark in ((320, False), (1280, True)):
            tab.tab.set_viewport_size({"width": width, "height": 800})
            tab.tab.emulate_media(color_scheme="dark" if dark else "light")
            seen: dict[str, Any] = tab.tab.evaluate(LOOKS)
            assert seen["faint"] == []
            assert seen["small"] == []
            assert seen["width"] <= width
            assert (seen["tiny"], seen["headings"], tab.complaints) == (0, 1, [])
            assert seen["texts"] >= 4
    finally:
        context.close()


@pytest.mark.parametrize("brand", ["default", "concert"])
@pytest.mark.parametrize("ahead", [7, 48, 910, 1204, 48_120, 310_555, 2_400_310])
def test_any_number_fits_a_small_screen(browser: Browser, brand: str, ahead: int) -> None:
    html = filled(brand, "en", "waiting", ahead=str(ahead), status_json="{}")
    context = browser.new_context(viewport={"width": 320, "height": 800})
    try:
        tab = Visit(context.new_page(), html, status(ahead=ahead))
        tab.until_asked(1)
        assert tab.tab.evaluate("document.documentElement.scrollWidth") <= 320
        box = tab.tab.locator("#ahead").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 320
        assert tab.text("#ahead") == f"{ahead:,}"
        # One size for all digits, so that a change does not move what stands beside it.
        assert "tabular-nums" in tab.tab.eval_on_selector("#ahead", "e => getComputedStyle(e).fontVariantNumeric")
    finally:
        context.close()


@pytest.mark.parametrize("brand", ["default", "concert"])
def test_nothing_moves_for_those_who_asked_for_that(browser: Browser, brand: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    try:
        tab = Visit(context.new_page(), filled(brand, "en", "waiting"), status(ahead=1000))
        tab.until_asked(1)
        assert tab.tab.evaluate("document.getAnimations().length") == 0
        assert tab.tab.eval_on_selector("#fill", "e => getComputedStyle(e).transitionDuration") == "0s"
        assert tab.tab.eval_on_selector("#ahead", "e => getComputedStyle(e).animationName") == "none"
    finally:
        context.close()


@pytest.mark.parametrize("brand", ["default", "concert"])
def test_the_order_of_what_the_eye_meets(browser: Browser, brand: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        tab = Visit(context.new_page(), filled(brand, "en", "waiting", message="Hello"))
        parts = [".mark", ".line h1", "#count-label", "#ahead", "#bar", "#wait", ".updated >> visible=true", ".promise",
                 ".message", ".notify", "summary >> nth=0", "summary >> nth=1", "footer"]  # fmt: skip
        boxes = [tab.tab.locator(part).bounding_box() for part in parts]
        tops = [box["y"] for box in boxes if box]
        assert len(tops) == len(parts)
        assert tops == sorted(tops)
        column = tab.tab.locator(".column").bounding_box()
        assert column is not None
        assert column["width"] <= 36 * 17 + 1
    finally:
        context.close()
