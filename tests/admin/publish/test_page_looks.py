"""What every published page owes to the eye: contrast, room, sizes, nothing outside the policy (WCAG 2.2 AA)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from admin.publish.brand import load_brand
from admin.publish.catalogue import available_languages
from admin.publish.render import render_pages
from admin.publish.samples import sample_values
from edge.core.pages import STATES, compile_page
from tests.admin.publish.visitor import Visit, chromium, filled, status

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BRANDS = ("default", "concert", "shop")
TEMPLATES = Path(__file__).parents[3] / "templates"
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


@pytest.mark.parametrize(("brand", "language"), [("default", "ja"), ("default", "en"), ("concert", "en"), ("shop", "en")])
def test_every_page_can_be_read_and_used(browser: Browser, brand: str, language: str) -> None:
    context = browser.new_context()
    try:
        tab = Visit(context.new_page(), filled(brand, language, "waiting"), status())
        for state in STATES:
            tab.html, tab.answers = filled(brand, language, state, **LONG), [status(state, message=LONG["message"])]
            tab.tab.reload()
            for width, dark in ((320, False), (1280, True)):
                tab.tab.set_viewport_size({"width": width, "height": 800})
                tab.tab.emulate_media(color_scheme="dark" if dark else "light")
                seen: dict[str, Any] = tab.tab.evaluate(LOOKS)
                assert seen["faint"] == [], state
                assert seen["small"] == [], state
                assert seen["width"] <= width, state
                assert (seen["tiny"], seen["headings"], tab.complaints) == (0, 1, []), state
                assert seen["texts"] >= 4, state
    finally:
        context.close()


# What sticks out to the side, and texts that lie upon each other within one block.
FITS = """() => {
  const shown = [...document.body.querySelectorAll("h1, p, .button, summary")].filter(e => e.checkVisibility());
  const wide = shown.filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline");
  const out = shown.filter(e => { const b = e.getBoundingClientRect(); return b.left < -1 || b.right > innerWidth + 1; });
  return { wide: wide.map(e => e.textContent), out: out.map(e => e.textContent), width: document.documentElement.scrollWidth };
}"""


@pytest.mark.parametrize("brand", BRANDS)
def test_every_language_fits_a_small_screen_and_runs_its_own_way(browser: Browser, brand: str) -> None:
    # The shop has the widest letters: there every language is tried, elsewhere the longest words and the other direction.
    languages = available_languages(TEMPLATES) if brand == "shop" else ["de", "ar"]
    context = browser.new_context(viewport={"width": 320, "height": 640})
    try:
        page = context.new_page()
        for language in languages:
            made = render_pages(load_brand(brand, TEMPLATES), language, TEMPLATES, ("waiting", "called"))
            for state, text in made.items():
                page.set_content(compile_page(text).fill(sample_values(state)))
                seen = page.evaluate(FITS)
                assert seen == {"wide": [], "out": [], "width": 320}, (language, state)
                sides = page.evaluate(
                    "() => ['direction', 'textAlign'].map(name => getComputedStyle(document.querySelector('h1'))[name])"
                )
                assert sides == ["rtl" if language in ("ar", "he") else "ltr", "start"]
    finally:
        context.close()


@pytest.mark.parametrize("brand", BRANDS)
def test_at_400_percent_all_is_in_one_column(browser: Browser, brand: str) -> None:
    # 1280 x 1024 at 400 % is 320 x 256 (WCAG 2.2, 1.4.10).
    context = browser.new_context(viewport={"width": 320, "height": 256})
    try:
        tab = Visit(context.new_page(), filled(brand, "en", "called"), status("called"))
        assert tab.tab.evaluate("document.documentElement.scrollWidth") <= 320
        box = tab.tab.locator("#enter").bounding_box()
        assert box
        assert box["height"] < 256
        assert tab.tab.evaluate("getComputedStyle(document.querySelector('main')).position") == "static"
    finally:
        context.close()


@pytest.mark.parametrize("brand", BRANDS)
def test_in_forced_colours_the_bar_and_the_button_keep_an_edge(browser: Browser, brand: str) -> None:
    context = browser.new_context(forced_colors="active")
    try:
        tab = Visit(context.new_page(), filled(brand, "en", "waiting"), status(ahead=602))
        tab.until_asked(1)
        style = "(e, name) => getComputedStyle(e)[name]"
        assert tab.tab.eval_on_selector("#bar", style, "borderTopStyle") == "solid"
        fill = tab.tab.eval_on_selector("#fill", style, "backgroundColor")
        assert fill != tab.tab.eval_on_selector("#bar", style, "backgroundColor")
        assert tab.tab.eval_on_selector("#notify-button", style, "borderTopStyle") == "solid"
    finally:
        context.close()


def test_the_keyboard_goes_through_the_page_in_its_order(browser: Browser) -> None:
    context = browser.new_context()
    try:
        tab = Visit(context.new_page(), filled("default", "en", "waiting"), status())
        seen = []
        for _ in range(5):
            tab.tab.keyboard.press("Tab")
            seen.append(tab.tab.evaluate("document.activeElement.innerText"))
            outline = tab.tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", seen
            if seen[-1] == "Leave the line":
                tab.tab.keyboard.press("Enter")
        assert seen[:3] == ["Tell me when it is my turn", "How is the order decided?", "Language"]
        assert seen[3:] == ["Leave the line", "Give up my place"]
    finally:
        context.close()


@pytest.mark.parametrize("brand", BRANDS)
def test_any_number_fits_a_small_screen(browser: Browser, brand: str) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 800})
    try:
        tab = Visit(context.new_page(), filled(brand, "en", "waiting"))
        for ahead in (7, 48, 910, 1204, 48_120, 310_555, 2_400_310):
            tab.html = filled(brand, "en", "waiting", ahead=str(ahead), status_json=json.dumps(status(ahead=ahead)))
            tab.tab.reload()
            assert tab.tab.evaluate("document.documentElement.scrollWidth") <= 320
            box = tab.tab.locator("#ahead").bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 320
            assert tab.text("#ahead") == f"{ahead:,}"
        # One size for all digits, so that a change does not move what stands beside it.
        assert "tabular-nums" in tab.tab.eval_on_selector("#ahead", "e => getComputedStyle(e).fontVariantNumeric")
    finally:
        context.close()


@pytest.mark.parametrize("brand", BRANDS)
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


@pytest.mark.parametrize("brand", BRANDS)
def test_the_order_of_what_the_eye_meets(browser: Browser, brand: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        tab = Visit(context.new_page(), filled(brand, "en", "waiting", message="Hello"))
        parts = [".mark", ".line h1", "#count-label", "#ahead", "#bar", "#wait", ".updated >> visible=true", ".promise",
                 ".message", ".notify", "summary >> nth=0", "summary >> nth=1", "summary >> nth=2",
                 "footer"]  # fmt: skip
        boxes = [tab.tab.locator(part).bounding_box() for part in parts]
        tops = [box["y"] for box in boxes if box]
        assert len(tops) == len(parts)
        assert tops == sorted(tops)
        column = tab.tab.locator(".column").bounding_box()
        assert column is not None
        assert column["width"] <= 36 * 17 + 1
    finally:
        context.close()
