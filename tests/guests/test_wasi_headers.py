"""Headers on a wasi:http host: what goes on and back, what is believed, which cookie survives a careless host."""

from __future__ import annotations

import pytest

from edge.core.messages import Forward, Request
from edge.guests.on_wasi.believing import client_of, country_of, joined
from edge.guests.on_wasi.hop import Headers, to_origin, to_visitor, weakest_first

REQUEST = Request("GET", "/", "https", "shop.example", "192.0.2.7", "", 0, "5a" * 32, "id")


def sent(headers: Headers, **decision: str) -> Headers:
    return to_origin(headers, REQUEST, Forward("why", **decision))


def test_headers_of_the_hop_and_our_own_end_here() -> None:
    given = [("host", b"shop.example"), ("connection", b"close, X-Hop"), ("x-hop", b"1"), ("te", b"trailers"),
             ("upgrade", b"h2c"), ("stanchion-pass", b"forged"), ("stanchion_pass", b"forged"), ("x_forwarded_host", b"forged"),
             ("accept", b"a"), ("accept", b"b")]  # fmt: skip
    own = [("x-forwarded-proto", b"https"), ("x-forwarded-host", b"shop.example")]
    assert sent(given) == [("accept", b"a"), ("accept", b"b"), *own]


def test_a_connection_header_hides_nothing_that_the_gate_decided_upon() -> None:
    given = [("connection", b"cookie, content-length"), ("cookie", b"a=1"), ("content-length", b"3")]
    assert sent(given)[:2] == [("cookie", b"a=1"), ("content-length", b"3")]


def test_cookies_stand_where_the_first_one_was() -> None:
    given = [("cookie", b"a=1; stanchion-x=y"), ("accept", b"*/*"), ("cookie", b"b=2")]
    assert sent(given, cookie="a=1; b=2")[:2] == [("cookie", b"a=1; b=2"), ("accept", b"*/*")]
    assert [name for name, _ in sent(given, cookie="")] == ["accept", "x-forwarded-proto", "x-forwarded-host"]
    assert sent(given)[:3] == given, "unchanged when there was none of ours"


def test_the_pass_and_the_chain_of_proxies_go_along() -> None:
    given = [("x-forwarded-for", b"192.0.2.1, 10.0.0.1"), ("x-forwarded-proto", b"http")]
    assert sent(given, origin_pass="a.b.c") == [
        ("x-forwarded-for", b"192.0.2.1, 10.0.0.1"), ("x-forwarded-proto", b"https"), ("x-forwarded-host", b"shop.example"),
        ("stanchion-pass", b"a.b.c"),
    ]  # fmt: skip


def test_the_origins_headers_reach_the_visitor() -> None:
    given = [("set-cookie", b"a=1"), ("set-cookie", b"b=2"), ("stanchion-command", b"revoke"), ("keep-alive", b"1"),
             ("content-length", b"0")]  # fmt: skip
    assert to_visitor(200, given) == [("set-cookie", b"a=1"), ("set-cookie", b"b=2"), ("content-length", b"0")]
    assert to_visitor(204, given) == [("set-cookie", b"a=1"), ("set-cookie", b"b=2")]


def test_what_gives_a_place_stands_after_what_takes_a_cookie_away() -> None:
    place, candidate = "stanchion-x=token; Max-Age=86400", "stanchion-x.c=token; Max-Age=900"
    gone, gone_candidate = "stanchion-x=; Max-Age=0", "stanchion-x.c=; Max-Age=0"
    for given in ([place, gone_candidate], [gone_candidate, place], [candidate, place]):
        told = weakest_first([*(("Set-Cookie", cookie) for cookie in given), ("Retry-After", "5")])
        assert told[0] == ("Retry-After", "5")
        assert told[-1] == ("Set-Cookie", place)
    assert weakest_first([("Set-Cookie", candidate), ("Set-Cookie", gone)])[-1] == ("Set-Cookie", candidate)
    assert weakest_first([("Set-Cookie", gone), ("Set-Cookie", gone_candidate)])[-1] == ("Set-Cookie", gone)


def test_a_lane_by_header_is_read_as_it_came() -> None:
    headers = joined([("x-member", b"a.b.c"), ("accept", b"*/*")])
    assert Request("GET", "/", "https", "h", "", "", 0, "", "id", headers).header("x-member") == "a.b.c"


@pytest.mark.parametrize(("values", "country"), [
    ([b"JP"], "JP"), ([b"JP", b"JP"], "JP"), ([b"JP", b"US"], ""), ([b"jp"], ""), ([b"XX"], ""), ([b"T1"], ""), ([], ""),
])  # fmt: skip
def test_a_country_is_two_letters_that_only_one_wrote(values: list[bytes], country: str) -> None:
    headers = [("x-country", value) for value in values]
    assert country_of(headers, lambda name: "X-Country") == country
    assert country_of(headers, lambda name: "") == ""


def test_the_nearest_proxys_word_on_the_visitor_counts() -> None:
    headers = joined([("x-forwarded-for", b"203.0.113.9"), ("x-forwarded-for", b"made up, 192.0.2.7")])
    assert client_of(headers, lambda name: "X-Forwarded-For") == "192.0.2.7"
    assert client_of(headers, lambda name: "") == ""
    assert joined([("cookie", b"a=1"), ("cookie", b"b=2")]) == {"cookie": "a=1; b=2"}
