"""Checkers of JSON values: what they take, what they refuse and how they say so, and that the JSON Schema says the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from edge.core.errors import ConfigError
from edge.core.fields import Bool, Choice, Field, Int, ListOf, Obj, Text

INT = Int(1, 60)
OBJ = Obj((Field("id", Text("[a-z]+", "letters", 8), "name"), Field("n", INT, "a number", 5, "s")), lambda v: tuple(v.items()))
KINDS: dict[str, Any] = {
    "int": INT,
    "optional int": Int(0, 9, optional=True),
    "bool": Bool(),
    "text": Text("[a-z]+", "letters", 8),
    "optional text": Text("[a-z]+", "letters", 8, optional=True),
    "numbers": Choice((200, 503)),
    "words": Choice(("lax", "none")),
    "list": ListOf(Text("[a-z]+", "letters", 3), 1, 3),
    "optional list": ListOf(INT, 0, 2, optional=True),
    "object": OBJ,
}


def problem(kind: Any, value: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        kind.check(value, "a.b")
    assert isinstance(caught.value, ConfigError)
    return caught.value


_NO_NUMBERS = [True, False, 0, 61, 1.5, "5", None, [], {}, float("inf"), float("nan"), 10**5000]


@pytest.mark.parametrize("value", _NO_NUMBERS, ids=range(len(_NO_NUMBERS)))
def test_a_number_is_a_whole_number_within_its_bounds(value: Any) -> None:
    error = problem(INT, value)
    assert error.path == "a.b"
    assert "a whole number from 1 to 60" in error.problem
    assert len(str(error)) < 300


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert INT.check(5.0, "") == 5
    assert isinstance(INT.check(5.0, ""), int)


def test_null_is_only_for_what_is_optional() -> None:
    assert Int(0, 9, optional=True).check(None, "") is None
    assert "or null" in problem(Int(0, 9, optional=True), "x").problem
    assert "or null" not in problem(INT, None).problem


@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_a_truth_value_is_true_or_false(value: Any) -> None:
    assert problem(Bool(), value).problem.endswith("true or false")


@pytest.mark.parametrize("value", ["", "A", "abcdefghi", "abc\n", "ab c", 5, None, ["a"], "é"])
def test_a_text_matches_as_a_whole(value: Any) -> None:
    assert "letters, at most 8 characters" in problem(KINDS["text"], value).problem


def test_a_wrong_value_is_shown_but_not_at_length() -> None:
    assert "'XY'" in problem(KINDS["text"], "XY").problem
    assert len(problem(KINDS["text"], "X" * 100_000).problem) < 200
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert len(problem(KINDS["text"], deep).problem) < 200, "how deep a list may be to be shown depends on the Python"


def test_a_choice_is_by_value_and_never_a_truth_value() -> None:
    assert Choice((200, 503)).check(503.0, "") == 503
    assert "one of 1, 2" in problem(Choice((1, 2)), True).problem
    assert problem(Choice(("lax",)), ["lax"]).path == "a.b"


def test_a_list_names_the_member_that_is_wrong() -> None:
    assert problem(KINDS["list"], ["a", "B"]).path == "a.b[1]"
    assert problem(KINDS["list"], ["a", "b", "a"]).path == "a.b[2]"
    assert "1 to 3 members" in problem(KINDS["list"], []).problem
    assert problem(KINDS["list"], "abc").path == "a.b"
    assert KINDS["optional list"].check(None, "") is None


def test_an_object_names_what_is_missing_unknown_or_wrong() -> None:
    assert problem(OBJ, {}).path == "a.b.id"
    assert "name" in problem(OBJ, {}).problem
    assert problem(OBJ, {"id": "x", "m": 1}).path == "a.b.m"
    assert "known are id, n" in problem(OBJ, {"id": "x", "m": 1}).problem
    assert problem(OBJ, {"id": "x", "n": 0}).path == "a.b.n"
    assert problem(OBJ, []).path == "a.b"
    assert len(problem(OBJ, {"x" * 10_000: 1}).path) < 100
    assert OBJ.check({"id": "x"}, "") == (("n", 5), ("id", "x"))


def test_the_path_has_no_dot_at_its_start() -> None:
    with pytest.raises(ConfigError) as caught:
        OBJ.check({}, "")
    assert str(caught.value).startswith("id: ")


def test_a_long_list_is_checked_in_one_go() -> None:
    many = ListOf(Int(0, 10**6), 0, 200_000)
    assert len(many.check(list(range(100_000)), "") or ()) == 100_000


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 600) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["lax", "none", "a", "abc", "abcdefghi", "a\n", "", "A", 5.0, 503.0, 0.0, 1.0]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["id", "n", "m"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
@given(value=_JSON)
def test_the_schema_takes_what_the_check_takes(name: str, value: Any) -> None:
    kind = KINDS[name]
    value = json.loads(json.dumps(value))
    try:
        kind.check(value, "")
        is_taken = True
    except ConfigError:
        is_taken = False
    assert Draft202012Validator(kind.schema()).is_valid(value) == is_taken


def test_the_schema_tells_meaning_unit_and_default() -> None:
    assert OBJ.schema()["properties"]["n"] == {
        "type": "integer", "minimum": 1, "maximum": 60, "description": "a number (unit: s)", "default": 5,
    }  # fmt: skip
    assert OBJ.schema()["required"] == ["id"]
