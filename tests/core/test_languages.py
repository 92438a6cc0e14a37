"""Which language a visitor gets: Accept-Language by RFC 9110, lookup by RFC 4647, and what goes beyond them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.languages import MAX_HEADER_CHARS, MAX_RANGES, negotiate

ALL = ("en", "ja", "zh-Hans", "zh-Hant", "ko", "es", "fr", "de", "it", "pt-BR", "ar", "he", "hi", "id", "th", "vi", "tr",
       "pl", "nl", "ru", "uk")  # fmt: skip


@pytest.mark.parametrize(
    ("offered", "language"),
    [
        (["en", "da", "en-gb"], "da"),
        (["en", "en-gb"], "en-gb"),
        (["en-us", "fr"], "en-us"),
        (["en", "en-us"], "en"),
        (["fr"], "-"),
    ],
)
def test_the_example_of_rfc_9110_12_5_4(offered: list[str], language: str) -> None:
    # "I prefer Danish, but will accept British English and other types of English."
    assert negotiate("da, en-gb;q=0.8, en;q=0.7", offered, "-") == language


@pytest.mark.parametrize(
    "tag",
    ["zh-Hant-CN-x-private1-private2", "zh-Hant-CN-x-private1", "zh-Hant-CN", "zh-Hant", "zh"],
)
def test_the_example_of_rfc_4647_3_4_is_shortened_step_by_step(tag: str) -> None:
    # Each of the steps is found, and before every one that comes after it.
    steps = ["zh-Hant-CN-x-private1-private2", "zh-Hant-CN-x-private1", "zh-Hant-CN", "zh-Hant", "zh"]
    assert negotiate(steps[0], [*reversed(steps[steps.index(tag) :]), "en"], "en") == tag


@pytest.mark.parametrize("language", ["fr-FR", "fr", "zh-Hant", "zh"])
def test_the_default_example_of_rfc_4647_3_4_1_takes_one_range_to_its_end_before_the_next(language: str) -> None:
    steps = ["fr-FR", "fr", "zh-Hant", "zh"]
    assert negotiate("fr-FR, zh-Hant", list(reversed(steps[steps.index(language) :])), "en") == language
    assert negotiate("fr-FR, zh-Hant", ["ja"], "en") == "en"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        # Weights (RFC 9110, section 12.4.2).
        ("de;q=0.3, fr;q=0.7, it;q=0.5", "fr"),
        ("de;q=0.001,fr;q=0.002", "fr"),
        ("de;q=0.5, fr;q=0.5", "de"),
        ("de ; q=0.5 , fr\t;\tQ=0.6", "fr"),
        ("de;q=1.000, fr;q=0.999", "de"),
        ("de;q=0., fr;q=0.1", "fr"),
        ("DE-at", "de"),
        # `*` says nothing about which (RFC 4647, section 3.4): others decide, or the default.
        ("*", "en"),
        ("*, fr;q=0.5", "fr"),
        ("fr, *;q=0.5", "fr"),
        ("tlh, *;q=0.1", "en"),
        ("de-*", "de"),
        ("*-CH", "en"),
        # Refused with q=0.
        ("fr;q=0, *", "en"),
        ("en;q=0, *", "ja"),
        ("en;q=0", "en"),
        ("*;q=0", "en"),
        ("de, *;q=0", "de"),
        ("pt;q=0, pt-BR;q=0.1, fr;q=0.05", "pt-BR"),
        ("pt-PT, pt-BR;q=0, fr;q=0.5", "fr"),
        ("en, en;q=0", "en"),
        # As browsers send it.
        ("en-US,en;q=0.9", "en"),
        ("ja,en-US;q=0.9,en;q=0.8", "ja"),
        ("zh-TW,zh;q=0.9,en-US;q=0.8,en;q=0.7", "zh-Hant"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        ("pt-PT,pt;q=0.9,en;q=0.8", "pt-BR"),
        ("nb-NO,nb;q=0.9,no;q=0.8,de;q=0.7", "de"),
        ("uk-UA,uk;q=0.9,ru;q=0.8", "uk"),
        ("he-IL,he;q=0.9,ar;q=0.8", "he"),
        # Chinese by script, former names, and what goes on from a range.
        ("zh", "zh-Hans"),
        ("zh-SG", "zh-Hans"),
        ("zh-MY", "zh-Hans"),
        ("zh-HK", "zh-Hant"),
        ("zh-MO", "zh-Hant"),
        ("zh-Hant-HK", "zh-Hant"),
        ("zh-Hans-TW", "zh-Hans"),
        ("zh-Latn", "en"),
        ("yue", "zh-Hant"),
        ("zh-yue-HK", "zh-Hant"),
        ("zh-cmn-Hans-CN", "zh-Hans"),
        ("cmn", "zh-Hans"),
        ("iw-IL", "he"),
        ("in", "id"),
        ("in-ID, en", "id"),
        ("pt", "pt-BR"),
        ("es-419,es;q=0.9", "es"),
        ("de-CH-1996", "de"),
        ("en-a-myext-b-another", "en"),
        # No surprise for the unknown.
        ("", "en"),
        ("tlh", "en"),
        ("x-klingon", "en"),
        ("i-default", "en"),
        ("id-", "en"),
    ],
)
def test_what_a_visitor_gets(header: str, language: str) -> None:
    assert negotiate(header, ALL, "en") == language


@pytest.mark.parametrize(
    "malformed",
    ["de;q=x", "de;q=", "de;q", "de;", "de;q=2", "de;q=1.1", "de;q=-1", "de;q=0.5000", "de;q=1e0", "de;q=0.5;x=y", "de;level=1",
     "de;q=٠", "d3", "de fr", "deutschland", "de-überall", "de--at", "-de", "=;,;=", "d\u00e9", "ｄｅ", "\x00de", "de_AT"],
)  # fmt: skip
def test_what_is_malformed_is_left_out_and_the_rest_counts(malformed: str) -> None:
    assert negotiate(malformed, ALL, "ja") == "ja"
    assert negotiate(f"{malformed}, fr;q=0.1", ALL, "ja") == "fr"


def test_the_answer_is_spelled_as_offered_and_both_sides_may_use_any_spelling() -> None:
    assert negotiate("zh-tw", ["zh-TW", "zh-CN"], "-") == "zh-TW"
    assert negotiate("zh-HK", ["zh-CN", "zh-TW"], "-") == "zh-TW"
    assert negotiate("zh", ["zh-TW", "zh-CN"], "-") == "zh-CN"
    assert negotiate("zh-Hans", ["zh_x", "zh-CN"], "-") == "zh-CN"
    assert negotiate("he", ["iw"], "-") == "iw"
    assert negotiate("sr", ["sr-Cyrl", "sr-Latn"], "-") == "sr-Cyrl"
    assert negotiate("sr-Latn", ["sr-Cyrl"], "-") == "-"
    assert negotiate("zh-Hant", ["zh-Hans", "en"], "en") == "en"
    assert negotiate("zh-Hant, zh;q=0.5", ["zh-Hans", "en"], "en") == "zh-Hans"
    assert negotiate("en", [], "en") == "en"


def test_a_long_header_is_read_to_a_limit() -> None:
    assert negotiate("tlh," * (MAX_RANGES - 1) + "fr", ALL, "en") == "fr"
    assert negotiate("tlh," * MAX_RANGES + "fr", ALL, "en") == "en"
    assert negotiate("fr," + "x" * 10_000, ALL, "en") == "fr"
    assert negotiate(" " * (MAX_HEADER_CHARS - 2) + "fr-CA", ALL, "en") == "en"


@given(
    st.one_of(st.text(max_size=200), st.text(alphabet="abcdefrjzhENT0123456789-*;,=q. \t", max_size=200)),
    st.lists(st.sampled_from(ALL), max_size=6),
    st.sampled_from(ALL),
)
def test_any_header_gives_something_on_offer_or_the_default(header: str, offered: list[str], default: str) -> None:
    assert negotiate(header, offered, default) in {*offered, default}


@given(st.permutations(ALL), st.sampled_from(ALL), st.sampled_from(ALL))
def test_the_most_wanted_on_offer_is_given_whatever_the_order(offered: list[str], first: str, second: str) -> None:
    assert negotiate(f"{second};q=0.8, {first}", offered, "xx") == first
    assert negotiate(f"{second};q=0.8, {first}", [name for name in offered if name != first], "xx") in {second, "xx"}
    if first != second:
        assert negotiate(f"{first};q=0, {second};q=0.5", offered, "xx") == second
