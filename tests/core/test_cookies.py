"""Our cookies: whatever a client sends is read without an error, and what is set is what browsers take."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.config import check_config
from edge.core.cookies import CookieReader, cookie_name, expire_cookie, parse, set_cookie
from edge.core.model import Queue
from tests.core.support import HTML, Browser, World, queue

DOMAIN = {"cookie_domain": "example.org", "routes": [{"path": "/launch/*", "host": "shop.example.org"}]}


def a_queue(**values: Any) -> Queue:
    return check_config({"queues": [queue(**values)]}).queues[0]


@pytest.mark.parametrize(
    ("header", "ours", "others"),
    [
        ("", {}, ""),
        ("a=1; b=2", {}, "a=1; b=2"),
        ("a=1;b=2; ;;", {}, "a=1;b=2; ;;"),  # nothing of ours: byte for byte
        ("stanchion-launch=x", {"stanchion-launch": ("x",)}, ""),
        ("a=1; stanchion-launch=x; b=2", {"stanchion-launch": ("x",)}, "a=1; b=2"),
        ("stanchion-launch=x; a=1", {"stanchion-launch": ("x",)}, "a=1"),
        ("a=1; stanchion-launch=x", {"stanchion-launch": ("x",)}, "a=1"),
        ("a=1;stanchion-launch=x;b=2", {"stanchion-launch": ("x",)}, "a=1;b=2"),
        ("__Host-stanchion-launch=x", {"__Host-stanchion-launch": ("x",)}, ""),
        ("__Secure-stanchion-launch.c=x", {"__Secure-stanchion-launch.c": ("x",)}, ""),
        ("__host-STANCHION-launch=x; a=1", {"__host-STANCHION-launch": ("x",)}, "a=1"),  # not read, but kept from the origin
        ('stanchion-launch="x"', {"stanchion-launch": ("x",)}, ""),
        ("stanchion-launch=", {"stanchion-launch": ("",)}, ""),
        ("stanchion-launch", {"stanchion-launch": ("",)}, ""),
        (" stanchion-launch = x ", {"stanchion-launch": ("x",)}, ""),
        ("stanchion-launch=x=y==", {"stanchion-launch": ("x=y==",)}, ""),
        ("stanchion-launch=x; stanchion-launch=y", {"stanchion-launch": ("x", "y")}, ""),
        ("my-stanchion-launch=x", {}, "my-stanchion-launch=x"),
        ("astanchion-=1; q=stanchion-launch", {}, "astanchion-=1; q=stanchion-launch"),
        ("é=\x80\xff; stanchion-a=b", {"stanchion-a": ("b",)}, "é=\x80\xff"),
    ],
)
def test_a_cookie_header_of_any_shape(header: str, ours: dict[str, tuple[str, ...]], others: str) -> None:
    found = parse(header)
    assert (found.ours, found.others, found.had_ours) == (ours, others, bool(ours))
    assert CookieReader().read(header) == found


def test_only_a_few_copies_of_one_name_are_looked_at() -> None:
    assert len(parse("; ".join(f"stanchion-a={n}" for n in range(100))).values("stanchion-a")) == 4


@given(st.text(max_size=300).map(lambda text: text + "; stanchion-launch=" + text) | st.text(max_size=200))
def test_nothing_of_ours_is_left_for_the_origin_and_nothing_else_is_lost(header: str) -> None:
    found = parse(header)
    assert not parse(found.others).had_ours
    if not found.had_ours:
        assert found.others == header
    kept = [piece.strip() for piece in found.others.split(";")]
    sent = [piece.strip() for piece in header.split(";")]
    assert [piece for piece in sent if piece in kept] == [piece for piece in kept if piece in sent]


_ANY = st.text(max_size=400) | st.binary(max_size=400).map(lambda data: data.decode("latin-1"))


@given(_ANY, st.sampled_from(["http", "https"]))
def test_no_cookie_header_is_an_error(header: str, scheme: str) -> None:
    world = _WORLD
    for value in (header, f"stanchion-launch={header}", f"__Host-stanchion-launch={header}; stanchion-launch.c={header}"):
        browser = Browser(world, scheme=scheme)
        browser.jar.clear()
        for target in ("/launch/", "/.stanchion/launch/status", "/about"):
            got = browser.get(target, headers={"cookie": value, "accept": HTML})
            assert got.status in (200, 503, 429)


_WORLD = World(queue(manual=True, admit_per_minute=None, burst=None, places_per_network_per_minute=1_000_000))


def test_the_memory_of_headers_is_bounded_by_their_size() -> None:
    reader = CookieReader()
    for number in range(300):
        reader.read(f"stanchion-a={number}; " + "x" * 30_000)
    assert sum(map(len, reader._cache)) <= 2_030_000
    assert reader.read("stanchion-a=1").values("stanchion-a") == ("1",)


@pytest.mark.parametrize(
    ("values", "scheme", "name", "attributes"),
    [
        ({}, "http", "stanchion-launch", "Path=/; Max-Age=60; HttpOnly; SameSite=Lax"),
        ({}, "https", "__Host-stanchion-launch", "Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"),
        ({"same_site": "none"}, "https", "__Host-stanchion-launch", "Path=/; Max-Age=60; HttpOnly; SameSite=None; Secure"),
        ({"same_site": "none"}, "http", "stanchion-launch", "Path=/; Max-Age=60; HttpOnly; SameSite=Lax"),
        ({"same_site": "partitioned"}, "https", "__Host-stanchion-launch",
         "Path=/; Max-Age=60; HttpOnly; SameSite=None; Secure; Partitioned"),
        ({"same_site": "partitioned"}, "http", "stanchion-launch", "Path=/; Max-Age=60; HttpOnly; SameSite=Lax"),
        (DOMAIN, "https", "__Secure-stanchion-launch", "Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure; Domain=example.org"),
        (DOMAIN, "http", "stanchion-launch", "Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Domain=example.org"),
    ],
)  # fmt: skip
def test_names_and_attributes(values: dict[str, Any], scheme: str, name: str, attributes: str) -> None:
    each = a_queue(**values)
    assert cookie_name(each, scheme) == name
    assert cookie_name(each, scheme, candidate=True) == f"{name}.c"
    assert set_cookie(each, scheme, "token", 60) == f"{name}=token; {attributes}"
    gone = attributes.replace("Max-Age=60", "Max-Age=0")
    assert expire_cookie(each, scheme) == f"{name}=; {gone}"
    assert expire_cookie(each, scheme, candidate=True) == f"{name}.c=; {gone}"
