"""The site's traffic is sacred (law 8): what passes is what came, what is ours stays ours, and no spelling slips past."""

from __future__ import annotations

import base64
import json
import socket
import struct
import time
from collections.abc import Sequence

import httpx
import pytest

from tests.conformance.limits import limited
from tests.conformance.origin import seen_first_half
from tests.conformance.world import World
from tests.e2e.stack import CANDIDATE_HOLD_S, enter
from tests.host.edge.wire import ask, connect, get, read_head

BODY_BYTES = 300_000
odd_target, odd_host = limited("spelled_targets"), limited("spelled_hosts")


def header_pairs(text: str) -> list[tuple[str, str]]:
    """The headers that the origin says it received, names in lower case."""
    return [(name.lower(), value) for name, value in json.loads(text)["headers"]]


@pytest.mark.parametrize("target", [
    "/%68and/", "//hand/", "/x/../hand/", "/./hand/", "/hand", "/hand/%2e%2e/hand/x", "/hand/;a=b", "/%2fhand/",
    "/x/%2e%2e/hand/", "http://localhost/hand/", "/hand/../about", "/hand\\",
])  # fmt: skip
def test_no_spelling_slips_past(world: World, target: str) -> None:
    answer = get(world.port, target, "Host: localhost")
    assert answer.status == 503, f"{target}: {answer.status}"


@pytest.mark.parametrize("host", [
    "LocalHost", "127.0.0.1:1", "[::1]:80", "localhost.", pytest.param("LOCALHOST:8080.", marks=odd_host),
])  # fmt: skip
def test_no_host_slips_past(world: World, host: str) -> None:
    assert get(world.port, "/hand/", f"Host: {host}").status == 503


@pytest.mark.parametrize("target", [
    "/calm/a?a=&a=1&&b=%zz", "/calm/%2f%2F/%20", "/calm/a//b/./c", "/calm/?", "/%7Ecalm//b/../%2e%2E/%zz?x=1%20&&;=",
    pytest.param('/calm/"x"', marks=odd_target), pytest.param("/calm/|^", marks=odd_target),
])  # fmt: skip
def test_the_target_arrives_byte_for_byte(world: World, target: str) -> None:
    answer = get(world.port, target, "Host: localhost")
    assert answer.status == 200
    assert json.loads(answer.text)["target"] == target


COOKIES: Sequence[str] = (
    "stanchion-hand", "stanchion-hand=", "stanchion-hand=\"\"", "stanchion-hand=a.b.c; stanchion-hand=d", "=;=;;;",
    "stanchion-hand[]=1", "stanchion-hand=" + base64.urlsafe_b64encode(b"[" * 360).decode() + ".x.y",
    "_ga=1; stanchion-hand.c=eyJhbGciOiJub25lIn0.e30.", "caf\xe9=\xff; stanchion-hand=\x80",
)  # fmt: skip


@pytest.mark.parametrize("cookie", [
    *COOKIES,
    pytest.param("stanchion-hand=" + "x" * 20_000, marks=limited("large_headers")),
], ids=range(len(COOKIES) + 1))  # fmt: skip
def test_no_cookie_is_an_error(world: World, cookie: str) -> None:
    answer = get(world.port, "/hand/", "Host: localhost", f"Cookie: {cookie}")
    assert answer.status == 503
    assert "stanchion-hand.c=" in " ".join(answer.all("set-cookie"))


def test_nothing_of_ours_reaches_the_origin_and_nothing_forged_either(world: World) -> None:
    visitor = world.visitor()
    enter(visitor, "/calm/")
    cookie = f"Cookie: a=1; stanchion-calm={visitor.cookies['stanchion-calm']}; b=2"
    answer = get(world.port, "/calm/", "Host: localhost", "Stanchion-Pass: forged", "STANCHION_PASS: forged",
                 "stanchion-x: y", cookie, "Cookie: stanchion-calm.c=z")  # fmt: skip
    seen = header_pairs(answer.text)
    passes = [value for name, value in seen if name.replace("_", "-") == "stanchion-pass"]
    assert len(passes) == 1
    assert passes[0].count(".") == 2
    assert not [name for name, _ in seen if name.startswith("stanchion") and name != "stanchion-pass"]
    assert dict(seen)["cookie"] == "a=1; b=2"


def test_the_visitors_headers_arrive(world: World) -> None:
    answer = get(world.port, "/calm/", "Host: localhost", "Authorization: Basic eDp5", "X-Empty:",
                 "Accept-Language: ja, en;q=0.5", "If-None-Match: \"a\", W/\"b\"", "Range: bytes=0-1",
                 "Cookie: a=1; b=\"2 3\"")  # fmt: skip
    seen = dict(header_pairs(answer.text))
    assert seen["authorization"] == "Basic eDp5"
    assert seen["accept-language"] == "ja, en;q=0.5"
    assert seen["if-none-match"] == '"a", W/"b"'
    assert seen["range"] == "bytes=0-1"
    assert seen["cookie"] == 'a=1; b="2 3"'
    assert seen["x-empty"] == ""


def test_headers_that_come_twice_arrive_twice(world: World) -> None:
    answer = get(world.port, "/calm/", "Host: localhost", "X-Twice: one", "X-Twice: two")
    assert [value for name, value in header_pairs(answer.text) if name == "x-twice"] == ["one", "two"]


