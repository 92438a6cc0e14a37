"""docs/draw.md: its table of keys is what the gate publishes before and after an opening."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cli.reference import DOCS
from edge.core.draw_record import Opening, record

PAGE = (DOCS / "draw.md").read_text(encoding="utf-8")
# Each key of the table with its two columns, in the order of the page.
ROWS = {
    key: (before.strip(), afterwards.strip())
    for keys, before, afterwards in re.findall(r"^\| (`[^|]*`) \|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
    for key in re.findall(r"`([a-z_]+)`", keys)
}


def published(*, is_open: bool, is_drawn: bool = True, beacon: str | None = "round 7") -> dict[str, Any]:
    opening = Opening(is_drawn, "s", "e", 1_000, 2_000 if is_open else 0, "ab" * 32, beacon, "77" if is_open and beacon else "",
                      (3,) if is_open else (), "c0" if is_open else "")  # fmt: skip
    return record("sale", {"": 0}, opening)


@pytest.mark.parametrize("is_open", [False, True])
def test_its_table_names_every_key_that_is_published_and_no_other(is_open: bool) -> None:
    assert set(ROWS) == set(published(is_open=is_open))


@pytest.mark.parametrize("key", ROWS)
def test_what_it_calls_null_before_the_opening_is_null_and_nothing_else(key: str) -> None:
    before = ROWS[key][0]
    is_null = published(is_open=False)[key] is None
    if key == "operator_could_influence":
        assert is_null
        assert published(is_open=False, beacon=None)[key]
    else:
        assert is_null == before.startswith("null"), before


@pytest.mark.parametrize("key", [key for key, (_, afterwards) in ROWS.items() if afterwards == "the same"])
def test_what_it_calls_the_same_afterwards_is_the_same(key: str) -> None:
    for beacon in ("round 7", None):
        assert published(is_open=False, beacon=beacon)[key] == published(is_open=True, beacon=beacon)[key]


def test_every_key_has_its_value_after_a_draw_with_a_beacon() -> None:
    empty = {key for key, value in published(is_open=True).items() if value is None}
    assert empty == {"operator_could_influence"}
