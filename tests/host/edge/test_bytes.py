"""What a visitor sends is what the origin gets, byte for byte, or it is refused."""

from __future__ import annotations

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.host.edge.conftest import Site
from tests.host.edge.support import script
from tests.host.edge.wire import Message, Stream, ask, ok

ODD_TARGETS = (
    "/",
    "/?",
    "/?a=&a=&b",
    "/launch/#x",
    "/launch/?q=#frag?more",
    '/"quoted"',
    "/a/../b",
    "/a/./b/",
    "/./../..",
    "//",
    "//double//slash",
    "/%2f%2F",
    "/%",
    "/%zz%0a%00",
    "/a;b=c,d",
    "/~user/!$&'()*+,;=:@",
    "/back\\slash",
    "/{curly}[square]^`|<>",
    "/?x={y}&z=[1]|<2>",
    "/a+b?c+d=%2B",
    "/?redirect=https://example.org/?a=b",
    "/http://example.org/",
    "/" + "long/" * 3000,
)


def sent_to(site: Site, request: bytes) -> Message:
    """What the origin got of a request."""
    answer = ask(site.edge.port, request)
    assert answer.status == 200, answer
    return site.origin.last


@pytest.mark.parametrize("target", ODD_TARGETS, ids=lambda target: target[:24])
def test_crowdhandler_007d82a_6399311_a_query_arrives_byte_for_byte_with_duplicate_keys_and_plus(site: Site, target: str) -> None:
    assert site.get(target).status == 200
    assert site.origin.last.start == f"GET {target} HTTP/1.1".encode()


@pytest.mark.parametrize("target", ODD_TARGETS[:-1], ids=lambda target: target[:24])
def test_the_gate_sees_an_odd_target_as_it_was_sent(site: Site, target: str) -> None:
    assert site.get(target, script("echo")).text.split("\n")[0] == f"GET {target}"


