"""An edited page that brings something in from elsewhere is not taken; what is published never looks like one."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import pytest

from edge.core.outside import refuse_outside
from edge.core.pages import PageError, compile_stored, seal

SEED = Path(__file__).parents[2] / "kv-seed" / "pages"
PAGE = '<!doctype html>\n<html lang="en"><head>\n<title>x</title></head>\n<body>\n<p>{{queue_name}}</p>\nHERE\n</body></html>\n'

BRINGS_IN = (
    '<script src="https://x.example/a.js"></script>',
    '<script src=//x.example/a.js></script>',
    "<SCRIPT SRC='HTTPS://x.example/a.js'>1</SCRIPT>",
    '<link rel="stylesheet" href="https://x.example/a.css">',
    '<img alt="" src="https://x.example/a.png">',
    '<img srcset="//x.example/a.png 1x">',
    '<img src = "http://x.example/a.png">',
    "<img src=\n'//x.example/a.png'>",
    '<video poster="https://x.example/a"></video>',
    '<svg><image xlink:href="https://x.example/a.png"/></svg>',
    '<svg><use href="//x.example/a.svg#b"/></svg>',
    '<style>p { background: url(https://x.example/a.png) }</style>',
    "<style>p { background: url( '//x.example/a.png') }</style>",
    '<style>@import "https://x.example/a.css";</style>',
    '<style>@import url(//x.example/a.css);</style>',
    '<iframe></iframe>',
    '<iframe src="/x"></iframe>',
    '<object data="x"></object>',
    '<embed>',
    '<base href="/">',
    '<form action="https://x.example/"></form>',
    '<button formaction="//x.example/">x</button>',
    '<a href="https://x.example/" ping="https://y.example/">x</a>',
    '<body background="https://x.example/a.png">',
)
FINE = (
    '<a href="https://x.example/">help</a>',
    '<p>see https://x.example/</p>',
    '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    '<img src="data:image/png;base64,AA//AA">',
    '<style>/* // */ p { color: red }</style>',
    '<script>let a = "<img src=\'//x.example/\'>";</script>',
    '<form method="post" action="{{leave_url}}"></form>',
    '<p>1 = //</p>',
    '<a\nclass="x" href=//x.example>x</a>',
    '<baseline></baseline>',
)


@pytest.mark.parametrize("markup", BRINGS_IN)
def test_what_an_edited_page_brings_in_is_named_with_its_line(markup: str) -> None:
    with pytest.raises(PageError, match="from elsewhere") as caught:
        compile_stored(PAGE.replace("HERE", markup))
    assert caught.value.line in (6, 7)


@pytest.mark.parametrize("markup", FINE)
def test_what_stays_within_the_page_is_fine(markup: str) -> None:
    assert compile_stored(PAGE.replace("HERE", markup)).slots >= {"queue_name"}


def test_no_published_page_looks_like_one() -> None:
    pages = list(SEED.rglob("*.html"))
    assert len(pages) > 50
    for file in pages:
        refuse_outside(file.read_text("utf-8"))


def test_a_published_page_is_not_looked_through_again() -> None:
    # Publishing would refuse it; the mark at its end says that it was checked.
    marked = seal(PAGE.replace("HERE", "<iframe></iframe>"))
    assert compile_stored(marked).slots == {"queue_name"}
    with pytest.raises(PageError):
        compile_stored(marked.replace("<iframe>", "<iframe id=x>"))


UNITS = ("<p ", " src='", "<script>", "<script", "=", "= ", "=a", "@import", "url(", "//", '<a href="//')


@pytest.mark.parametrize("unit", UNITS)
def test_the_time_grows_with_the_page_and_no_faster(unit: str) -> None:
    def seconds(times: int) -> float:
        started_s = time.perf_counter()
        with suppress(PageError):
            refuse_outside(unit * times)
        return time.perf_counter() - started_s

    assert seconds(40_000) < 100 * max(0.002, min(seconds(4_000) for _ in range(3)))
