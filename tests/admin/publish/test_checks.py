"""What a page must not do, whoever wrote it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from admin.publish.checks import MAX_GZIPPED_BYTES, check_page
from admin.publish.errors import PublishError

GOOD = (Path(__file__).parents[3] / "kv-seed/pages/default/1/en/waiting.html").read_text("utf-8")


def refused(page: str, state: str = "waiting", language: str = "en") -> PublishError:
    with pytest.raises(PublishError) as caught:
        check_page("a.html", page, state, language)
    assert caught.value.file == "a.html"
    return caught.value


def put(markup: str) -> str:
    """The good page with a line of markup in its main part."""
    return GOOD.replace("<main>", f"<main>\n{markup}\n", 1)


def test_the_good_page_is_good() -> None:
    check_page("a.html", GOOD, "waiting", "en")


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ('<img alt="" src="https://x.example/a.png">', "<img src> refers to 'https://x.example/a.png'"),
        ('<img alt="" src="/a.png">', "<img src>"),
        ('<img alt="" src="//x.example/a.png">', "<img src>"),
        ('<img alt="" srcset="a.png 2x">', "<img srcset>"),
        ('<a href="http://x.example/">x</a>', "<a href>"),
        ('<area alt="" href="https://x.example/">', "<area href>"),
        ('<a href="javascript:x">x</a>', "<a href>"),
        ('<a href="data:text/html,x">x</a>', "<a href>"),
        ('<form action="https://x.example/"></form>', "<form action>"),
        ('<svg><use xlink:href="https://x.example/a.svg#b"/></svg>', "<use xlink:href>"),
        ('<svg><rect fill="url(https://x.example/a.svg#b)"/></svg>', "url(https://x.example/a.svg#b)"),
        ('<p onclick="x()">x</p>', "inline event handler"),
        ('<p style="color: red">x</p>', "<p style>"),
        ("<script>x()</script>", '<script> needs nonce="{{nonce}}"'),
        ("<style>p { color: red; }</style>", "<style> needs nonce"),
        ('<script nonce="{{nonce}}" src="data:,x"></script>', "must stand in the page itself"),
        ('<style nonce="{{nonce}}">@IMPORT "x.css";</style>', "@import"),
        ('<style nonce="{{nonce}}">p { background: URL( "http://x/" ); }</style>', "url(http://x/"),
        ('<style nonce="{{nonce}}">p { background: u\\72l(http://x/); }</style>', "url(http://x/"),
        ('<style nonce="{{nonce}}">p { background: url(data:image/png,x), u\\000072l(http://x/); }</style>', "url(http://x/"),
        ('<style nonce="{{nonce}}">@\\69mport "x.css";</style>', "@import"),
        ('<style nonce="{{nonce}}">p { background: image-set("x.png" 1x); }</style>', "image-set("),
        ("<iframe></iframe>", "<iframe>"),
        ('<meta http-equiv="refresh" content="{{refresh_s}};url={{target_url}}">', "may only stand in <noscript>"),
        ('<noscript><meta http-equiv="refresh" content="0"></noscript>', "may only stand in <noscript>"),
        ('<meta name="viewport" content="width=device-width, user-scalable=no">', "zooming"),
        ("<b><i>x</b></i>", "closes what was not opened last"),
        ("<p>x", "closes what was not opened last"),
        ("</p>", "closes what was not opened last"),
        ("<p/>", "closes itself only within <svg>"),
        ('<p title="{{oops}}">x</p>', "unknown slot 'oops'"),
        ('<p onclick="{{ahead}}">x</p>', "<p onclick>"),
    ],
)
def test_a_page_that_does_what_it_must_not_is_refused_at_its_line(markup: str, words: str) -> None:
    page = put(markup)
    error = refused(page)
    assert words in error.what
    line = page.splitlines().index(markup) + 1
    assert error.line - line in (0, 1) or error.what.startswith("</main>")


@pytest.mark.parametrize(
    "markup",
    [
        '<a href="mailto:help@x.example">x</a>',
        '<a href="https://x.example/help">x</a>',
        '<a href="#turn">x</a>',
        '<img alt="" src="data:image/png;base64,AAAA">',
        '<svg viewBox="0 0 1 1"><defs><g id="a"/></defs><use href="#a"/><rect fill="url(#b)"/></svg>',
        '<style nonce="{{nonce}}">p::before { content: "\\201c"; background: url("data:image/png,x"); }</style>',
    ],
)
def test_what_a_page_holds_itself_is_welcome(markup: str) -> None:
    check_page("a.html", put(markup), "waiting", "en")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<h1>", "<h2>", "closes what was not opened last"),
        ("{{leave_url}}", "{{target_url}}", "needs the slots leave_url"),
        ('lang="en"', 'lang="de"', 'must say lang="en"'),
        ('dir="ltr"', "", 'must say dir="ltr"'),
        ("<main>", "<div>", "closes what"),
        ('<meta charset="utf-8">', "", "lacks charset"),
        ("</body>\n</html>", "", "<body> is not closed"),
    ],
)
def test_a_page_that_lacks_something_is_refused(old: str, new: str, words: str) -> None:
    assert words in refused(GOOD.replace(old, new, 1)).what


def test_a_page_in_another_language_is_refused() -> None:
    assert 'must say lang="ja"' in refused(GOOD, language="ja").what


def test_a_page_for_another_state_lacks_its_slots() -> None:
    ended = (Path(__file__).parents[3] / "kv-seed/pages/default/1/en/ended.html").read_text("utf-8")
    assert "a page for 'waiting' needs the slots ahead" in refused(ended).what


def test_a_page_may_not_be_too_heavy() -> None:
    noise = random.Random(1).randbytes(MAX_GZIPPED_BYTES).hex()
    assert "bytes gzipped: at most 30,720" in refused(put(f"<p>{noise}</p>")).what
