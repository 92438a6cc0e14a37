"""The table of keys: it says everything about every key, and the Queue has exactly these."""

from __future__ import annotations

import dataclasses
import re

import pytest

from edge.core.fields import Field
from edge.core.model import ASSET_EXTENSIONS, ATTRIBUTES, LANE, QUEUE_FIELDS, ROUTE, Lane, Queue, Route
from tests.core.support import World

_UNIT_WORDS = ("_s", "_ms", "_per_minute", "_bytes")


def test_the_queue_has_exactly_the_keys_of_the_table() -> None:
    names = [field.name for field in dataclasses.fields(Queue)]
    assert names == [*ATTRIBUTES.values(), "group", "line", "group_shares", "scope"]
    assert list(ATTRIBUTES) == [field.name for field in QUEUE_FIELDS]
    assert [field.name for field in dataclasses.fields(Route)] == [field.name for field in ROUTE.fields]
    assert [field.name for field in dataclasses.fields(Lane)] == [field.name for field in LANE.fields]


@pytest.mark.parametrize("field", [*QUEUE_FIELDS, *ROUTE.fields, *LANE.fields], ids=lambda field: field.name)
def test_every_key_says_what_it_means_and_a_duration_its_unit(field: Field) -> None:
    assert len(field.meaning) > 5
    if field.name.endswith("_s"):
        assert field.unit == "s"
    if field.name.endswith("_per_minute"):
        assert "per minute" in field.unit
    if not field.required:
        value = list(field.default) if isinstance(field.default, tuple) else field.default
        assert field.kind.check(value, "") == field.default


def test_asset_extensions_are_in_order_and_none_is_a_page_or_data() -> None:
    assert list(ASSET_EXTENSIONS) == sorted(set(ASSET_EXTENSIONS))
    assert not {"html", "htm", "php", "json", "xml", "txt", "pdf"} & set(ASSET_EXTENSIONS)


def test_the_scope_of_a_queue_is_its_id() -> None:
    each = World(start=False).queue()
    assert each.scope == each.id == "launch"
    assert re.fullmatch("[a-z0-9-]+", each.scope)
