"""An origin in trouble: a sentence with the right status, never cached, logged, and never a traceback."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

import pytest

from host.edge.builtin import NO_ORIGIN
from tests.host.edge.conftest import Site
from tests.host.edge.support import concluding, script, start_edge
from tests.host.edge.wire import Message, Stream, get, ok, read_head


def assert_sentence(answer: Message, status: int) -> None:
    """One of the edge's own answers about the origin."""
    assert answer.status == status
    assert answer.get("cache-control") == "no-store"
    assert int(answer.get("retry-after") or 0) > 0
    assert "The site behind the waiting room" in answer.text
    assert "Error" not in answer.text
    assert "Traceback" not in answer.text


def test_an_origin_that_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with start_edge({"STANCHION_ORIGIN_URL": f"http://127.0.0.1:{port}"}) as edge:
        assert_sentence(get(edge.port, "/"), 502)
        assert "ConnectError" in edge.wait_for_line("origin.failed")["reason"]
        assert edge.wait_for_line("request")["status"] == 502
        # The gate still answers by itself.
        assert get(edge.port, "/", script("echo")).status == 200
        told = get(edge.port, "/", "Accept: application/json")
        assert_sentence(told, 502)
        assert told.get("content-type") == "application/problem+json"
        assert json.loads(told.text) == {"type": "about:blank", "title": "Bad Gateway", "status": 502, "detail": NO_ORIGIN}
        for accept in ("Accept: text/html, application/json;q=0.9", "Accept: */*", "X-None: 1"):
            assert get(edge.port, "/", accept).get("content-type") == "text/html; charset=utf-8", accept
        refused = get(edge.port, "http://user@host/", "Accept: application/problem+json, */*;q=0.1")
        assert (refused.status, json.loads(refused.text)["title"]) == (400, "Bad Request")
        assert refused.get("cache-control") == "no-store"


ADMITTED = script("forward\nqueue: q\nconclude: my context\n")
PASS = concluding("answer\nh.Set-Cookie: pass=1\nh.x-told: {answer}\n\n")


def test_whoever_was_let_in_keeps_the_pass_though_the_origin_is_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with start_edge({"STANCHION_ORIGIN_URL": f"http://127.0.0.1:{port}"}) as edge:
        answer = get(edge.port, "/", ADMITTED, PASS)
        assert_sentence(answer, 502)
        assert answer.all("set-cookie") == ["pass=1"]
        assert answer.get("x-told") == "502|h.cache-control: no-store"
        # A gate that breaks costs the additions and not the sentence.
        assert_sentence(get(edge.port, "/", ADMITTED, concluding("trap")), 502)
        # Nothing to conclude, nothing added.
        assert get(edge.port, "/", script("forward\n"), PASS).all("set-cookie") == []


def test_whoever_was_let_in_keeps_the_pass_though_the_origin_is_late() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as waiting:
        address = listener.getsockname()
        # A full queue of connections nobody accepts: the next one gets no reply at all.
        for _ in range(4):
            stuck = waiting.enter_context(socket.socket())
            stuck.setblocking(False)
            stuck.connect_ex(address)
        with start_edge({"STANCHION_ORIGIN_URL": f"http://127.0.0.1:{address[1]}"}) as edge:
            answer = get(edge.port, "/", ADMITTED, PASS)
            assert_sentence(answer, 504)
            assert answer.all("set-cookie") == ["pass=1"]


def test_whoever_was_let_in_keeps_the_pass_though_the_answer_is_broken(site: Site) -> None:
    site.origin_does(ok(b"page", "X-Bad: a\x01b"))
    answer = site.get("/", ADMITTED, PASS)
    assert_sentence(answer, 502)
    assert answer.all("set-cookie") == ["pass=1"]


def test_whoever_was_let_in_keeps_the_pass_though_an_upgrade_is_refused(site: Site) -> None:
    answer = site.get("/", "Connection: Upgrade", "Upgrade: websocket", ADMITTED, PASS)
    assert answer.status == 501
    assert answer.all("set-cookie") == ["pass=1"]
    assert site.origin.requests == []


def test_an_origin_whose_name_is_unknown() -> None:
    with start_edge({"STANCHION_ORIGIN_URL": "http://origin.invalid"}) as edge:
        assert_sentence(get(edge.port, "/"), 502)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Endless: " + b"x" * 300_000,
    ],
    ids=["nothing", "nonsense", "two lengths", "bad name", "upgrade", "endless head"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_origin_that_does_not_speak_http(site: Site, sent: bytes, method: str) -> None:
    def badly(_: Message, stream: Stream) -> None:
        stream.sock.sendall(sent)
        stream.sock.close()

    site.origin_does(badly)
    assert_sentence(site.get("/", method=method), 502)
    site.origin_does(ok(b"well again"))
    assert site.get("/").body == b"well again"


def test_a_connection_that_the_origin_closed_meanwhile_costs_a_reader_nothing(site: Site) -> None:
    seen = [0]

    def once_per_connection(_: Message, stream: Stream) -> None:
        seen[0] += 1
        if seen[0] % 2 == 0:
            stream.sock.close()
            return
        stream.sock.sendall(ok(b"fine"))

    site.origin_does(once_per_connection)
    assert [site.get("/").status for _ in range(4)] == [200] * 4


def test_a_write_is_never_sent_twice(site: Site) -> None:
    def dies(_: Message, stream: Stream) -> None:
        stream.sock.close()

    site.origin_does(dies)
    assert_sentence(site.get("/buy", method="POST", body=b"one"), 502)
    assert len(site.origin.requests) == 1


def test_an_origin_that_answers_before_it_has_read_the_body(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def early() -> None:
            stream = Stream(listener.accept()[0])
            read_head(stream)
            stream.sock.sendall(ok(b"too large", "Connection: close", status="413 Content Too Large"))
            stream.sock.shutdown(socket.SHUT_WR)
            stream.sock.settimeout(5)
            stream.rest()

        threading.Thread(target=early, daemon=True).start()
        with start_edge({"STANCHION_ORIGIN_URL": f"http://127.0.0.1:{listener.getsockname()[1]}"}) as edge:
            answer = get(edge.port, "/", method="POST", body=b"x" * 100_000)
            assert (answer.status, answer.body) == (413, b"too large")
