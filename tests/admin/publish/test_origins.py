"""A page that fails a check is mended in a source: its file and line are named, not those of the rendered page."""

from __future__ import annotations

from pathlib import Path

import pytest

from admin.publish.brand import load_brand
from admin.publish.origins import Marks, without_marks
from admin.publish.render import render_pages
from edge.core.pages import STATES
from tests.admin.publish.sources import TEMPLATES, make, refused

OUTSIDE = "https://elsewhere.example/x.png"
MAIN = '{% extends "base/notice.html.jinja" %}\n\n{# a remark\n of two lines #}\n{% block main %}\n<section>\n<h1>Closed</h1>\n'
END = "</section>\n{% endblock %}\n"


@pytest.mark.parametrize(
    ("file", "text", "line", "words"),
    [
        ("brand.css", f"\n\nh1 {{ color: red; }}\nbody {{ background: url({OUTSIDE}); }}\n", 4, "refers to something outside"),
        ("brand.css", "/* \n */\n@import 'x';", 3, "@import may load"),
        ("mark.svg", f"<svg viewBox='0 0 1 1'>\n<path d='M0 0'/>\n<image href='{OUTSIDE}'/></svg>", 3, "<image href> refers to"),
        ("brand.css", "h1 { color: red; }\np { color: red;\n.x { }", 2, "a brace without its other half"),
        ("brand.css", "/* { */ h1::before { content: '}'; }\n}\n", 2, "a brace without its other half"),
        ("poll.js", "// a remark\n\nlet a = 1;\nlet b = '<!--';", 4, "'<!--' in a script"),
        ("closed.html.jinja", f"{MAIN}<p>fine</p>\n<img src='{OUTSIDE}'>\n{END}", 9, "<img src> refers to"),
        ("closed.html.jinja", MAIN + "{% if true %}\n<p onclick='x()'>x</p>\n{% endif %}\n" + END, 9, "<p onclick>"),
        ("closed.html.jinja", MAIN + "<p>{{ '<embed>' | safe }}x</p>\n" + END, 8, "<embed>"),
        ("closed.html.jinja", MAIN + "<p>\n<b>x</p></b>\n" + END, 9, "</p> closes what was not opened last"),
        ("closed.html.jinja", MAIN + "<p>{{ '{{nobody}}' }}</p>\n" + END, 8, "unknown slot 'nobody'"),
        ("closed.html.jinja", MAIN + "{% for n in [1] %}\n<p>{{ n }}</p>\n<embed>\n{% endfor %}\n" + END, 10, "<embed>"),
        ("closed.html.jinja", MAIN.replace("<h1>Closed</h1>", "<p>x</p>") + END, 0, "the page lacks h1"),
        ("closed.html.jinja", '<!doctype html>\n<html lang="en">', 0, "needs the slots"),
    ],
)  # fmt: skip
def test_a_fault_is_named_where_it_can_be_mended(templates: Path, file: str, text: str, line: int, words: str) -> None:
    make(templates, files={file: text})
    error = refused(templates)
    assert words in error.what
    assert "in 'en')" in error.what or "brace" in words
    assert error.file == str(templates / "brands/mine" / file)
    assert error.line == line


def test_a_fault_of_the_base_is_named_there(templates: Path) -> None:
    make(templates)
    css = templates / "base/base.css"
    lines = css.read_text("utf-8").splitlines()
    css.write_text("\n".join([*lines[:20], f"p {{ background: url({OUTSIDE}) }}", *lines[20:]]), "utf-8")
    error = refused(templates)
    assert (error.file, error.line) == (str(css), 21)
    css.write_text("\n".join(lines), "utf-8")
    layout = templates / "base/layout.html.jinja"
    text = layout.read_text("utf-8")
    layout.write_text(text.replace('<div class="column">', f'<div class="column"><img src="{OUTSIDE}">'), "utf-8")
    error = refused(templates)
    assert (error.file, error.line) == (str(layout), text[: text.index('<div class="column">')].count("\n") + 1)


def test_the_nearest_source_on_a_line_of_several(templates: Path) -> None:
    make(templates, files={"inner.html.jinja": f"<img src='{OUTSIDE}'>",
                           "closed.html.jinja": MAIN + "<p>{% include 'inner.html.jinja' %}</p>\n" + END})  # fmt: skip
    error = refused(templates)
    assert (Path(error.file).name, error.line) == ("inner.html.jinja", 1)
    outer = f"<p>{{% include 'inner.html.jinja' %}}<img src='{OUTSIDE}'></p>\n"
    make(templates, files={"inner.html.jinja": "<b>fine</b>", "closed.html.jinja": MAIN + outer + END})
    error = refused(templates)
    assert (Path(error.file).name, error.line) == ("closed.html.jinja", 8)


def test_marks_change_nothing_else() -> None:
    for brand in ("default", "concert"):
        found = load_brand(brand, TEMPLATES)
        plain = render_pages(found, "ar", TEMPLATES, STATES, ("ar", "en"))
        marked = render_pages(found, "ar", TEMPLATES, STATES, ("ar", "en"), marks=Marks())
        for state, page in marked.items():
            assert "".join(without_marks(page).split()) == "".join(plain[state].split())
        assert all(page != plain[state] for state, page in marked.items())