@limited("duplicate_headers")
def test_the_origins_headers_arrive_twice_too(world: World) -> None:
    answer = get(world.port, "/about/odd", "Host: localhost")
    assert answer.status == 206
    assert answer.all("x-twice") == ["one", "two"]
    assert answer.get("etag") == 'W/"a, b"'
    assert answer.body == b"odd"


@limited("set_cookies")
def test_the_origins_cookies_arrive_each_by_itself(world: World) -> None:
    answer = get(world.port, "/about/odd", "Host: localhost")
    assert answer.all("set-cookie") == ["a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT", "b=2"]


@limited("header_bytes")
def test_the_origins_bytes_arrive(world: World) -> None:
    assert get(world.port, "/about/odd", "Host: localhost").get("x-latin") == "caf\xe9"


@limited("odd_statuses")
@pytest.mark.parametrize(("path", "status"), [("nothing", 204), ("unchanged", 304)])
def test_answers_without_a_body_keep_their_status(world: World, path: str, status: int) -> None:
    assert get(world.port, f"/about/{path}", "Host: localhost").status == status


def test_a_large_body_passes_in_both_directions(world: World) -> None:
    sent = ("0123456789" * (BODY_BYTES // 10)).encode()
    answer = get(world.port, "/calm/upload", "Host: localhost", "Content-Type: text/plain", method="POST", body=sent)
    assert answer.status == 200
    assert json.loads(answer.text)["body"].encode() == sent


def test_a_chunked_body_passes(world: World) -> None:
    request = b"POST /about HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    assert json.loads(ask(world.port, request).text)["body"] == "abcde"


@limited("streaming")
def test_an_answer_begins_before_it_ends(world: World) -> None:
    seen_first_half.clear()
    stream = connect(world.port)
    try:
        with stream.sock:
            stream.sock.sendall(b"GET /about/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            stream.sock.settimeout(5)
            assert read_head(stream) is not None
            assert stream.until(b"first "), "nothing came while the origin still wrote"
            assert b"last" not in stream.buffer
            seen_first_half.set()
            assert stream.until(b"last")
    finally:
        seen_first_half.set()


@limited("parallel")
def test_nobody_waits_for_anothers_slow_origin(world: World) -> None:
    seen_first_half.clear()
    stream = connect(world.port)
    try:
        with stream.sock:
            stream.sock.sendall(b"GET /about/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_head(stream) is not None
            assert httpx.get(f"{world.edge}/.stanchion/health", timeout=3).status_code == 200
    finally:
        seen_first_half.set()


@pytest.mark.parametrize("path", ["/about/cut", pytest.param("/about/cut-piece", marks=limited("broken_pieces"))])
def test_an_answer_that_the_origin_breaks_off_ends_at_once_and_not_as_a_whole_one(world: World, path: str) -> None:
    stream = connect(world.port)
    with stream.sock:
        stream.sock.settimeout(10)
        stream.sock.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        came = b""
        while piece := _piece(stream.sock):
            came += piece
    head, _, body = came.partition(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 200"):
        assert b"content-length: 1000" in head.lower() or not body.endswith(b"0\r\n\r\n"), came
        assert b"four" in body or not body
    else:
        assert head.startswith(b"HTTP/1.1 50"), came


def _piece(sock: socket.socket) -> bytes:
    try:
        return sock.recv(4096)
    except ConnectionResetError:
        return b""


@limited("leaving")
@pytest.mark.parametrize("who", ["a page of ours", "an answer of the site"])
def test_a_visitor_who_leaves_in_the_middle_of_an_answer_keeps_nobody(world: World, who: str) -> None:
    page = f"GET /hand/?{'x' * 8000} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n"
    echoed = f"POST /about HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY_BYTES}\r\n\r\n{'x' * BODY_BYTES}"
    for _ in range(3):
        stream = connect(world.port)
        with stream.sock:
            stream.sock.sendall((page if who == "a page of ours" else echoed).encode())
            assert stream.sock.recv(100)
            # Closed with a reset, as by somebody whose telephone loses the line.
            stream.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert httpx.get(f"{world.edge}/.stanchion/health", timeout=3).status_code == 200


@limited("set_cookies")
def test_the_origins_cookies_arrive_and_ours_only_where_no_cache_keeps_it(world: World) -> None:
    enter(world.visitor(), "/calm/")
    time.sleep(2 * CANDIDATE_HOLD_S)  # the time in which newcomers wait for candidates under way
    private = world.visitor().get("/calm/", headers={"X-Answer-Cache-Control": "private"})
    assert [c.split("=")[0] for c in private.headers.get_list("set-cookie")] == ["shop", "cart", "stanchion-calm"]
    unsaid = world.visitor().get("/calm/")
    assert "stanchion-calm" in unsaid.headers["set-cookie"]
    assert unsaid.headers["cache-control"] == "private"
    inside_before = world.snapshot("calm").inside
    public = world.visitor().get("/calm/", headers={"X-Answer-Cache-Control": "public, max-age=60"})
    assert [c.split("=")[0] for c in public.headers.get_list("set-cookie")] == ["shop", "cart"]
    assert public.headers["cache-control"] == "public, max-age=60"
    assert world.snapshot("calm").inside <= inside_before + 1


@limited("upgrade")
def test_an_upgrade_is_answered_in_words(world: World) -> None:
    request = "GET /{} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert ask(world.port, request.format("about").encode()).status == 501
    assert ask(world.port, request.format("hand/").encode()).status == 503
