"""The languages: every message is translated and whole, and plural forms and durations are those of CLDR."""

from __future__ import annotations

import gettext
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from admin.publish import PublishError, publish
from admin.publish.brand import load_brand
from admin.publish.catalogue import available_languages, catalogue_file, messages, read_catalogue, template_file
from admin.publish.checks import check_page
from admin.publish.locales import SAMPLES, categories, category, locale_of, own_name, plural_header, units
from admin.publish.message_checks import faults, leftovers, strings_of
from admin.publish.messages import extracted, main, text_of
from admin.publish.plurals import plural_css, plural_rule
from admin.publish.render import render_pages
from admin.publish.texts import PLACEHOLDERS
from admin.publish.words import UNITS, Words

TEMPLATES = Path(__file__).parents[3] / "templates"
SHIPPED = {"en", "ja", "zh-Hans", "zh-Hant", "ko", "es", "fr", "de", "it", "pt-BR", "ar", "he", "hi", "id", "th", "vi", "tr",
           "pl", "nl", "ru", "uk"}  # fmt: skip
# Languages whose rules are as odd as CLDR's get; any of them may be added.
OTHERS = ("cs", "cy", "ga", "is", "lt", "lv", "mk", "mt", "ro", "sl", "sv")


def test_every_language_is_whole_and_has_nothing_that_the_templates_no_longer_say() -> None:
    template = extracted(TEMPLATES)
    assert template_file(TEMPLATES).read_text("utf-8") == text_of(template), "run: make messages"
    assert set(available_languages(TEMPLATES)) >= SHIPPED
    wrong: list[str] = []
    for language in set(available_languages(TEMPLATES)) - {"en"}:
        file = catalogue_file(TEMPLATES, language)
        catalogue = read_catalogue(file)
        found = [*faults(language, catalogue, template), *leftovers(catalogue, template)]
        wrong += [f"{file}:{line}: {what}" for line, what in found]
        assert str(catalogue.locale) == str(locale_of(language))
    assert wrong == []


def test_no_translation_is_the_english_by_oversight_and_keys_say_what_they_stand_for() -> None:
    template = extracted(TEMPLATES)
    words = {message.context: message for message in template if message.id and not str(message.context).startswith("range.")}
    for language in set(available_languages(TEMPLATES)) - {"en"}:
        same = [key for key, (english, text) in messages(TEMPLATES, language).items() if key in words and english == text]
        assert same == [], language
    assert {name for message in words.values() for name in _names(str(message.id))} <= PLACEHOLDERS


def test_every_language_is_fit_to_be_published_with_its_direction_and_its_words() -> None:
    brand = load_brand("default", TEMPLATES)
    for language in sorted(SHIPPED - {"en", "ja"}):  # those two are the seed's, which has a test of its own
        for state, page in render_pages(brand, language, TEMPLATES, ("waiting", "lapsed")).items():
            check_page(f"{language}/{state}", page, state, language)
            assert f'<html lang="{language}" dir="{"rtl" if language in ("ar", "he") else "ltr"}"' in page
            assert messages(TEMPLATES, language)[f"{state}.title"][1].partition("{")[0] in page


def test_a_name_from_elsewhere_keeps_its_own_direction() -> None:
    brand = load_brand("default", TEMPLATES)
    for language in ("ar", "he"):
        page = render_pages(brand, language, TEMPLATES, ("waiting",))["waiting"]
        title = page.partition("<title>")[2].partition("</title>")[0]
        assert "\u2068{{queue_name}}\u2069" in title
        body = page.partition("<main>")[2].partition("</main>")[0]
        shown = body.count(">{{queue_name}}<")
        assert shown == body.count("<bdi>{{queue_name}}</bdi>") > 3


@pytest.mark.parametrize("language", sorted(SHIPPED) + list(OTHERS))
def test_plural_forms_are_those_of_cldr_in_catalogues_and_in_style_sheets(language: str) -> None:
    names, rule = categories(language), plural_rule(language)
    index = gettext.c2py(plural_header(language).partition("plural=")[2].rstrip(";"))
    for number in (*SAMPLES, 12_345, 999_999):
        assert names[index(number)] == category(language, number) == rule.category(str(number)), number
    assert bool(plural_css(language)) == (len(names) > 1)
    patterns = [pattern for unit in UNITS for pattern in units(language).patterns[unit].values()]
    assert all(pattern.count("{0}") == 1 for pattern in patterns)
    assert own_name(language)


def test_what_the_script_is_told_has_a_pattern_for_every_number() -> None:
    for language in SHIPPED:
        told = json.loads(Words(language, TEMPLATES).live())
        assert set(told) == {"units", "range", "span", "join"}
        assert all(set(told["units"][unit]) == set(categories(language)) for unit in UNITS)
        assert all("{0}" in told[key] and "{1}" in told[key] for key in ("range", "span", "join"))


def _names(text: str) -> Iterator[str]:
    return (piece.partition("}")[0] for piece in text.split("{")[1:])


