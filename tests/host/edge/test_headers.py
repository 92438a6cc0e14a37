"""Headers that end at the edge, headers that are the gate's own, and all others, in both directions."""

from __future__ import annotations

import pytest

from tests.host.edge.conftest import Site
from tests.host.edge.support import concluding, script
from tests.host.edge.wire import ok

PRIVATE_SPELLINGS = (
    "Stanchion-Pass",
    "stanchion-pass",
    "STANCHION_PASS",
    "Stanchion_Pass",
    "stanchion-anything",
    "Stanchion-",
    "stanchion_-x",
)


@pytest.mark.parametrize("name", PRIVATE_SPELLINGS)
@pytest.mark.parametrize("step", ["forward\n", "forward\nqueue: q\npass: real.pass\n"])
def test_a_visitor_cannot_speak_for_the_gate(site: Site, name: str, step: str) -> None:
    site.get("/", f"{name}: forged", f"{name}: twice", script(step))
    got = site.origin.last
    assert "forged" not in str(got)
    assert "twice" not in str(got)
    assert got.all("stanchion-pass") == (["real.pass"] if "pass:" in step else [])


@pytest.mark.parametrize("name", PRIVATE_SPELLINGS)
def test_what_the_origin_tells_the_gate_never_reaches_the_visitor(site: Site, name: str) -> None:
    site.origin_does(ok(b"x", f"{name}: secret", "X-Stanchion-Like: public"))
    answer = site.get("/", script("forward\n"), concluding("answer\n\n"))
    assert "secret" not in str(answer.fields)
    assert answer.get("x-stanchion-like") == "public"


def test_names_that_only_resemble_the_prefix_pass(site: Site) -> None:
    site.get("/", "X-Stanchion: 1", "Stanchionary: 2", "Stanchion: 3")
    got = site.origin.last
    assert (got.get("x-stanchion"), got.get("stanchionary"), got.get("stanchion")) == ("1", "2", "3")


@pytest.mark.parametrize(
    ("field", "arrives"),
    [
        ("", ["a=1; stanchion=t", "b=2"]),
        ("cookie: a=1; b=2\n", ["a=1; b=2"]),
        ("cookie: \n", []),
        ("cookie:\n", []),
        ("cookie: \u00e4=\u00ff\n", ["\u00e4=\u00ff"]),
    ],
)
def test_the_gate_says_which_cookies_the_origin_sees(site: Site, field: str, arrives: list[str]) -> None:
    cookies = ("X-A: 1", "Cookie: a=1; stanchion=t", "X-B: 2", "cookie: b=2")
    site.get("/", *cookies, script(f"forward\n{field}"))
    assert site.origin.last.all("cookie") == arrives
    names = [name for name, _ in site.origin.last.fields if name in (b"X-A", b"Cookie", b"X-B")]
    assert names == ([b"X-A", b"Cookie", b"X-B"] if arrives else [b"X-A", b"X-B"])


def test_a_cookie_that_the_visitor_did_not_send_is_added(site: Site) -> None:
    site.get("/", script("forward\ncookie: new=1\n"))
    assert site.origin.last.all("cookie") == ["new=1"]


HOP_BY_HOP = (
    "Connection: keep-alive, X-Mine , te",
    "Connection: x-second",
    "X-Mine: 1",
    "X-Second: 2",
    "Keep-Alive: timeout=5",
    "Proxy-Connection: keep-alive",
    "Proxy-Authenticate: Basic",
    "Proxy-Authorization: Basic eDp5",
    "TE: trailers",
    "Trailer: x",
)


def test_headers_of_the_hop_do_not_pass_on_the_way_in(site: Site) -> None:
    site.get("/", *HOP_BY_HOP, "X-Kept: 3")
    names = {name.lower() for name, _ in site.origin.last.fields}
    forwarding = {b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"}
    assert names == {b"host", b"x-kept"} | forwarding


def test_headers_of_the_hop_do_not_pass_on_the_way_out(site: Site) -> None:
    site.origin_does(ok(b"x", *HOP_BY_HOP, "Upgrade: h2c", "X-Kept: 3"))
    answer = site.get("/")
    assert {name.lower() for name, _ in answer.fields} == {b"x-kept", b"content-length", b"date"}


def test_connection_cannot_name_away_what_the_gate_decided_upon(site: Site) -> None:
    nominated = "Connection: host, cookie, content-length, x-forwarded-for, stanchion-pass"
    step = script("forward\ncookie: seen=1\npass: real.pass\n")
    site.get("/", nominated, "Cookie: a=1", step, method="POST", body=b"four")
    got = site.origin.last
    assert got.get("host") == "shop.example"
    assert got.get("cookie") == "seen=1"
    assert got.get("content-length") == "4"
    assert got.get("x-forwarded-for") == "127.0.0.1"
    assert got.get("stanchion-pass") == "real.pass"
    assert got.body == b"four"


@pytest.mark.parametrize(
    "name", ["X-Forwarded-For", "x-forwarded-proto", "X-Forwarded-Host", "X_Forwarded_For", "Forwarded"]
)
def test_a_visitor_who_is_no_proxy_cannot_forge_where_he_comes_from(site: Site, name: str) -> None:
    text = site.get("/", f"{name}: forged", script("echo")).text
    lines = [line for line in text.split("\n") if line.startswith(("client:", "host:", "scheme:"))]
    assert lines == ["scheme: http", "host: shop.example", "client: 127.0.0.1"]
    site.get("/", f"{name}: forged")
    got = site.origin.last
    assert got.get("x-forwarded-for") == "127.0.0.1"
    assert got.get("x-forwarded-proto") == "http"
    assert got.get("x-forwarded-host") == "shop.example"
    assert "forged" not in str(got)


def test_a_control_character_of_the_origin_does_not_reach_the_visitor(site: Site) -> None:
    site.origin_does(b"HTTP/1.1 200 OK\r\nX-Bad: a\x01b\r\nContent-Length: 1\r\n\r\nx")
    answer = site.get("/")
    assert answer.status == 502
    assert answer.get("cache-control") == "no-store"
    assert "X-Bad" in site.edge.wait_for_line("origin.failed")["reason"]


def test_a_client_cannot_smuggle_a_line_into_the_message(site: Site) -> None:
    for value in ("a\r\n b", "a\n b", "a\x00b", "a\rb"):
        answer = site.get("/", f"Accept: {value}", script("echo"))
        if answer.status == 200:
            assert [line for line in answer.text.split("\n") if line.strip() == "b"] == []
        else:
            assert answer.status == 400
