"""A visitor reads the page in the language that the browser asks for, once it is published."""

from __future__ import annotations

import re
import time

import pytest

from tests.e2e.stack import PATIENCE_S, Stack

pytestmark = pytest.mark.usefixtures("stack")


def language_of(stack: Stack, wanted: str) -> tuple[str, str, str]:
    """What the page says that it is in, what its header says, and whether caches would know."""
    answer = stack.visitor(**({"Accept-Language": wanted} if wanted else {})).get("/spoken/")
    found = re.search(r'<html lang="([^"]+)" dir="([a-z]+)"', answer.text)
    assert answer.status_code == 503
    assert found
    assert "accept-language" in answer.headers["Vary"].lower()
    return found[1], found[2], answer.headers["Content-Language"]


def test_pages_follow_accept_language_as_soon_as_they_are_published(stack: Stack) -> None:
    languages = ("en", "ar", "zh-Hant")
    done = stack.command("publish", "concert", *(part for name in languages for part in ("--language", name)))
    assert done.returncode == 0, done.stderr
    deadline = time.monotonic() + PATIENCE_S
    while language_of(stack, "ar-EG,ar;q=0.9,en;q=0.8")[0] != "ar":
        assert time.monotonic() < deadline, "the published pages are not in force"
        time.sleep(0.1)
    assert language_of(stack, "ar-EG,ar;q=0.9,en;q=0.8") == ("ar", "rtl", "ar")
    assert language_of(stack, "zh-TW,zh;q=0.9") == ("zh-Hant", "ltr", "zh-Hant")
    assert language_of(stack, "de-DE,de;q=0.9,*;q=0.1") == ("en", "ltr", "en")
    assert language_of(stack, "") == ("en", "ltr", "en")
