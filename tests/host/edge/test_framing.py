"""Where messages begin and end: lengths, chunks, bodiless answers, old clients, pipelines, limits."""

from __future__ import annotations

import time

import pytest

from tests.host.edge.conftest import Site
from tests.host.edge.support import script, wait_until
from tests.host.edge.wire import Message, Stream, ask, connect, ok, read_answer, read_head

RESPOND = script("respond 200\nh.content-type: text/plain\n\nheld")
KB = 1024


def chunked(*pieces: bytes) -> bytes:
    """A chunked body."""
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def test_head_has_the_length_and_no_body(site: Site) -> None:
    site.origin_does(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n")
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = read_answer(stream, "HEAD")
        assert answer.get("content-length") == "5000"
        assert answer.get("transfer-encoding") is None
        # The connection goes on: nothing of a body came.
        stream.sock.sendall(f"HEAD / HTTP/1.1\r\nHost: a\r\n{RESPOND}\r\n\r\n".encode())
        assert read_answer(stream, "HEAD").get("content-length") == "4"
        stream.sock.sendall(f"GET / HTTP/1.1\r\nHost: a\r\n{RESPOND}\r\n\r\n".encode())
        assert read_answer(stream).body == b"held"


@pytest.mark.parametrize(
    ("head", "length"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", None),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", None),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\nETag: x\r\n\r\n", "1234"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", None),
        (b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", None),
    ],
)
def test_an_answer_without_a_body_has_none(site: Site, head: bytes, length: str | None) -> None:
    site.origin_does(head)
    stream = connect(site.edge.port)
    with stream.sock:
        for _ in range(2):
            stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            answer = read_answer(stream)
            assert answer.get("content-length") == length
            assert answer.get("transfer-encoding") is None
            assert stream.buffer == b""


def test_the_gates_own_answers_without_a_body_have_none(site: Site) -> None:
    for status in (204, 304):
        answer = site.get("/", script(f"respond {status}\nh.etag: x\n\n"))
        assert (answer.status, answer.get("content-length"), answer.get("etag")) == (status, None, "x")


def test_the_gate_cannot_frame_its_answers(site: Site) -> None:
    step = "respond 200\nh.Content-Length: 999\nh.Transfer-Encoding: chunked\nh.Connection: x\n\nbody"
    answer = site.get("/", script(step))
    assert answer.get("content-length") == "4"
    assert answer.get("transfer-encoding") is None
    assert answer.body == b"body"


def test_a_chunked_answer_stays_chunked(site: Site) -> None:
    site.origin_does(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"one", b"two"))
    answer = site.get("/")
    assert answer.get("transfer-encoding") == "chunked"
    assert answer.body == b"onetwo"


def test_an_answer_that_ends_with_the_connection_is_whole(site: Site) -> None:
    def until_close(_: Message, stream: Stream) -> None:
        stream.sock.sendall(b"HTTP/1.0 200 OK\r\n\r\nall of it")
        stream.sock.close()

    site.origin_does(until_close)
    answer = site.get("/")
    assert answer.body == b"all of it"
    assert answer.get("transfer-encoding") == "chunked"


