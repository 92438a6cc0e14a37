"""JSON that people write is read in one way: the same fault gets the same sentence wherever the text comes in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.requests import Request

from admin.bodies import BadBody
from admin.bodies import read_json as read_body
from admin.configure.kinds import Unreadable, read_field
from admin.publish.brand import read_json as read_brand
from admin.publish.errors import PublishError
from cli.main import main
from edge.core.errors import ConfigError
from edge.core.fields import Field, Int, MapOf, Text
from edge.core.json_text import DIGITS_AT_MOST, read_json

FAULTS = {
    "no UTF-8": (b'{"a": "\xff"}', "is not UTF-8 (invalid start byte at byte 7): save it as UTF-8"),
    "byte order mark": (b"\xef\xbb\xbf{}", "begins with a byte order mark: save it as UTF-8 without one"),
    "half a character": (b'{"queues": [{"id": "a", "name": "\\ud83d"}]}', "has half a character, \\ud83d: such an escape"),
    "half a key": (b'{"\\uDE00": 1}', "has half a character, \\ude00"),
    "digits": (b'{"a": ' + b"9" * 5000 + b"}", f"has a number of 5000 digits: at most {DIGITS_AT_MOST} can be read"),
    "negative digits": (b'{"a": -' + b"9" * 5000 + b"}", f"has a number of 5000 digits: at most {DIGITS_AT_MOST} can be read"),
    "deep": (b"[" * 100_000, "has objects and lists deeper than 32 in one another"),
    "twice": (b'{"a": 1, "a": 2}', "a: this key stands twice in one object: leave one of them out"),
    "NaN": (b'{"a": NaN}', "is not JSON: NaN is not a number that JSON has; write a number, or null for none"),
    "infinity": (b'{"a": -Infinity}', "-Infinity is not a number that JSON has"),
    "nothing": (b"", "is not JSON: line 1, column 1: a value was expected"),
    "comma": (b'{"a": 1,\n "b": [1 2]}', "line 2, column 10: a comma was expected, or the end of the list or object"),
    "key": (b"{a: 1}", "line 1, column 2: a key in double quotes was expected"),
    "colon": (b'{"a" 1}', "line 1, column 6: a colon was expected after the key"),
    "more": (b"{} {}", "line 1, column 4: the value ends before this, and something follows"),
    "open text": (b'{"a', "line 1, column 2: this text has no closing quote"),
    "line break": (b'{"a": "x\ny"}', "a line break or another control character stands in a text"),
    "backslash": (rb'{"a": "C:\data"}', "line 1, column 10: this backslash begins no escape"),
    "hex": (rb'{"a": "\u12"}', "\\u takes four hex digits"),
}  # fmt: skip


def of_body(data: bytes, folder: Path) -> str:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    request = Request({"type": "http", "headers": [(b"content-type", b"application/json")]}, receive)
    with pytest.raises(BadBody) as caught:
        asyncio.run(read_body(request))
    assert caught.value.status in (413, 422)
    return str(caught.value)


def of_brand(data: bytes, folder: Path) -> str:
    file = folder / "brand.json"
    file.write_bytes(data)
    with pytest.raises(PublishError) as caught:
        read_brand(file)
    return str(caught.value)


def of_field(data: bytes, folder: Path) -> str:
    field = Field("quotas", MapOf(Text(".*", "a text", 9), Int(0, 9), 9), "a field that is typed as JSON", ())
    with pytest.raises(Unreadable) as caught:
        read_field(field, {"quotas": [data.decode()]}, "quotas", None, "UTC")
    return str(caught.value)


def of_command(*words: str) -> Callable[[bytes, Path], str]:
    def run(data: bytes, folder: Path) -> str:
        file = folder / "kv" / "config.json"
        file.parent.mkdir()
        file.write_bytes(data)
        places = {"FILE": str(file), "FOLDER": str(file.parent), "STORE": f"folder:{folder / 'other'}"}
        result = CliRunner().invoke(main, [places.get(word, word) for word in words])
        assert result.exit_code in (1, 2)
        assert isinstance(result.exception, SystemExit)
        return result.output

    return run


PLACES: dict[str, Callable[[bytes, Path], str]] = {
    "config check": of_command("config", "check", "FILE"),
    "config apply": of_command("config", "apply", "FILE"),
    "kv push": of_command("kv", "push", "STORE", "--folder", "FOLDER"),
    "crawlers apply": of_command("crawlers", "apply", "FILE"),
    "draw verify": of_command("draw", "verify", "FILE"),
    "a body of the API": of_body,
    "brand.json": of_brand,
    "a field of the console": of_field,
}
# A field is text already, and an empty one says nothing.
NO_FAULTS_OF_A_FIELD = ("no UTF-8", "nothing")


@pytest.mark.parametrize(("place", "fault"), [
    (place, fault) for place in PLACES for fault in FAULTS
    if place != "a field of the console" or fault not in NO_FAULTS_OF_A_FIELD
])  # fmt: skip
def test_every_place_says_the_same(place: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    data, words = FAULTS[fault]
    said = PLACES[place](data, tmp_path)
    if place == "a body of the API" and len(data) > 65_536:
        assert "larger than" in said
    elif place == "kv push" and fault == "no UTF-8":
        assert "is not UTF-8: invalid start byte at byte 7" in said  # the folder itself holds text only
    else:
        assert words in said
    assert "Traceback" not in said
    assert "Expecting" not in said


@pytest.mark.parametrize("value", [{"a": [1, -2.5e3, True, None, "\u00e9\U0001f600 \\ud83d"]}, [], 0, "x", 10**399])
def test_what_json_has_is_read_as_it_is(value: Any) -> None:
    assert read_json(json.dumps(value)) == read_json(json.dumps(value, ensure_ascii=False).encode()) == value


def test_a_half_character_in_a_text_of_ours_is_told_too() -> None:
    with pytest.raises(ConfigError, match="has half a character"):
        read_json('{"a": "\udc80"}')
