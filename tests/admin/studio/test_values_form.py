"""The form of a brand: what is typed becomes brand.json, what is not shown stays, what is empty is inherited."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.studio.values_form import COLOURS, MODES, field_of, fields_of, values_of

BRANDS = Path(__file__).resolve().parents[3] / "templates" / "brands"
LANGUAGES = ("en", "ja", "de")
colour = st.from_regex(r"#[0-9a-f]{6}", fullmatch=True)
text = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=20)
brands = st.fixed_dictionaries(
    {"name": text},
    optional={
        "extends": text, "scheme": st.sampled_from(["auto", "light", "dark"]), "radius_px": st.integers(0, 40),
        "font": st.lists(text, min_size=1, max_size=3),
        "languages": st.lists(st.sampled_from(LANGUAGES), min_size=1, unique=True),
        "support": text, "logo": text,
        **{mode: st.dictionaries(st.sampled_from(COLOURS), colour, min_size=1) for mode in MODES},
        "texts": st.dictionaries(st.sampled_from(LANGUAGES), st.dictionaries(text, text, min_size=1), min_size=1),
    },
)  # fmt: skip


@given(values=brands, language=st.sampled_from(LANGUAGES))
def test_a_form_that_is_sent_as_it_came_changes_nothing(values: dict[str, Any], language: str) -> None:
    form = {**fields_of(values, language), "languages": "1"}
    after, errors = values_of(values, form, language, LANGUAGES)
    assert (after, errors) == (values, [])


@pytest.mark.parametrize("brand", ["default", "concert", "shop"])
def test_the_brands_that_ship_survive_their_form(brand: str) -> None:
    values = json.loads((BRANDS / brand / "brand.json").read_text())
    assert values_of(values, fields_of(values, "de"), "de", LANGUAGES) == (values, [])


@given(values=brands)
def test_only_what_was_sent_changes(values: dict[str, Any]) -> None:
    after, errors = values_of(values, {"name": "Another"}, "en", LANGUAGES)
    assert not errors
    assert after == {**values, "name": "Another"}


def test_an_emptied_field_is_inherited_again() -> None:
    values = {"name": "A", "light": {"ink": "#000000"}, "texts": {"de": {"called.button": "Rein"}}, "radius_px": 3, "font": ["x"]}
    form = {"light.ink": " ", "text.called.button": "", "radius_px": "", "font": " \n", "name": "A"}
    assert values_of(values, form, "de", LANGUAGES) == ({"name": "A"}, [])


def test_a_colour_may_be_typed_without_its_sign() -> None:
    after, _ = values_of({}, {"dark.brand": "FF5A36"}, "en", LANGUAGES)
    assert after == {"dark": {"brand": "#ff5a36"}}


@pytest.mark.parametrize("typed", ["x", "-1", "1.5", "٣", "1234"])
def test_a_radius_that_is_no_number_is_an_error_at_its_field(typed: str) -> None:
    after, errors = values_of({"radius_px": 4}, {"radius_px": typed}, "en", LANGUAGES)
    assert after == {"radius_px": 4}
    assert [error.field for error in errors] == ["radius_px"]
    assert typed in errors[0].problem


def test_the_own_language_of_a_brand_stays_first() -> None:
    form = {"languages": "1", "language.en": "1", "language.ja": "1", "language.de": "1"}
    after, _ = values_of({"languages": ["ja", "en"]}, form, "en", LANGUAGES)
    assert after["languages"] == ["ja", "en", "de"]


def test_faults_lead_to_the_field_that_is_shown() -> None:
    assert field_of("logo", "en") == "logo"
    assert field_of("light.brand", "en") == "light.brand"
    assert field_of("texts.de.called.button", "de") == "text.called.button"
    assert field_of("texts.de.called.button", "en") == ""
    assert field_of("", "en") == ""
