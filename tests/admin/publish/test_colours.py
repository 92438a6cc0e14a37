"""Contrast, computed and corrected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.publish.colours import BLACK, TEXT_CONTRAST, WHITE, contrast, css, mix, palette, parse, readable

HEX = st.tuples(*[st.integers(0, 255)] * 3).map(css)


def test_contrast_as_wcag_defines_it() -> None:
    assert contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast(WHITE, WHITE) == 1
    assert contrast(parse("#767676"), WHITE) == pytest.approx(4.54, abs=0.01)
    assert contrast(parse("#777"), WHITE) == pytest.approx(4.48, abs=0.01)
    assert contrast(parse("#f00"), WHITE) == contrast(WHITE, parse("#ff0000")) == pytest.approx(4.0, abs=0.01)


@pytest.mark.parametrize("text", ["", "fff", "#ff", "#ggg", "#12345", "red", "#ffffff;", "#١٢٣"])
def test_what_is_no_colour_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no colour: write it as #rrggbb"):
        parse(text)


def test_a_good_colour_stays_as_it_is_and_a_faint_one_moves_no_further_than_it_must() -> None:
    assert readable(parse("#0b4a8f"), WHITE) == parse("#0b4a8f")
    moved = readable(parse("#ffd400"), WHITE)
    assert TEXT_CONTRAST <= contrast(moved, WHITE) < TEXT_CONTRAST + 0.2
    assert mix(BLACK, WHITE, 0.5) == (128, 128, 128)


def test_grounds_that_are_too_far_apart_are_an_error() -> None:
    with pytest.raises(ValueError, match="no shade of #808080 can be read on #404040 and #a0a0a0"):
        readable(parse("#808080"), parse("#404040"), parse("#a0a0a0"))


@given(brand=HEX, surface=HEX, ink=HEX)
def test_any_choice_of_a_brand_ends_up_readable(brand: str, surface: str, ink: str) -> None:
    colours = {name: parse(value) for name, value in palette({"brand": brand, "surface": surface, "ink": ink}).items()}
    assert css(colours["brand"]) == brand
    assert contrast(colours["brand-ink"], colours["brand"]) >= 4.5
    for text in ("ink", "muted", "link"):
        for ground in ("surface", "ground"):
            assert contrast(colours[text], colours[ground]) >= 4.5
    assert contrast(colours["edge"], colours["surface"]) >= 3
    assert contrast(colours["fill"], colours["surface"]) >= 3


def test_the_error_names_the_key() -> None:
    with pytest.raises(ValueError, match="brand_ink: 'pink' is no colour"):
        palette({"brand": "#000", "surface": "#fff", "ink": "#000", "brand_ink": "pink"})
