from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.rest.requests import (
    MAX_COMMANDS,
    BadRequest,
    command_from_json,
    command_from_path,
    commands_from_json,
    query_pairs,
)

word = st.text(st.characters(exclude_categories=["Cs"]))
name = word.filter(bool)


@given(name, st.lists(word))
def test_words_of_a_json_command_arrive_as_they_are(command: str, words: list[str]) -> None:
    body = json.dumps([command, *words]).encode()
    assert command_from_json(body) == [item.encode() for item in [command, *words]]


@given(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_digits(whole: int, fraction: float) -> None:
    body = json.dumps(["SET", whole, fraction]).encode()
    assert command_from_json(body) == [b"SET", str(whole).encode(), json.dumps(fraction).encode()]


def test_a_number_is_not_rewritten() -> None:
    assert command_from_json(b'["SET", 1.50, 1E3, 12345678901234567890123]') == [
        b"SET", b"1.50", b"1E3", b"12345678901234567890123",
    ]  # fmt: skip


def test_truth_values_become_words() -> None:
    assert command_from_json(b'["SET", "k", true, false]') == [b"SET", b"k", b"true", b"false"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe\xff", "not JSON"),
        (b'["SET", NaN]', "NaN is not a JSON number"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a": 1}', "is not a JSON array"),
        (b'"GET"', "is not a JSON array"),
        (b"[]", "no command name"),
        (b'[""]', "no command name"),
        (b"[null]", "no command name"),
        (b'[["GET", "a"]]', "/pipeline"),
        (b'["SET", null]', "item 1 of the request body is null"),
        (b'["SET", "k", ["v"]]', "item 2 of the request body is an array"),
        (b'["SET", "k", {"v": 1}]', "item 2 of the request body is an object"),
        (b'["SET", "\\ud800"]', "surrogate"),
    ],
)
def test_a_bad_command_says_what_is_wrong(body: bytes, told: str) -> None:
    with pytest.raises(BadRequest, match=r"^ERR ") as caught:
        command_from_json(body)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"[]", "empty pipeline"),
        (b'{"a": 1}', "must be a JSON array"),
        (b'[["GET", "a"], "GET"]', "command 2 is not a JSON array"),
        (b'[["GET", "a"], []]', "command 2 has no command name"),
        (json.dumps([["PING"]] * (MAX_COMMANDS + 1)).encode(), "too many commands"),
    ],
)
def test_a_bad_pipeline_says_which_command(body: bytes, told: str) -> None:
    with pytest.raises(BadRequest) as caught:
        commands_from_json(body)
    assert told in str(caught.value)


@given(st.lists(st.binary(min_size=1), min_size=1), st.binary())
def test_words_of_a_path_may_be_any_bytes(words: list[bytes], body: bytes) -> None:
    path = "/" + "/".join(quote(item, safe="") for item in words)
    assert command_from_path(path.encode(), [], body) == words + ([body] if body else [])


def test_the_body_comes_last_and_query_words_follow_it() -> None:
    query = query_pairs(b"EX=100&_token=secret&NX")
    assert command_from_path(b"/set/foo", query, b"bar") == [b"set", b"foo", b"bar", b"EX", b"100", b"NX"]


def test_a_slash_in_a_word_is_written_as_percent_2f() -> None:
    assert command_from_path(b"/get/a%2Fb", [], b"") == [b"get", b"a/b"]


@pytest.mark.parametrize("path", [b"/", b"", b"//"])
def test_a_path_without_command_is_refused(path: bytes) -> None:
    with pytest.raises(BadRequest, match="empty command"):
        command_from_path(path, [], b"")


@given(st.lists(st.tuples(st.binary(min_size=1), st.binary())))
def test_query_pairs_keep_order_and_bytes(pairs: list[tuple[bytes, bytes]]) -> None:
    text = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in pairs)
    assert query_pairs(text.encode()) == pairs
