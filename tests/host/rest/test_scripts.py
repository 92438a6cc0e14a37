from __future__ import annotations

from hashlib import sha1

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.rest.scripts import ScriptTexts, without_key_locking


def sha(text: bytes) -> bytes:
    return sha1(text).hexdigest().encode()


LOCKING = b"#!lua flags=allow-key-locking\nreturn KEYS[1]"
PLAIN = b"\nreturn KEYS[1]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (LOCKING, PLAIN),
        (b"#!lua flags=allow-key-locking", b""),
        (b"#!lua flags=no-writes,allow-key-locking\nx", b"#!lua flags=no-writes\nx"),
        (b"#!lua  flags=allow-key-locking,no-writes\nx", b"#!lua flags=no-writes\nx"),
        (b"#!lua flags=no-writes\nx", b"#!lua flags=no-writes\nx"),
        (b"return 1 -- allow-key-locking", b"return 1 -- allow-key-locking"),
        (b"return 1\n#!lua flags=allow-key-locking", b"return 1\n#!lua flags=allow-key-locking"),
        (b"#!lua flags=allow-key-lockings\nx", b"#!lua flags=allow-key-lockings\nx"),
    ],
)
def test_only_the_flag_goes_and_line_numbers_stay(text: bytes, left: bytes) -> None:
    assert without_key_locking(text) == left
    assert left.count(b"\n") == text.count(b"\n")


@given(st.binary())
def test_a_script_without_shebang_is_not_touched(text: bytes) -> None:
    if not text.startswith(b"#!"):
        assert without_key_locking(text) == text


@pytest.mark.parametrize("first", [[b"EVAL", LOCKING, b"0"], [b"script", b"load", LOCKING]])
def test_the_clients_sha_is_translated_once_the_text_was_seen(first: list[bytes]) -> None:
    texts = ScriptTexts()
    assert texts.inbound([b"EVALSHA", sha(LOCKING), b"0"]) == [b"EVALSHA", sha(LOCKING), b"0"]
    assert PLAIN in texts.inbound(first)
    assert texts.inbound([b"evalsha_ro", sha(LOCKING).upper(), b"0"]) == [b"evalsha_ro", sha(PLAIN), b"0"]
    assert texts.inbound([b"SCRIPT", b"EXISTS", sha(b"x"), sha(LOCKING)])[2:] == [sha(b"x"), sha(PLAIN)]


def test_script_load_answers_the_sha_of_the_text_that_was_sent() -> None:
    texts = ScriptTexts()
    command = [b"SCRIPT", b"LOAD", LOCKING]
    assert texts.outbound(command, texts.inbound(command), sha(PLAIN)) == sha(LOCKING)
    untouched = [b"SCRIPT", b"LOAD", PLAIN]
    assert texts.outbound(untouched, texts.inbound(untouched), sha(PLAIN)) == sha(PLAIN)


def test_the_map_is_bounded_and_forgets_the_oldest() -> None:
    texts = ScriptTexts(max_shas=3)
    scripts = [b"#!lua flags=allow-key-locking\nreturn %d" % number for number in range(5)]
    for text in scripts:
        texts.inbound([b"EVAL", text, b"0"])
    known = [texts.inbound([b"EVALSHA", sha(text), b"0"])[1] != sha(text) for text in scripts]
    assert known == [False, False, True, True, True]


@pytest.mark.parametrize(
    "command",
    [[b"EVAL"], [b"EVALSHA"], [b"SCRIPT"], [b"SCRIPT", b"LOAD"], [b"SCRIPT", b"EXISTS"], [b"GET", b"a"]],
)
def test_short_and_other_commands_pass_unchanged(command: list[bytes]) -> None:
    assert ScriptTexts().inbound(command) is command
