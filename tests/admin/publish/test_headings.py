"""Words of headings stay whole on the smallest screen, in languages with long ones and in a brand's own words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from markupsafe import Markup

from admin.publish.brand import load_brand
from admin.publish.compact import closed_up
from admin.publish.headings import LONGEST, SHORTEST, fitted, longest_word
from admin.publish.render import LINE_STATES, render_pages
from admin.publish.samples import sample_values
from edge.core.pages import STATES, compile_page
from tests.admin.publish.sources import TEMPLATES
from tests.admin.publish.visitor import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Words that stand on more than one line, and what is wider than the screen.
BROKEN = r"""() => {
  const found = [...document.querySelectorAll("h1, .count-none, .big")]
    .filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1).map(e => "wide: " + e.innerText);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode());) {
    if (!text.parentElement.checkVisibility() || text.parentElement.closest("script, style, .spoken")) continue;
    for (const word of text.data.matchAll(/[\p{L}\p{M}’']{2,}/gu)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = [...range.getClientRects()].filter(box => box.width > 0.5).map(box => Math.round(box.top / 6));
      if (new Set(lines).size > 1) found.push("broken: " + word[0]);
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize(
    ("text", "language", "width"),
    [
        ("Wartungsarbeiten", "de", 15), ("You are next", "en", 4), ("{{queue_name}} is closed", "en", 6), ("a-b", "en", 1),
        ("", "en", 0),
        ("お客様の順番です", "ja", 0), ("대기열에서는", "ko", 10), ("iiiiii", "en", 4), ("wwww", "en", 5), ("é", "fr", 1),
    ],
)  # fmt: skip
def test_the_longest_word_is_measured(text: str, language: str, width: int) -> None:
    assert longest_word(text, language) == width


def test_a_heading_names_its_longest_word() -> None:
    assert fitted(Markup("<b>Sold</b>"), "Sold", "en") == "<b>Sold</b>"
    assert fitted(Markup("<b>Ausverkauft</b>"), "Ausverkauft", "de") == '<span class="fit w11"><b>Ausverkauft</b></span>'
    assert f"w{LONGEST}" in fitted(Markup("x"), "x" * 90, "de")
    css = (TEMPLATES / "base" / "base.css").read_text("utf-8")
    assert [width for width in range(SHORTEST, LONGEST + 1) if f".w{width} {{ --word: {width}; }}" not in css] == []


@pytest.mark.parametrize("language", ["de", "uk", "ko", "fr"])
@pytest.mark.parametrize("brand", ["concert", "shop"])
def test_no_word_breaks_at_320_pixels(browser: Browser, brand: str, language: str) -> None:
    context = browser.new_context(viewport={"width": 320, "height": 640})
    try:
        page = context.new_page()
        made = render_pages(load_brand(brand, TEMPLATES), language, TEMPLATES)
        for state in ("waiting", *(state for state in STATES if state not in LINE_STATES)):
            page.set_content(compile_page(made[state]).fill(sample_values(state, ahead="0")).partition("<script")[0])
            for shown in LINE_STATES if state == "waiting" else (state,):
                page.evaluate("shown => { document.documentElement.dataset.state = shown }", shown)
                assert page.evaluate(BROKEN) == [], (state, shown)
    finally:
        context.close()


def test_sentences_stand_close_where_the_full_stop_brings_its_space() -> None:
    page = "<p>待つ。\n<span>次。</span>\n<span>終わり。</span>\nEnd.\n<b>x</b>"
    assert closed_up(page, "ja") == "<p>待つ。<span>次。</span><span>終わり。</span>\nEnd.\n<b>x</b>"
    assert closed_up(page, "zh-Hant") != page
    assert closed_up(page, "ko") == page
