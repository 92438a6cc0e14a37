"""The contract's messages: written without a way in for a smuggled line, read without trust."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.edge.messages import (
    MAX_COMMANDS_PER_BATCH,
    Commands,
    Conclusion,
    Facts,
    Forward,
    MessageError,
    Respond,
    StepError,
    answer_message,
    is_private,
    named,
    parse_conclusion,
    parse_step,
    request_message,
)

WANTED = frozenset((b"cookie", b"accept", b"x-twice"))


def message(target: bytes = b"/", host: str = "a", *headers: tuple[bytes, bytes]) -> str:
    """A request message."""
    facts = Facts("GET", target, "https", host, "1.2.3.4", "DE", "id1", "ab" * 32, headers)
    return request_message(facts, WANTED, 1234, "7")


def test_a_request_as_the_contract_writes_it() -> None:
    headers = (
        (b"cookie", b"a=1"),
        (b"x-no", b"n"),
        (b"x-twice", b"\xe4"),
        (b"cookie", b"b=2"),
        (b"x-twice", b""),
    )
    assert message(b"/x?y#z", "shop:81", *headers).split("\n") == [
        "GET /x?y#z",
        "scheme: https",
        "host: shop:81",
        "client: 1.2.3.4",
        "country: DE",
        "now-ms: 1234",
        f"random: {'ab' * 32}",
        "kv: 7",
        "id: id1",
        "h.x-twice: ä",
        "h.x-twice: ",
        "h.cookie: a=1; b=2",
    ]


@given(st.binary(max_size=30), st.text(max_size=10), st.binary(max_size=30), st.binary(max_size=30))
def test_no_value_smuggles_a_line(target: bytes, host: str, cookie: bytes, accept: bytes) -> None:
    headers = ((b"cookie", cookie), (b"accept", accept))
    values = (target.decode("latin-1"), host, cookie.decode("latin-1"), accept.decode("latin-1"))
    if any(mark in value for value in values for mark in "\r\n\0"):
        with pytest.raises(MessageError):
            message(target, host, *headers)
    else:
        lines = message(target, host, *headers).split("\n")
        assert len(lines) == 11
        assert lines[0] == f"GET {values[0]}"
        assert lines[9:] == [f"h.accept: {values[3]}", f"h.cookie: {values[2]}"]


def test_an_answer_tells_what_is_wanted_and_what_is_private() -> None:
    headers = [
        (b"Cache-Control", b"public"),
        (b"Server", b"x"),
        (b"STANCHION_Event", b"sold"),
        (b"Age", b"\xff"),
    ]
    told = answer_message(404, headers, frozenset((b"cache-control", b"age")), b"stanchion-")
    assert told == "404\nh.cache-control: public\nh.stanchion_event: sold\nh.age: ÿ"
    with pytest.raises(MessageError):
        answer_message(200, [(b"age", b"1\n2")], frozenset((b"age",)), b"stanchion-")


def test_private_names() -> None:
    private = (b"stanchion-", b"stanchion-pass", b"stanchion_pass", b"stanchion_-")
    assert all(is_private(name, b"stanchion-") for name in private)
    assert not any(
        is_private(name, b"stanchion-") for name in (b"stanchion", b"x-stanchion-pass", b"stanchionx-")
    )


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("forward", Forward()),
        ("forward\n", Forward()),
        ("forward\nwhy: bypass rule\n", Forward(why="bypass rule")),
        (
            "forward\nqueue: q1\ncookie: a=b: c\npass: x.y.z\nconclude: ctx=1: 2\nwhy: ok\n\n",
            Forward("q1", b"a=b: c", b"x.y.z", "ctx=1: 2", "ok"),
        ),
        ("forward\ncookie: \nconclude:", Forward(cookie=b"", conclude="")),
        ("forward\nfuture: field\ncookie: \u00e4\n", Forward(cookie=b"\xe4")),
        ("respond 200\n\n", Respond(200, (), b"")),
        (
            "respond 429\nwhy: full\nh.A: 1\nh.a: \u00e4\n\n\n\nb\n",
            Respond(429, ((b"A", b"1"), (b"a", b"\xe4")), b"\n\nb\n", "full"),
        ),
        ('commands\n\n[["PING"]]', Commands('[["PING"]]')),
        (
            'commands\nname: n 1\nshared: snap {q} x 500\n\n[["A"]]',
            Commands('[["A"]]', "snap {q} x", 500, "n 1"),
        ),
    ],
)
def test_steps(text: str, step: Commands | Forward | Respond) -> None:
    assert parse_step(text) == step


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Forward",
        "forwards",
        "respond",
        "respond 199\n\n",
        "respond 600\n\n",
        "respond 2000\n\n",
        "respond 200\nno field\n\n",
        "respond 200\nh.Bad Name: x\n\n",
        "respond 200\nh.: x\n\n",
        "respond 200\nh.a: b\rc\n\n",
        "respond 200\nh.a: b\0c\n\n",
        "respond 200\nh.a: \u20ac\n\n",
        "forward\ncookie: a\x01b",
        "forward\npass: a\x7f",
        "commands\nshared: key\n\n[]",
        "commands\nshared: key -1\n\n[]",
        "commands\nshared: 100\n\n[]",
        "answer\n\n",
    ],
)
def test_what_is_no_step(text: str) -> None:
    with pytest.raises(StepError):
        parse_step(text)


@given(st.text(max_size=200))
def test_any_text_is_a_step_or_an_error(text: str) -> None:
    for start in ("", "forward\n", "respond 200\n", "commands\n"):
        try:
            step = parse_step(start + text)
        except StepError:
            continue
        if isinstance(step, Respond):
            assert not any(
                mark in name + value for name, value in step.headers for mark in (b"\r", b"\n", b"\0")
            )


def test_a_header_of_the_gate_frames_nothing() -> None:
    names = ("Content-Length", "transfer-encoding", "Connection", "Date", "Upgrade", "Keep-Alive")
    step = parse_step("respond 200\n" + "".join(f"h.{name}: 1\n" for name in names) + "\n")
    assert step == Respond(200, (), b"")


def test_conclusions() -> None:
    assert parse_conclusion("answer\n\n") == Conclusion((), "")
    assert parse_conclusion("answer") == Conclusion((), "")
    assert parse_conclusion("answer\nh.a: 1\n\n[]") == Conclusion(((b"a", b"1"),), "")
    assert parse_conclusion('answer\n\n[["A", 1]]') == Conclusion((), '[["A", 1]]')


@pytest.mark.parametrize(
    "text", ["", "forward", "answer\nx\n\n", "answer\n\n{}", 'answer\n\n["A"]', "answer\n\n[["]
)
def test_what_is_no_conclusion(text: str) -> None:
    with pytest.raises(StepError):
        parse_conclusion(text)


def test_a_batch_is_bounded() -> None:
    most = json.dumps([["A"]] * MAX_COMMANDS_PER_BATCH)
    assert parse_conclusion(f"answer\n\n{most}").commands == most
    with pytest.raises(StepError):
        parse_conclusion("answer\n\n" + json.dumps([["A"]] * (MAX_COMMANDS_PER_BATCH + 1)))


@given(st.text(max_size=30))
def test_a_reply_carries_the_name_of_its_batch(name: str) -> None:
    assert json.loads(named(name, '{"age_ms":1}')) == {"name": name, "age_ms": 1}
