"""Every key has a name and a help text for people; sentences of other rooms are in the console's catalogues as they are said."""

from __future__ import annotations

from admin.configure.from_elsewhere import EXPLAINED
from admin.configure.labels import CHOICES, LABELS, SECTION_WORDS, UNITS
from admin.configure.sections import SECTIONS
from admin.configure.warn import warnings
from admin.words import use_language
from edge.core.config import check_config
from edge.core.explain_words import OUTCOMES, WORDS
from edge.core.fields import Choice, Field
from edge.core.groups import GROUP_FIELDS
from edge.core.model import LANE, QUEUE_FIELDS, ROUTE

FIELDS: list[Field] = [*QUEUE_FIELDS, *GROUP_FIELDS, *ROUTE.fields, *LANE.fields]
# Choices that are the same in every language.
AS_THEY_ARE = {"200", "202", "429", "503", "lax", "none", "partitioned"}


def test_every_key_has_words() -> None:
    names = {field.name for field in FIELDS} - {"config_version"}
    assert names - set(LABELS) == set()
    assert set(LABELS) - names == set()
    assert {field.unit for field in FIELDS if field.unit} == set(UNITS)
    assert set(SECTION_WORDS) == set(SECTIONS)


def test_every_choice_has_words() -> None:
    choices = {str(value) for field in FIELDS if isinstance(field.kind, Choice) for value in field.kind.values}
    assert choices - AS_THEY_ARE == set(CHOICES)


def test_the_explanation_is_translated_as_it_is_said() -> None:
    assert set(EXPLAINED) == {*WORDS.values(), *OUTCOMES.values()}


def test_warnings_are_said_in_the_language_of_the_request() -> None:
    config = check_config({"queues": [{"id": "sale", "name": "Sale", "routes": [{"path": "/*"}], "admit_per_minute": 1}]})
    found = warnings(config)
    assert found
    try:
        assert all(each.spoken == each.words for each in found)
        use_language("ja")
        assert all("待ち列 sale" in each.spoken and "bypass に追加してください" in each.spoken for each in found), found
        assert all("queue" not in each.spoken for each in found)
    finally:
        use_language("en")
