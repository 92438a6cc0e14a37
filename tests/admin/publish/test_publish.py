"""From a brand's folder to checked pages, all or none."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from admin.publish import publish
from admin.publish.__main__ import main, seed
from admin.publish.catalogue import available_languages
from admin.publish.checks import REQUIRED_SLOTS
from admin.publish.languages import direction, font_stack
from edge.core.pages import STATES, compile_page
from tests.admin.publish.sources import TEMPLATES, make, refused

ROOT = Path(__file__).parents[3]
SEED = ROOT / "kv-seed"
BRANDS = sorted(file.parent.name for file in TEMPLATES.glob("brands/*/brand.json"))


@pytest.mark.parametrize("brand", BRANDS)
def test_the_seed_is_what_a_fresh_publish_gives(brand: str) -> None:
    fresh = publish(brand, TEMPLATES, ["en", "ja"])
    kept = {file.relative_to(SEED).as_posix(): file.read_text("utf-8") for file in (SEED / "pages" / brand).rglob("*.*")}
    assert kept == seed(fresh), "run: python -m admin.publish"
    assert set(fresh.pages) == {(language, state) for language in ("en", "ja") for state in STATES}


def test_a_brand_names_the_languages_of_its_pages(templates: Path) -> None:
    make(templates, languages=["ja", "en"])
    assert publish("mine", templates).languages == ("ja", "en")
    make(templates)
    assert publish("mine", templates).languages == tuple(available_languages(templates))


def test_a_brand_brings_its_own_pictures(templates: Path) -> None:
    picture = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'
    make(templates, files={"logo.svg": picture, "back.svg": picture}, name="A & B", logo="logo.svg", background="back.svg",
         support="https://help.example/?a=1&b=2")  # fmt: skip
    page = publish("mine", templates, ["en"]).pages["en", "waiting"]
    assert '<img class="logo" src="data:image/svg+xml;base64,' in page
    assert 'alt="A &amp; B"' in page
    assert "no-repeat fixed url(data:image/svg+xml;base64," in page
    assert '<a href="https://help.example/?a=1&amp;b=2">Get help</a>' in page


def test_each_state_has_the_slots_that_it_needs() -> None:
    assert REQUIRED_SLOTS.keys() == set(STATES)
    for (_, state), page in publish("concert", TEMPLATES, ["ja"]).pages.items():
        slots = compile_page(page).slots
        assert slots >= REQUIRED_SLOTS[state]
        assert ("refresh_s" in slots) == (state not in ("lapsed", "form", "ended", "had_visit"))


def test_a_brand_inherits_and_changes_what_it_says(templates: Path) -> None:
    make(templates, "parent", {"brand.css": "h1 { color: red; }"}, radius_px=33, texts={"en": {"leave.button": "Step out"}})
    make(templates, "child", {"brand.css": "h1 { color: blue; }"}, extends="parent", texts={"en": {"order.label": "Why?"}})
    page = publish("child", templates, ["en"]).pages["en", "waiting"]
    assert "--radius: 33px;" in page
    assert "Step out" in page
    assert "Why?" in page
    assert page.index("color: red") < page.index("color: blue")
    assert "Hall Nine" not in page


def test_a_brand_may_put_a_template_of_its_own_over_the_base(templates: Path) -> None:
    own = (
        '{% extends "base/line.html.jinja" %}{% block footer %}<p>{{ brand.name }} says {{ slot("message") }}</p>{% endblock %}'
    )
    make(templates, files={"closed.html.jinja": own}, name="A & <B>")
    pages = publish("mine", templates, ["en"]).pages
    assert "<p>A &amp; &lt;B&gt; says {{message}}</p>" in pages["en", "closed"]
    assert "says" not in pages["en", "waiting"]
    assert 'data-shows="closed"' in pages["en", "closed"]
    assert re.search('data-shows="candidate waiting [^"]*"', pages["en", "waiting"])
    assert not re.search('data-shows="[^"]*closed', pages["en", "waiting"])


def test_words_are_text_and_never_markup(templates: Path) -> None:
    make(templates, texts={"en": {"waiting.title": "<b>{queue_name} & {brand}", "promise.open": "<script>{position}</script>"}})
    page = publish("mine", templates, ["en"]).pages["en", "waiting"]
    assert "<title>&lt;b&gt;{{queue_name}} &amp; Mine</title>" in page
    assert '&lt;script&gt;<bdi data-v="position">{{position}}</bdi>&lt;/script&gt;' in page


def test_faint_colours_are_corrected_in_light_and_dark(templates: Path) -> None:
    pale = {"brand": "#ffe9a8", "surface": "#ffffff", "ink": "#dddddd", "brand_ink": "#ffffff"}
    make(templates, light=pale, dark=pale | {"surface": "#000000", "ink": "#222222"})
    page = publish("mine", templates, ["en"]).pages["en", "waiting"]
    assert page.count("--brand: #ffe9a8;") == 2
    assert "--ink: #dddddd" not in page
    assert "--ink: #222222" not in page
    assert "--brand-ink: #ffffff" not in page


@pytest.mark.parametrize(
    ("template", "line", "words"),
    [
        ("{% block main %}\n<p>{{ nobody }}</p>\n{% endblock %}", 3, "'nobody' is undefined"),
        ("{% block main %}\n<p>{{ slot('nobody') }}</p>\n{% endblock %}", 3, "unknown slot 'nobody'"),
        ("{% block main %}\n{% endblok %}", 3, "unknown tag 'endblok'"),
        ("{% block main %}\n{{ source('../../brand.json') }}{% endblock %}", 3, "there is no file"),
        ("{% block main %}\n{{ ''.__class__.__mro__ }}{% endblock %}", 3, "unsafe"),
        ("{% block main %}\n{{ 1 / 0 }}{% endblock %}", 3, "ZeroDivisionError"),
        ("{% block main %}\n{% include 'nobody.html' %}{% endblock %}", 3, "nobody.html"),
        ("{% block main %}\n{{ range(999999999) | length }}{% endblock %}", 3, "Range too big"),
    ],
)
def test_a_mistake_in_a_template_is_named_with_its_line(templates: Path, template: str, line: int, words: str) -> None:
    make(templates, files={"closed.html.jinja": '{% extends "base/notice.html.jinja" %}\n' + template})
    error = refused(templates)
    assert words in str(error)
    assert (Path(error.file).name, error.line) == ("closed.html.jinja", line)


def test_a_message_must_be_translated_and_as_it_is_now(templates: Path) -> None:
    own = '{% extends "base/line.html.jinja" %}{% block footer %}{{ pgettext("ENGLISH") }}{% endblock %}'
    make(templates, files={"closed.html.jinja": own.replace("ENGLISH", 'x.y", "Hello')})
    assert "the message 'x.y' is not translated" in str(refused(templates, languages=("ja",)))
    assert "Hello" in publish("mine", templates, ["en"]).pages["en", "closed"]
    make(templates, texts={"ja": {"x.y": "こんにちは"}})
    assert "こんにちは" in html.unescape(publish("mine", templates, ["ja"]).pages["ja", "closed"])
    make(templates, files={"closed.html.jinja": own.replace("ENGLISH", 'leave.button", "Hello')})
    error = refused(templates, languages=("ja",))
    assert "the message 'leave.button' has changed" in error.what
    assert error.file.endswith("locale/ja/LC_MESSAGES/stanchion.po")


def test_a_page_that_fails_a_check_stops_all(templates: Path) -> None:
    make(templates, files={"brand.css": "body { background: url(https://elsewhere.example/x.png); }"})
    error = refused(templates)
    assert (Path(error.file).name, error.line) == ("brand.css", 1)
    assert "refers to something outside" in error.what


def test_the_command_publishes_into_a_folder(tmp_path: Path, templates: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "kv"
    assert main(["concert", "--languages", "en,ja", "--templates", str(templates), "--to", str(to)]) == 0
    page = (to / "pages/concert/1/ja/waiting.html").read_text("utf-8")
    assert page == (SEED / "pages/concert/1/ja/waiting.html").read_text("utf-8")
    make(templates, scheme="grey")
    assert main(["concert", "mine", "--templates", str(templates), "--to", str(tmp_path / "other")]) == 1
    assert not (tmp_path / "other").exists()
    assert "not published: " in capsys.readouterr().err


def test_languages() -> None:
    assert [direction(name) for name in ("en", "ja", "ar", "he-IL", "fa", "ur-PK")] == ["ltr", "ltr", "rtl", "rtl", "rtl", "rtl"]
    japanese = font_stack(["Arial", "serif"], "ja")
    assert japanese.startswith('"Arial", "Hiragino Sans"')
    assert japanese.endswith(", serif")
    assert '"Noto Sans Arabic"' in japanese
    assert font_stack(["-apple-system"], "zh-TW").startswith('-apple-system, "PingFang TC"')


def test_a_language_from_right_to_left_publishes_as_such(templates: Path) -> None:
    page = publish("default", templates, ["ar"]).pages["ar", "waiting"]
    assert '<html lang="ar" dir="rtl"' in page
