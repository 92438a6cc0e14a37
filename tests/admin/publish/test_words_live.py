"""Words that depend on numbers, where they are chosen: the script's in node, the style sheet's in Chromium."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from markupsafe import Markup

from admin.publish.catalogue import available_languages
from admin.publish.locales import categories, category
from admin.publish.plurals import plural_css
from admin.publish.words import Words
from tests.admin.publish.visitor import chromium
from tests.needs import needs

TEMPLATES = Path(__file__).parents[3] / "templates"
_PROGRAM = """
const cases = JSON.parse(require("fs").readFileSync(0));
const script = process.argv[1];
const said = cases.map(([lang, words, asked]) => {
  const document = { documentElement: { dataset: { words }, lang } };
  const results = `${JSON.stringify(asked)}.map(([name, ...of]) => eval(name)(...of))`;
  return new Function("document", `${script}; return ${results};`)(document);
});
console.log(JSON.stringify(said));
"""
_ASKED = [["span", 8, 12], ["span", 50, 70], ["span", 80, 110], ["span", 1, 2], ["minutes", 1], ["minutes", 22], ["minutes", 60],
          ["minutes", 121], ["number", 12345]]  # fmt: skip
_SAID = {
    "en": ["8 to 12 minutes", "50 minutes to 1 hour 10 minutes", "1 hour 20 minutes to 1 hour 50 minutes", "1 to 2 minutes",
           "1 minute", "22 minutes", "1 hour", "2 hours 1 minute", "12,345"],
    "de": ["8 bis 12 Minuten", "50 Minuten bis 1 Stunde 10 Minuten", "1 Stunde 20 Minuten bis 1 Stunde 50 Minuten",
           "1 bis 2 Minuten", "1 Minute", "22 Minuten", "1 Stunde", "2 Stunden 1 Minute", "12.345"],
    "ja": ["8〜12 分", "50 分〜1 時間 10 分", "1 時間 20 分〜1 時間 50 分", "1〜2 分", "1 分", "22 分", "1 時間", "2 時間 1 分",
           "12,345"],
    "zh-Hans": ["8–12分钟", "50分钟至1小时10分钟", "1小时20分钟至1小时50分钟", "1–2分钟", "1分钟", "22分钟", "1小时",
                "2小时1分钟", "12,345"],
    "ru": ["8–12 мин", "50 мин – 1 ч 10 мин", "1 ч 20 мин – 1 ч 50 мин", "1–2 мин", "1 мин", "22 мин", "1 ч", "2 ч 1 мин",
           "12\u00a0345"],
    "ar": ["8 إلى 12 دقيقة", "50 دقيقة إلى 1 ساعة و10 دقائق", "1 ساعة و20 دقيقة إلى 1 ساعة و50 دقيقة", "1 إلى 2 دقيقة", "1 دقيقة",
           "22 دقيقة", "1 ساعة", "2 ساعة و1 دقيقة", "12,345"],
    "he": ["8 עד 12 דקות", "50 דקות עד 1 שעה 10 דקות", "1 שעה 20 דקות עד 1 שעה 50 דקות", "1 עד 2 דקות", "1 דקה", "22 דקות",
           "1 שעה", "2 שעות 1 דקה", "12,345"],
}  # fmt: skip


def test_the_script_says_durations_in_every_language() -> None:
    node = needs("node")
    languages = available_languages(TEMPLATES)
    script = (TEMPLATES / "base" / "words.js").read_text("utf-8")
    cases = [[language, Words(language, TEMPLATES).live(), _ASKED] for language in languages]
    done = subprocess.run([node, "-e", _PROGRAM, script], input=json.dumps(cases), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said = dict(zip(languages, json.loads(done.stdout), strict=True))
    assert {language: said[language] for language in _SAID} == _SAID
    for language, texts in said.items():
        assert all(set("0123456789") & set(text) for text in texts), language
        assert not any("{" in text or "undefined" in text for text in texts), language


def test_the_style_sheet_shows_the_form_of_the_number_in_every_language() -> None:
    numbers = [*range(32), 100, 101, 102, 103, 111, 112, 122, 1000, 1_000_000]
    with chromium() as browser:
        tab = browser.new_page(java_script_enabled=True)
        for language in available_languages(TEMPLATES):
            if not plural_css(language):
                continue
            forms = Markup("").join(Markup('<i class="p-{0}">{0}</i>').format(name) for name in categories(language))
            lines = Markup("").join(Markup('<p data-n="{}"><b>{}</b></p>').format(number, forms) for number in numbers)
            tab.set_content(f"<!doctype html><style>{plural_css(language)}</style>{lines}")
            shown = tab.evaluate("[...document.querySelectorAll('p')].map(line => line.innerText.trim())")
            assert shown == [category(language, number) for number in numbers], language


@pytest.mark.parametrize("language", ["en", "ar", "ja"])
def test_a_duration_stands_in_the_page_in_words(language: str) -> None:
    made = Words(language, TEMPLATES).duration("{{grace}}", "{{grace_unit}}")
    assert made.count("{{grace}}") == 2  # once to read, once to choose by
    assert made.count('class="u-') == 3
    assert (made.count('class="p-') > 0) == (language != "ja")
    range_of = Words(language, TEMPLATES).duration("{{wait_high}}", "{{wait_unit}}", "{{wait_low}}", live="wait")
    assert range_of.startswith('<bdi class="d" data-v="wait" data-n="{{wait_high}}" data-u="{{wait_unit}}">{{wait_low}}')
    assert range_of.index("{{wait_low}}") < range_of.rindex("{{wait_high}}") < range_of.index('class="u-s"')