def _template() -> Catalog:
    template = Catalog()
    template.add("Wait {minutes}", context="wait")
    template.add(("{n} person", "{n} people"), context="people")
    return template


def _translated(wait: str = "Warte {minutes}", one: str = "{n} Person", other: str = "{n} Personen") -> Catalog:
    catalogue = Catalog(locale="de")
    catalogue.add("Wait {minutes}", wait, context="wait")
    catalogue.add(("{n} person", "{n} people"), (one, other), context="people")
    return catalogue


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({}, ""),
        ({"one": "eine Person"}, ""),
        ({"wait": ""}, "'wait' is not translated"),
        ({"wait": "Warte"}, "'wait' lost {minutes}"),
        ({"wait": "Warte {minuten}"}, "'wait' has {minuten}, which the English does not have"),
        ({"wait": "{minutes} {minutes}"}, "more or less often"),
        ({"wait": "Warte {{minutes}}"}, "has {{minutes}} where the English spells it {minutes}"),
        ({"wait": "Warte {minutes"}, "belongs to no {name}"),
        ({"wait": "Warte {Minuten} {minutes}"}, "belongs to no {name}"),
        ({"wait": "<b>Warte</b> {minutes}"}, "words, not HTML"),
        ({"wait": " Warte {minutes}"}, "begins or ends with a blank"),
        ({"wait": "Warte \u202e{minutes}"}, "U+202E"),
        ({"other": "Personen"}, "'people', form 'other', lost {n}"),
        ({"other": ""}, "'people', form 'other', is not translated"),
    ],
)
def test_a_fault_of_a_translation_is_said(change: dict[str, str], what: str) -> None:
    found = [text for _, text in faults("de", _translated(**change), _template())]
    assert (len(found) == 1 and what in found[0]) if what else found == []


def test_a_fuzzy_a_missing_and_a_left_over_message_and_foreign_plural_forms_are_faults() -> None:
    fuzzy = _translated()
    fuzzy.get("Wait {minutes}", "wait").flags.add("fuzzy")  # type: ignore[union-attr]
    assert ["marked fuzzy" in text for _, text in faults("de", fuzzy, _template())] == [True]
    missing = Catalog(locale="de")
    assert [text.split(" is not")[0] for _, text in faults("de", missing, _template())] == [
        "the message 'wait'", "the message 'people'",
    ]  # fmt: skip
    more = _translated()
    more.add("Gone", "Weg", context="gone")
    assert ["no message of the templates" in text for _, text in leftovers(more, _template())] == [True]
    assert "forms are: one, few, many" in next(faults("pl", _translated(), _template()))[1]
    assert "no language that CLDR knows" in next(faults("tlh", _translated(), _template()))[1]


def test_a_language_is_added_without_code_and_published_when_its_last_message_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    templates = Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))
    for language in set(available_languages(templates)) - {"en", "ja"}:
        shutil.rmtree(catalogue_file(templates, language).parents[1])
    kept = catalogue_file(templates, "ja").read_text("utf-8")
    assert main(["--add", "sr-Latn", "--templates", str(templates)]) == 1
    assert "sr-Latn: " in (said := capsys.readouterr().out)
    assert "ja: complete" in said
    assert catalogue_file(templates, "ja").read_text("utf-8") == kept  # nothing changed, so nothing is written anew
    file = catalogue_file(templates, "sr-Latn")
    with pytest.raises(PublishError) as refused:
        publish("default", templates, ["sr-Latn"])
    assert refused.value.file == str(file)
    assert "is not translated" in refused.value.what
    catalogue = read_catalogue(file)
    for message in catalogue:
        if message.id:
            message.string = f"# {message.id}"
    file.write_text(text_of(catalogue), encoding="utf-8")
    assert main(["--templates", str(templates)]) == 0
    assert publish("default", templates, ["sr-Latn"])


def test_a_reworded_message_keeps_its_translation_as_fuzzy(tmp_path: Path) -> None:
    templates = Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))
    for language in set(available_languages(templates)) - {"en", "de"}:
        shutil.rmtree(catalogue_file(templates, language).parents[1])
    line = templates / "base" / "line.html.jinja"
    line.write_text(line.read_text("utf-8").replace('"You are next"', '"You come next"'), encoding="utf-8")
    assert main(["--templates", str(templates)]) == 1
    found = read_catalogue(catalogue_file(templates, "de")).get("You come next", "ahead.none")
    assert found is not None
    assert found.fuzzy
    assert strings_of(found) == (messages(TEMPLATES, "de")["ahead.none"][1],)


@pytest.mark.parametrize(("text", "what"), [('msgid "a\n', "no gettext catalogue"), ("\udcff", "no gettext catalogue")])
def test_a_file_that_is_no_catalogue_is_named(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "stanchion.po"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(PublishError, match=what):
        read_catalogue(file)
    with pytest.raises(PublishError, match="cannot be read"):
        read_catalogue(tmp_path / "none.po")
