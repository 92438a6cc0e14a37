from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from host.rest.sse import MAX_STREAMS, event
from tests.host.rest.servers import PATIENCE_S, TOKEN, Door


@pytest.fixture
def client(door: Door) -> Iterator[httpx.Client]:
    limits = httpx.Limits(max_connections=MAX_STREAMS + 10)
    with httpx.Client(base_url=door.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_S, limits=limits) as http:
        yield http


def test_messages_arrive_as_events(client: httpx.Client) -> None:
    with client.stream("POST", "/subscribe/chat/news", headers={"Accept": "text/event-stream"}) as stream:
        assert stream.headers["content-type"] == "text/event-stream"
        assert stream.headers["upstash-sync-token"]
        lines = (line for line in stream.iter_lines() if line)
        assert next(lines) == "data: subscribe,chat,1"
        assert next(lines) == "data: subscribe,news,2"
        assert client.get("/publish/chat/hello").json() == {"result": 1}
        assert client.post("/publish/news", content="two\nlines").json() == {"result": 1}
        assert client.get("/publish/other/x").json() == {"result": 0}
        assert [next(lines) for _ in range(3)] == ["data: message,chat,hello", "data: message,news,two", "data: lines"]


def test_patterns(client: httpx.Client) -> None:
    with client.stream("GET", "/psubscribe/sale:*") as stream:
        lines = (line for line in stream.iter_lines() if line)
        assert next(lines) == "data: psubscribe,sale:*,1"
        assert client.get("/publish/sale:1/open").json() == {"result": 1}
        assert next(lines) == "data: pmessage,sale:*,sale:1,open"


def test_a_reader_that_leaves_is_no_receiver_any_more(client: httpx.Client) -> None:
    with client.stream("GET", "/subscribe/leaving") as stream:
        assert next(stream.iter_lines()) == "data: subscribe,leaving,1"
    for _ in range(200):
        if client.get("/publish/leaving/x").json() == {"result": 0}:
            return
    raise AssertionError("the subscription outlives its reader")


def test_a_script_can_publish(client: httpx.Client) -> None:
    with client.stream("GET", "/subscribe/scripted") as stream:
        lines = (line for line in stream.iter_lines() if line)
        next(lines)
        assert client.post("/", json=["EVAL", "return redis.call('PUBLISH', 'scripted', 'x')", 0]).json() == {"result": 1}
        assert next(lines) == "data: message,scripted,x"


def test_subscriptions_are_bounded(client: httpx.Client) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        for _ in range(MAX_STREAMS):
            stream = stack.enter_context(client.stream("GET", "/subscribe/many"))
            assert stream.status_code == 200
        refused = client.get("/subscribe/many")
        assert refused.status_code == 503
        assert refused.json() == {"error": f"ERR too many subscriptions: at most {MAX_STREAMS} at a time"}


def test_the_token_is_asked_for(door: Door) -> None:
    assert httpx.get(f"{door.url}/subscribe/chat").status_code == 401


def test_an_event_has_one_data_line_for_each_line() -> None:
    assert event([b"message", b"c", b"a\nb"]) == b"data: message,c,a\ndata: b\n\n"
    assert event([b"subscribe", b"c", 1]) == b"data: subscribe,c,1\n\n"
    assert event([b"message", b"c", b"\xff"]) == "data: message,c,\ufffd\n\n".encode()
