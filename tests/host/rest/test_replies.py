from __future__ import annotations

import asyncio
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.rest.node import RawParser
from host.rest.replies import Reply, ReplyError, Status, dumps, flatten, outcome, to_json, to_resp2

line = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"))
replies: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.integers(-(2**63), 2**63 - 1)
    | st.binary()
    | line.map(lambda text: Status(text.encode()))
    | line.map(ReplyError),
    st.lists,
    max_leaves=20,
)


def test_base64_spares_ok_numbers_and_null_at_any_depth() -> None:
    reply: Reply = [b"OK", b"bar", 7, None, [b"OK", b"\xff", []]]
    assert to_json(reply, base64=True) == ["OK", "YmFy", 7, None, ["OK", "/w==", []]]


@given(st.binary())
def test_base64_is_exact_for_any_bytes(value: bytes) -> None:
    encoded = to_json(value, base64=True)
    assert isinstance(encoded, str)
    assert encoded == "OK" if value == b"OK" else b64decode(encoded) == value


def test_without_base64_other_bytes_are_replaced() -> None:
    assert to_json(b"a\xffb", base64=False) == "a\ufffdb"


def test_an_error_is_told_plainly_even_with_base64() -> None:
    assert outcome(ReplyError("WRONGTYPE x"), base64=True) == {"error": "WRONGTYPE x"}
    assert outcome([ReplyError("ERR y")], base64=False) == {"result": ["ERR y"]}


def test_json_keeps_letters_and_stays_compact() -> None:
    assert dumps([{"result": "Grüße"}]) == '[{"result":"Grüße"}]'.encode()


def test_flatten_gives_resp2_shapes() -> None:
    assert flatten({b"a": 1.5, "b": [True, None, (b"x",)]}) == [b"a", b"1.5", b"b", [1, None, [b"x"]]]


def test_flatten_refuses_what_no_reply_is() -> None:
    with pytest.raises(TypeError, match="object"):
        flatten(object())


@given(replies)
def test_resp2_reads_back_as_the_same_reply(reply: Reply) -> None:
    """What we write, our own parser of real connections reads, types included."""

    async def read() -> Any:
        stream = asyncio.StreamReader()
        stream.feed_data(to_resp2(reply))
        parser = RawParser(65536)
        parser._stream = stream
        parser._connected = True
        return await parser.read_response()

    again = asyncio.run(read())
    assert again == reply
    assert repr(again) == repr(reply)
