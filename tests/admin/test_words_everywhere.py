"""No sentence of the console goes past gettext: templates and Python are read, and what a person would read is found."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment

from admin.console import messages, sentences
from admin.console.from_elsewhere import ERRORS
from edge.core.states import QUEUE_STATES

ROOT = messages.ROOT
TEMPLATES = sorted((ROOT / "templates" / "console").rglob("*.html"))
PYTHON = sorted(file for file in (ROOT / "admin" / "console").rglob("*.py") if file.name != "messages.py")
# The same in every language.
SAME = {"Stanchion", "X-Request-Id", "https://shop.example.org/sale", "Sec-Purpose: prefetch", "· Stanchion", "= … UTC",
        "first start", "by the provider"}  # fmt: skip
_SKIPPED = re.compile(r"<(script|style|svg|code|time)\b[^>]*>.*?</\1>|\{%-?\s*trans\b.*?endtrans\s*-?%\}", re.S)
_SPOKEN = re.compile(r'\s(?:aria-label|placeholder|title|alt)="([^"]*)"')
_WORD = re.compile(r"[A-Za-z][A-Za-z'’]+")
# Two English words in a row, or one with a capital that is the whole text; not a path, a key or markup.
_SENTENCE = re.compile(r"(?<![\w/.#=<-])[A-Za-z][a-z'’]+ [a-z]{2,}(?![\w/=-])|^[A-Z][a-z]+( [a-z]+)*[.…]?$")
_GIVEN = {"_", "N_", "gettext", "ngettext", "log", "public", "match"}


def spoken(template: str) -> Iterator[str]:
    """The words of a template that stand in no expression: between tags, and in attributes that are read out."""
    # What an expression makes is a word of its own, and never the beginning of a tag.
    text = "".join("\0" if kind == "variable_begin" else part
                   for _line, kind, part in Environment(extensions=["jinja2.ext.i18n"]).lex(_SKIPPED.sub(" ", template))
                   if kind in ("data", "variable_begin"))  # fmt: skip
    for found in (*_SPOKEN.findall(text), *re.findall(r">([^<>]*)<", f">{text}<")):
        plain = " ".join(re.sub(r"&\w+;|[\w-]+=\"[^\"]*\"", " ", found).split())
        plain = plain.replace("\0", "…")
        if _WORD.search(plain) and plain not in SAME | {"hidden"}:
            yield plain


def said(source: str) -> Iterator[tuple[int, str]]:
    """Lines and texts of a module that look like sentences and are given to no function of gettext."""
    tree = ast.parse(source)
    known: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            known.add(id(node.value))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in _GIVEN:
            known |= {id(each) for argument in node.args for each in ast.walk(argument)}
        elif isinstance(node, ast.Raise):
            known |= {id(each) for each in ast.walk(node)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in known else None
        if isinstance(text, str) and _SENTENCE.search(text) and text not in SAME and not text.startswith("<!doctype"):
            yield node.lineno, text


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: str(file.relative_to(ROOT)))
def test_templates_speak_by_gettext(file: Path) -> None:
    assert list(spoken(file.read_text("utf-8"))) == []


@pytest.mark.parametrize("file", PYTHON, ids=lambda file: str(file.relative_to(ROOT)))
def test_modules_speak_by_gettext(file: Path) -> None:
    assert list(said(file.read_text("utf-8"))) == []


def test_what_goes_past_gettext_is_found() -> None:
    page = '<p>Go on</p><a title="Look at {{ name }}">{{ _("Back") }}</a>{% trans %}Not this{% endtrans %}<code>nor</code>'
    assert sorted(spoken(page)) == ["Go on", "Look at …"]
    module = '"""Not this."""\nsays = f"{count} people wait."\nword = "Resume"\nother = _("Not this.")\nkey = "max_active"\n'
    assert sorted(said(module)) == [(2, " people wait."), (3, "Resume")]


def test_states_mean_what_the_core_says() -> None:
    own = {"open", "closed", "paused", "recovering"}  # they have sentences of their own
    says = {name: state.meaning.removeprefix("an operator's: ") for name, state in QUEUE_STATES.items() if name not in own}
    assert says == sentences.MEANINGS


def test_errors_of_shared_rooms_are_translated_as_they_are_said() -> None:
    sources = [re.sub(r'"\s*\n\s*f?"', "", file.read_text("utf-8")) for file in (ROOT / "admin").rglob("*.py")
               if file.name != "from_elsewhere.py"]  # fmt: skip
    # Two are put together from parts: the length that is allowed, and what is used up.
    parts = {"no more units are left": '"units are left"', "no more slots are free": '"slots are free"'}
    whole = [parts.get(text, text) for text in ERRORS if "must be one line" not in text]
    missing = [text for text in whole if not any(text in source for source in sources)]
    assert missing == []
