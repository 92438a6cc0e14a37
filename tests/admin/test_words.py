"""The console in other languages: every message is translated, and the language is that of the request."""

from __future__ import annotations

import pytest

from admin import words
from admin.console import messages
from admin.words import LANGUAGES, _, accepted, ngettext, use_language


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != words.ENGLISH])
def test_every_message_of_the_console_is_translated(language: str) -> None:
    catalogue = messages.updated(language, messages.extracted())
    assert list(messages.faults(catalogue)) == [], "translate it in the catalogue, after: make messages"
    written = messages.catalogue_file(language).read_text(encoding="utf-8")
    assert written == messages.text_of(catalogue), "run: make messages"


def test_a_fault_of_a_translation_is_found() -> None:
    catalogue = messages.updated("ja", messages.extracted())
    catalogue.add("%(count)s people", "人")
    catalogue.add("nothing yet", "")
    catalogue.add("plain", "%(count)s")
    assert len(list(messages.faults(catalogue))) - len(list(messages.faults(messages.read("ja")))) == 3


def test_the_language_of_the_request() -> None:
    try:
        use_language("ja")
        assert _("Sign out") == "サインアウト"
        assert ngettext("%(num)s day", "%(num)s days", 2) == "%(num)s 日"
        assert _("") == ""
        use_language("xx")
        assert _("Sign out") == "Sign out"
        assert ngettext("%(num)s day", "%(num)s days", 1) == "%(num)s day"
    finally:
        use_language("en")


@pytest.mark.parametrize(
    ("header", "language"),
    [("ja", "ja"), ("ja-JP,en;q=0.9", "ja"), ("de, en;q=0.5, ja;q=0.4", "en"), ("", "en"), ("*", "en"), (";;,,", "en")],
)
def test_what_a_browser_asks_for(header: str, language: str) -> None:
    assert accepted(header) == language
