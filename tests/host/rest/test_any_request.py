"""Whatever is sent, the door answers: JSON, one of the documented statuses, and never a fault of its own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from fakeredis._commands import SUPPORTED_COMMANDS
from hypothesis import given, settings
from hypothesis import strategies as st

from host.rest.app import RestApp, create_app
from host.rest.embedded import EmbeddedBackend

TOKEN = b"token-for-tests-0123456789"
STATUSES = {200, 400, 401, 405}

names = st.sampled_from(sorted(name.split()[0] for name in SUPPORTED_COMMANDS)) | st.text(max_size=8)
words = (
    st.sampled_from(["a", "b", "0", "1", "-1", "x", "", "GET", "NX", "STREAMS", "LIMIT"])
    | st.integers(-3, 3)
    | st.text(max_size=5)
)
commands = st.tuples(names, st.lists(words, max_size=5)).map(lambda pair: [pair[0], *pair[1]])
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
bodies = st.binary(max_size=40) | (junk | commands | st.lists(commands, max_size=4)).map(lambda value: json.dumps(value).encode())
paths = st.sampled_from([b"/", b"/pipeline", b"/multi-exec", b"/set/a", b"/get/%ff", b"", b"//", b"/%"]) | st.binary(
    max_size=12
).map(lambda text: b"/" + text)
headers = st.lists(
    st.tuples(
        st.sampled_from([b"authorization", b"upstash-encoding", b"upstash-response-format", b"content-length", b"x"]),
        st.sampled_from([b"Bearer " + TOKEN, b"base64", b"resp2", b"json", b"-1", b"99999999999", b""]) | st.binary(max_size=8),
    ),
    max_size=3,
)


async def ask(app: RestApp, method: str, path: bytes, query: bytes, head: Sequence[tuple[bytes, bytes]], body: bytes) -> Any:
    """One request as an ASGI server would hand it over, its body in two pieces."""
    pieces = [
        {"type": "http.request", "body": body[:3], "more_body": True},
        {"type": "http.request", "body": body[3:], "more_body": False},
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method, "raw_path": path, "query_string": query, "headers": list(head)}
    await asyncio.wait_for(app(scope, receive, send), 10)
    return sent


@settings(deadline=None, max_examples=600)
@given(
    st.sampled_from(["GET", "HEAD", "POST", "PUT", "DELETE", "BREW"]),
    paths,
    st.sampled_from([b"", b"a=b&c", b"_token=" + TOKEN, b"%&=&%zz"]) | st.binary(max_size=12),
    headers,
    bodies,
)
def test_any_request_has_an_answer(method: str, path: bytes, query: bytes, head: list[tuple[bytes, bytes]], body: bytes) -> None:
    app = create_app(EmbeddedBackend(), TOKEN.decode())
    authorized = [(b"authorization", b"Bearer " + TOKEN), *head]
    start, end = asyncio.run(ask(app, method, path, query, authorized, body))
    assert start["status"] in STATUSES
    assert int(dict(start["headers"])[b"content-length"]) == len(end["body"])
    if dict(start["headers"])[b"content-type"] == b"application/json":
        told = json.loads(end["body"])
        for outcome in told if isinstance(told, list) else [told]:
            assert len(outcome) == 1
            assert outcome.keys() <= {"result", "error"}
        if start["status"] != 200:
            assert isinstance(told["error"], str)


@settings(deadline=None, max_examples=600)
@given(st.lists(commands, min_size=1, max_size=6), st.sampled_from([b"/pipeline", b"/multi-exec"]))
def test_any_commands_leave_the_embedded_redis_usable(many: list[list[Any]], path: bytes) -> None:
    app = create_app(EmbeddedBackend(), TOKEN.decode())
    authorized = [(b"authorization", b"Bearer " + TOKEN)]

    async def run() -> tuple[Any, Any]:
        first = await ask(app, "POST", path, b"", authorized, json.dumps(many).encode())
        return first, await ask(app, "POST", b"/", b"", authorized, b'["ECHO", "alive"]')

    (start, end), (_, after) = asyncio.run(run())
    assert start["status"] in STATUSES
    if path == b"/pipeline" and start["status"] == 200:
        assert len(json.loads(end["body"])) == len(many)
    assert after["body"] == b'{"result":"alive"}'
