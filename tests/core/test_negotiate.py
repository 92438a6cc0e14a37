"""Who reads JSON rather than HTML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.negotiate import prefers_json


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
        "application/json;q=0.9, text/html",
        "application/json;q=0",
        "application/json;q=0, */*",
        "application/json;q=x",
        "application/ld+json",
        "image/*",
        "application/json;q=0.5, */*",
        "text/*, application/*",
        ",,;;==",
    ],
)
def test_everybody_else_gets_the_page(accept: str) -> None:
    assert not prefers_json(accept)


@given(st.text(max_size=400))
def test_no_header_is_an_error(accept: str) -> None:
    assert prefers_json(accept) in (True, False)
    assert prefers_json("application/json," + accept * 3) in (True, False)
