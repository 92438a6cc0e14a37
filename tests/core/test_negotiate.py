"""Accept as RFC 9110 has it, and who reads JSON rather than HTML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.negotiate import parse_accept, prefers_json, quality


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "application/json;charset=utf-8",
        "APPLICATION/JSON",
        "application/json, text/html;q=0.9",
        "text/html;q=0.8, application/json;q=0.9",
        "application/json, text/plain, */*",  # what HTTP libraries of scripts send
        "application/json, text/javascript, */*; q=0.01",
        "application/*, text/html;q=0.5",
        "text/html;q=0, */*",
        "*/*, text/html;q=0.1",
        "application/json;q=0.5",
        "text/*;q=0.5,application/json;q=0.5",
        "application/json;version=2",
        'application/json;profile="a, text/html;q=1"',
        "application/json; q=.5, text/html;q=0.4",
    ],
)
def test_scripts_get_json(accept: str) -> None:
    assert prefers_json(accept)


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "text/html",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
        "text/html, application/json",
        "text/html,application/json;q=1.0,text/html;q=0.1",
        "application/json;q=0.9, text/html",
        "application/json;q=0",
        "application/json;q=0, */*",
        "application/json;q=x",
        "application/ld+json",
        "image/*",
        "application/json;q=0.5, */*",
        "text/*, application/*",
        ",,;;==",
        "json, */*",
        'text/html;x=", application/json, "',
        "application/json;q=1e0",
        "application/json;q=nan",
        "application/json;q=-1",
        "application/json;q=.",
    ],
)
def test_everybody_else_gets_the_page(accept: str) -> None:
    assert not prefers_json(accept)


@given(st.text(max_size=400))
def test_no_header_is_an_error(accept: str) -> None:
    assert prefers_json(accept) in (True, False)
    assert prefers_json("application/json," + accept * 3) in (True, False)


# RFC 9110, section 12.5.1, table 5; its last line is mended by erratum 7138: `text/*` is the range that holds it.
EXAMPLE = "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5"


@pytest.mark.parametrize(
    ("header", "media_type", "expected"),
    [
        (EXAMPLE, "text/plain;format=flowed", 1.0),
        (EXAMPLE, "text/plain", 0.7),
        (EXAMPLE, "text/html", 0.3),
        (EXAMPLE, "image/jpeg", 0.5),
        (EXAMPLE, "text/plain;format=fixed", 0.4),
        (EXAMPLE, "text/html;level=3", 0.3),
        # "audio/*; q=0.2, audio/basic": audio/basic, else any audio after a mark-down of 80 %.
        ("audio/*; q=0.2, audio/basic", "audio/basic", 1.0),
        ("audio/*; q=0.2, audio/basic", "audio/ogg", 0.2),
        ("audio/*; q=0.2, audio/basic", "text/html", 0.0),
        # "text/html and text/x-c are equally preferred, else text/x-dvi, else text/plain".
        ("text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c", "text/html", 1.0),
        ("text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c", "text/x-c", 1.0),
        ("text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c", "text/x-dvi", 0.8),
        ("text/plain; q=0.5, text/html, text/x-dvi; q=0.8, text/x-c", "text/plain", 0.5),
        # "Media ranges can be overridden by more specific media ranges".
        ("text/*, text/plain, text/plain;format=flowed, */*", "text/plain;format=flowed", 1.0),
        # Section 8.3.1: one media type, written in four ways.
        ("text/html;charset=utf-8", 'text/html; charset="utf-8"', 1.0),
        ("text/html;charset=utf-8", 'Text/HTML;Charset="utf-8"', 1.0),
        ('text/html; charset="UTF-8"', "text/html;charset=utf-8", 1.0),
        ("text/html;charset=utf-8", "text/html", 0.0),
        # Section 12.5.1: q is the weight wherever it stands; section 5.6.1.2: empty members are nothing.
        ("text/html;q=0.5;level=1", "text/html;level=1", 0.5),
        (",, text/html ;q=0.5 ,", "text/html", 0.5),
        ("", "text/html", 0.0),
    ],
)
def test_the_examples_of_the_rfc(header: str, media_type: str, expected: float) -> None:
    assert quality(header, media_type) == expected


_TOKENS = st.sampled_from(["text", "application", "*", "html", "json", "x-c"])
_RANGES = st.tuples(_TOKENS, _TOKENS, st.integers(0, 1000))


@given(st.lists(_RANGES, max_size=6))
def test_the_most_specific_range_decides_in_whatever_order(ranges: list[tuple[str, str, int]]) -> None:
    by_name = {f"{kind}/{name}": thousandths for kind, name, thousandths in ranges}
    expected = next((by_name[name] / 1000 for name in ("text/html", "text/*", "*/*") if name in by_name), 0.0)
    members = [f"{name};q={value / 1000:.3f}" for name, value in by_name.items()]
    assert quality(", ".join(members), "text/html") == expected
    assert quality(",".join(reversed(members)), "text/html") == expected


@given(st.text(alphabet=' ,;="\\\\/*q01.ab', max_size=80))
def test_any_header_is_read(header: str) -> None:
    assert all(0 <= found.quality <= 1 and "/" in found.name for found in parse_accept(header))


@given(st.text(alphabet=' ,;="/*q01.', max_size=40) | st.sampled_from(["application/json", "*/*", "text/html;q=0"]))
def test_the_short_cut_for_browsers_says_what_reading_says(rest: str) -> None:
    json, html = quality(f"text/html,{rest}", "application/json"), quality(f"text/html,{rest}", "text/html")
    assert (html, json <= html) == (1.0, True)
    assert not prefers_json(f"text/html,{rest}")