def test_an_old_client_gets_no_chunks(site: Site) -> None:
    site.origin_does(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(b"one", b"two"))
    answer = ask(site.edge.port, b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
    assert answer.get("transfer-encoding") is None
    assert answer.get("connection") == "close"
    assert answer.body == b"onetwo"


def test_an_old_client_may_leave_the_host_out(site: Site) -> None:
    assert ask(site.edge.port, b"GET /old HTTP/1.0\r\n\r\n").status == 200
    assert site.origin.last.start == b"GET /old HTTP/1.1"
    assert site.origin.last.get("host") == site.origin.url.removeprefix("http://")


def test_a_chunked_request_is_passed_on_chunk_by_chunk_without_its_trailer(site: Site) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: stanchion-pass\r\n\r\n"
    body = b"3\r\nabc\r\n5;ext=1\r\ndefgh\r\n0\r\nStanchion-Pass: forged\r\nX-Late: 1\r\n\r\n"
    assert ask(site.edge.port, head + body).status == 200
    got = site.origin.last
    assert got.get("transfer-encoding") == "chunked"
    assert got.body == b"abcdefgh"
    assert got.all("x-late") == got.all("stanchion-pass") == got.all("trailer") == []


def test_a_trailer_that_comes_with_the_head_is_no_header_for_the_gate(site: Site) -> None:
    head = f"POST / HTTP/1.1\r\nHost: a\r\n{script('echo')}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    answer = ask(site.edge.port, head + b"0\r\nX-Twice: trailer\r\n\r\n")
    assert answer.status == 200
    assert "trailer" not in answer.text


def test_a_request_with_an_empty_body_says_so(site: Site) -> None:
    assert ask(site.edge.port, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").status == 200
    assert site.origin.last.get("content-length") == "0"
    assert ask(site.edge.port, b"POST / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200
    assert site.origin.last.all("content-length") == site.origin.last.all("transfer-encoding") == []


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 3\r\nContent-Length: 4\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 1x\r\n",
        b"Transfer-Encoding: chunked, gzip\r\n",
        b"Bad Name: x\r\n",
        b"X: a\x00b\r\n",
        b"X: a\rb\r\n",
        b" folded: x\r\n",
    ],
)
def test_ambiguous_framing_is_refused(site: Site, fields: bytes) -> None:
    answer = ask(site.edge.port, b"POST / HTTP/1.1\r\nHost: a\r\n" + fields + b"\r\nabc")
    assert answer.status == 400
    assert answer.get("connection") == "close"
    assert site.origin.requests == []


def test_a_coding_that_is_not_understood_is_refused(site: Site) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
    assert ask(site.edge.port, head + chunked(b"x")).status == 501
    assert site.origin.requests == []


def test_expect_is_met_when_the_origin_takes_the_body(site: Site) -> None:
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(
            b"PUT /up HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        )
        assert read_answer(stream).status == 100
        stream.sock.sendall(b"data")
        assert read_answer(stream).status == 200
    assert site.origin.last.body == b"data"
    assert site.origin.last.all("expect") == []


def test_a_held_visitor_is_not_asked_for_the_body(site: Site) -> None:
    stream = connect(site.edge.port)
    with stream.sock:
        head = f"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n{RESPOND}\r\n\r\n"
        stream.sock.sendall(head.encode())
        answer = read_answer(stream)
        assert (answer.status, answer.body) == (200, b"held")
        assert answer.get("connection") == "close"


def test_another_expectation_fails(site: Site) -> None:
    assert site.get("/", "Expect: miracles").status == 417


def test_a_held_post_gets_its_answer_though_its_body_is_large(site: Site) -> None:
    body = b"x" * (3 * KB * KB)
    stream = connect(site.edge.port)
    with stream.sock:
        head = f"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n{RESPOND}\r\n\r\n".encode()
        stream.sock.sendall(head + body)
        assert read_answer(stream).body == b"held"
        stream.sock.sendall(f"GET / HTTP/1.1\r\nHost: a\r\n{RESPOND}\r\n\r\n".encode())
        assert read_answer(stream).body == b"held"
    assert site.origin.requests == []


def test_pipelined_requests_are_answered_in_order(site: Site) -> None:
    def by_target(message: Message, stream: Stream) -> None:
        time.sleep(0.1 if message.target == b"/1" else 0)
        stream.sock.sendall(ok(message.target))

    site.origin_does(by_target)
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(
            b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % number for number in range(1, 5))
        )
        assert [read_answer(stream).body for _ in range(4)] == [b"/1", b"/2", b"/3", b"/4"]


def test_a_broken_request_behind_a_good_one_does_not_spoil_its_answer(site: Site) -> None:
    def slowly(_: Message, stream: Stream) -> None:
        time.sleep(0.2)
        stream.sock.sendall(ok(b"good"))

    site.origin_does(slowly)
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n")
        assert read_answer(stream).body == b"good"
        assert stream.rest() == b""


def test_a_connection_is_kept_and_closed_as_asked(site: Site) -> None:
    stream = connect(site.edge.port)
    with stream.sock:
        for _ in range(3):
            stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert read_answer(stream).all("connection") == []
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert read_answer(stream).get("connection") == "close"
        assert stream.rest() == b""


def test_headers_of_32_kb_pass(site: Site) -> None:
    cookie = "c=" + "x" * (32 * KB - 100)
    assert site.get("/", f"Cookie: {cookie}").status == 200
    assert site.origin.last.get("cookie") == cookie
    many = [f"X-{number}: {'y' * 300}" for number in range(100)]
    assert site.get("/", *many).status == 200
    assert len(site.origin.last.fields) == 100 + 4


@pytest.mark.parametrize("size_kb", [34, 200, 2000])
def test_larger_headers_are_refused_by_an_answer_not_by_a_reset(site: Site, size_kb: int) -> None:
    answer = site.get("/", "X-Big: " + "x" * (size_kb * KB))
    assert answer.status == 431
    assert "headers" in answer.text
    many = [f"X-{number}: {'y' * 1000}" for number in range(size_kb)]
    assert site.get("/", *many).status == 431
    assert site.origin.requests == []


def test_a_refusal_is_followed_by_a_clean_end(site: Site) -> None:
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Big: ")
        for _ in range(40):
            stream.sock.sendall(b"x" * 100 * KB)
        assert read_answer(stream).status == 431
        # A reset would raise here, and on a longer way it would have overtaken the answer.
        assert stream.rest() == b""


@pytest.mark.parametrize("size_kb", [17, 200])
def test_a_longer_target_is_refused(site: Site, size_kb: int) -> None:
    answer = site.get("/" + "x" * (size_kb * KB))
    assert answer.status == 414
    assert site.origin.requests == []


def test_origin_headers_of_32_kb_pass(site: Site) -> None:
    value = "v" * (32 * KB)
    site.origin_does(ok(b"x", f"X-Big: {value}"))
    assert site.get("/").get("x-big") == value


def test_nonsense_is_refused_by_a_sentence(site: Site) -> None:
    for nonsense in (b"\x16\x03\x01\x02\x00\x01\x00", b"HELO there\r\n\r\n", b"GET / HTTP/3.0\r\n\r\n"):
        stream = connect(site.edge.port)
        with stream.sock:
            stream.sock.sendall(nonsense)
            answer = read_answer(stream)
            assert answer.status in (400, 501)
            assert answer.get("cache-control") == "no-store"
            assert stream.rest() == b""


def test_a_broken_chunk_ends_the_request_at_the_origin_too(site: Site) -> None:
    arrived: list[bytes] = []

    def listening(message: Message, stream: Stream) -> None:
        arrived.append(message.body)

    site.origin_does(listening)
    before, heads = site.origin.open_now, site.origin.heads
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        wait_until(lambda: site.origin.heads > heads, "the origin to be asked")
        stream.sock.sendall(b"zzz\r\n")
        assert read_answer(stream).status == 400
    wait_until(lambda: site.origin.open_now <= before, "the origin's connection to end")
    assert arrived == []


@pytest.mark.parametrize("protocol", ["websocket", "h2c, other", "TLS/1.0"])
def test_an_upgrade_is_answered_after_the_gate_has_decided(site: Site, protocol: str) -> None:
    upgrade = ("Connection: keep-alive, Upgrade", f"Upgrade: {protocol}")
    held = site.get("/", *upgrade, RESPOND)
    assert (held.status, held.body, held.get("connection")) == (200, b"held", "close")
    passed = site.get("/", *upgrade)
    assert passed.status == 501
    assert "not passed on" in passed.text
    assert site.origin.requests == []


def test_an_offer_of_http2_is_passed_over(site: Site) -> None:
    offer = (
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    )
    assert site.get("/", *offer).status == 200
    got = site.origin.last
    assert got.all("upgrade") == got.all("http2-settings") == got.all("connection") == []
    assert site.get("/", *offer, method="POST", body=b"lost").status == 501


def test_a_visitor_who_says_nothing_disturbs_nobody(site: Site) -> None:
    silent = [connect(site.edge.port) for _ in range(50)]
    silent[0].sock.sendall(b"GET / HT")
    assert site.get("/").status == 200
    for stream in silent:
        stream.sock.close()


def test_two_answers_on_one_connection_do_not_mix(site: Site) -> None:
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        first = read_head(stream)
        assert first is not None
        assert first.status == 200
        assert stream.exactly(5) == b"hello"
        stream.sock.sendall(f"GET / HTTP/1.1\r\nHost: a\r\n{RESPOND}\r\n\r\n".encode())
        assert read_answer(stream).body == b"held"