_VISIBLE = "".join(chr(code) for code in range(0x21, 0x7F))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rest=st.text(_VISIBLE, max_size=60))
def test_any_visible_target_arrives_as_it_was_sent(site: Site, rest: str) -> None:
    assert site.get(f"/{rest}").status == 200
    assert site.origin.last.start == f"GET /{rest} HTTP/1.1".encode()


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rest=st.binary(min_size=1, max_size=20))
def test_any_bytes_arrive_as_they_were_sent_or_are_refused(site: Site, rest: bytes) -> None:
    site.origin.requests.clear()
    answer = ask(site.edge.port, b"GET /" + rest + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    if answer.status == 200:
        # Blanks before the version are none of the target's (RFC 9112, section 3).
        assert site.origin.last.target == (b"/" + rest).rstrip(b" ")
    else:
        assert answer.status == 400
        assert b"<p>The " in answer.body
        assert site.origin.requests == []


def test_bytes_above_ascii_are_refused_by_a_sentence(site: Site) -> None:
    answer = ask(site.edge.port, "GET /gruß HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert answer.status == 400
    assert "percent-encoded" in answer.text
    assert site.origin.requests == []


def test_an_absolute_target_decides_the_host_and_arrives_as_path_and_query(site: Site) -> None:
    request = b"GET http://Real.example:81/launch/?a=%2F&a=#x HTTP/1.1\r\nHost: other.example\r\n"
    text = ask(site.edge.port, request + script("echo").encode() + b"\r\n\r\n").text
    assert text.split("\n")[0] == "GET http://Real.example:81/launch/?a=%2F&a=#x"
    assert "\nhost: Real.example:81\n" in text
    got = sent_to(site, request + b"\r\n")
    assert got.start == b"GET /launch/?a=%2F&a=#x HTTP/1.1"
    assert got.get("host") == "Real.example:81"


@pytest.mark.parametrize(
    ("sent", "arrives"),
    [
        (b"GET http://a.example", b"GET / HTTP/1.1"),
        (b"GET HTTP://a.example?q=1", b"GET /?q=1 HTTP/1.1"),
        (b"GET https://[::1]:8443/x", b"GET /x HTTP/1.1"),
        (b"OPTIONS http://a.example", b"OPTIONS * HTTP/1.1"),
        (b"OPTIONS *", b"OPTIONS * HTTP/1.1"),
    ],
)
def test_other_forms_of_a_target(site: Site, sent: bytes, arrives: bytes) -> None:
    assert sent_to(site, sent + b" HTTP/1.1\r\nHost: a.example\r\n\r\n").start == arrives


@pytest.mark.parametrize(
    "sent",
    [
        b"GET ftp://a.example/",
        b"GET http:///x",
        b"GET http://user@a.example/",
        b"GET http://a.example@b.example/",
        b"GET launch/",
        b"GET *",
        b"GET a.example:80",
        b"GET /a b",
        b"GET",
    ],
)
def test_what_is_no_target_is_refused(site: Site, sent: bytes) -> None:
    answer = ask(site.edge.port, sent + b" HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
    assert answer.status == 400
    assert site.origin.requests == []


def test_connect_is_not_available(site: Site) -> None:
    answer = ask(site.edge.port, b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n")
    assert answer.status == 501
    assert answer.get("connection") == "close"
    assert site.origin.requests == []


@pytest.mark.parametrize(
    "hosts",
    [
        "",
        "Host: a\r\nHost: a\r\n",
        "Host: a b\r\n",
        "Host: a/b\r\n",
        "Host: a@b\r\n",
        "Host:\r\n",
        "Host: a:b\r\n",
    ],
)
def test_a_request_without_one_valid_host_is_refused(site: Site, hosts: str) -> None:
    answer = ask(site.edge.port, f"GET / HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n".encode())
    assert answer.status == 400
    assert "Host" in answer.text
    assert site.origin.requests == []


def test_the_visitors_host_reaches_the_origin(site: Site) -> None:
    site.get("/", "Host: Shop.EXAMPLE:8443")
    assert site.origin.last.get("host") == "Shop.EXAMPLE:8443"


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "REPORT", "PURGE", "M-SEARCH")


@pytest.mark.parametrize("method", METHODS)
def test_methods_pass(site: Site, method: str) -> None:
    body = b"some body" if method in ("POST", "PUT", "PATCH", "PROPFIND", "REPORT") else b""
    assert site.get("/", method=method, body=body).status == 200
    assert site.origin.last.start == f"{method} / HTTP/1.1".encode()
    assert site.origin.last.body == body


def test_an_unknown_method_is_refused_by_a_sentence(site: Site) -> None:
    answer = site.get("/", method="FROBNICATE")
    assert answer.status == 501
    assert "method" in answer.text


def test_every_byte_of_a_body_passes_both_ways(site: Site) -> None:
    body = bytes(range(256)) * 1024

    def echo(message: Message, stream: Stream) -> None:
        stream.sock.sendall(ok(message.body, "Content-Encoding: gzip", "Content-Type: image/x"))

    site.origin_does(echo)
    answer = site.get("/", "Content-Encoding: br", method="POST", body=body)
    assert answer.body == body
    assert answer.get("content-encoding") == "gzip"
    assert site.origin.last.body == body


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sent=st.lists(
        st.tuples(
            st.text(string.ascii_letters + string.digits + "-_!#$%&'*+.^`|~", min_size=1, max_size=12),
            st.text([chr(code) for code in (0x09, *range(0x20, 0x7F), *range(0x80, 0x100))], max_size=30),
        ),
        max_size=12,
    )
)
def test_any_header_arrives_with_spelling_order_and_repetition(
    site: Site, sent: list[tuple[str, str]]
) -> None:
    fields = [(f"X-{name}".encode(), value.strip(" \t").encode("latin-1")) for name, value in sent]
    lines = b"".join(b"%b: %b\r\n" % pair for pair in fields)
    got = sent_to(site, b"GET / HTTP/1.1\r\nHost: a\r\n" + lines + b"\r\n")
    ours = (b"X-Forwarded-For", b"X-Forwarded-Proto", b"X-Forwarded-Host")
    arrived = [(name, value) for name, value in got.fields if name.startswith(b"X-") and name not in ours]
    assert arrived == fields


def test_nothing_is_added_but_the_forwarding_headers(site: Site) -> None:
    got = sent_to(site, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    assert got.fields == [
        (b"Host", b"a"),
        (b"X-Forwarded-For", b"127.0.0.1"),
        (b"X-Forwarded-Proto", b"http"),
        (b"X-Forwarded-Host", b"a"),
    ]


def test_the_origins_head_passes_with_spelling_order_and_reason(site: Site) -> None:
    head = b"HTTP/1.1 299 Quite Fine\r\nX-B: 1\r\nx-a: \xe4\xff\r\n"
    head += b"Set-Cookie: a=1\r\nX-B: 2\r\nset-cookie: b=2\r\n"
    site.origin_does(
        head + b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: origin/1\r\nContent-Length: 2\r\n\r\nok"
    )
    answer = site.get("/")
    assert answer.head == head + (
        b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: origin/1\r\nContent-Length: 2\r\n\r\n"
    )
    assert answer.body == b"ok"
