"""The HTTP contract at the door: who is forwarded, who is never held, how newcomers come in, and why."""

from __future__ import annotations

import json

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.messages import Forward, Respond
from tests.core.support import HTML, JSON, MANUAL, Browser, World, full, is_held, queue, set_cookies

JP = queue(id="jp", countries=["JP"], page="jp", **MANUAL)
US = queue(id="us", countries=["US", "CA"], page="us", **MANUAL)
CROSS = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize("target", ["/", "/about", "/launchx", "/.stanchionx", "/.stanchion", "/Launch/", "/x?y=/launch/"])
def test_everything_without_a_rule_passes_at_no_cost(target: str) -> None:
    world = World(queue(**MANUAL))
    got = Browser(world).get(target)
    assert isinstance(got.forwarded, Forward)
    assert (got.forwarded.cookie, got.forwarded.origin_pass, got.forwarded.context) == (None, "", "")
    assert got.forwarded.why == "no rule"
    assert got.calls == []


def test_our_cookies_are_kept_from_the_origin_everywhere() -> None:
    world = World(queue(bypass=["/launch/open/*"]))
    (inside,) = full(world, 1)
    for target in ("/about", "/launch/", "/launch/a.css", "/launch/open/x"):
        forward = inside.get(target).forwarded
        assert forward is not None
        assert forward.cookie == "_ga=GA1.2.3"
    inside.jar.pop("_ga")
    alone = inside.get().forwarded
    assert alone is not None
    assert alone.cookie == ""


@pytest.mark.parametrize(
    ("target", "method", "headers"),
    [
        ("/launch/a.css", "GET", {}),
        ("/launch/deep/app.JS?v=1", "GET", {}),
        ("/launch/a.png", "HEAD", {}),
        ("/launch/api", "OPTIONS", {"origin": "https://app.example", "access-control-request-method": "POST"}),
        ("/launch/hook/stripe", "POST", {}),
        ("/launch/hook/stripe", "GET", {}),
        ("/launch/paid", "POST", CROSS),
        ("/launch/paid?order=3", "POST", {"sec-fetch-site": "cross-site"}),
        ("/launch/paid", "POST", {"origin": "https://bank.example"}),
        ("/launch/paid", "POST", {"origin": "null"}),
    ],
)
def test_never_held(target: str, method: str, headers: dict[str, str]) -> None:
    world = World(queue(**MANUAL, bypass=["/launch/hook/*"], return_paths=["/launch/paid"]))
    got = Browser(world).get(target, method, headers)
    assert got.forwarded is not None, got.decision
    assert got.forwarded.origin_pass == ""
    assert got.calls == []
    assert not got.headers


@pytest.mark.parametrize(
    ("target", "method", "headers"),
    [
        ("/launch/a.css", "POST", {}),
        ("/launch/api", "OPTIONS", {}),
        ("/launch/api", "OPTIONS", {"origin": "https://app.example"}),
        ("/launch/api", "GET", {"origin": "https://app.example", "access-control-request-method": "POST"}),
        ("/launch/hooks", "POST", {}),
        ("/launch/paid", "GET", CROSS),
        ("/launch/paid/x", "POST", CROSS),
        ("/launch/paid", "POST", {}),
        ("/launch/paid", "POST", {"sec-fetch-site": "same-origin", "origin": "https://bank.example"}),
        ("/launch/paid", "POST", CROSS | {"sec-fetch-mode": "cors"}),
        ("/launch/paid", "POST", CROSS | {"sec-fetch-dest": "iframe"}),
        ("/launch/paid", "POST", {"origin": "https://shop.example.org"}),
        ("/launch/paid", "POST", {"origin": "https://SHOP.example.org:443"}),
        ("/launch/paid", "PUT", CROSS),
    ],
)
def test_no_way_round_by_looking_like_it(target: str, method: str, headers: dict[str, str]) -> None:
    world = World(queue(**MANUAL, bypass=["/launch/hook/*"], return_paths=["/launch/paid"]))
    is_held(Browser(world).get(target, method, headers))


def test_when_nobody_has_to_queue_a_newcomer_joins_claims_and_goes_through() -> None:
    world = World()
    browser = Browser(world)
    got = browser.get("/launch/x?y=1")
    assert got.forwarded is not None
    assert got.forwarded.queue_id == "launch"
    proof = jwt.decode(got.forwarded.origin_pass, options={"verify_signature": False})
    assert proof["aud"] == "launch"
    assert proof["sub"] == browser.token()["v"]
    assert set(set_cookies(got)) == {"stanchion-launch"}
    assert browser.token()["p"] == 1
    assert [name for number, name in enumerate(got.calls) if name not in got.calls[:number]] == ["snapshot", "join"]
    again = browser.get()
    assert again.forwarded is not None
    assert again.calls == []
    assert world.snapshot().inside == 1


def test_while_queueing_a_newcomer_gets_the_page_and_a_candidates_cookie_and_no_position() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    got = browser.get("/launch/x?y=1&z=<b>")
    is_held(got)
    assert got.header("Content-Type") == "text/html; charset=utf-8"
    assert got.slot("page") == "default/en/waiting"
    assert (got.slot("state"), got.slot("position"), got.slot("refresh_s")) == ("candidate", "", "2")
    assert got.slot("target_url") == "/launch/x?y=1&amp;z=&lt;b&gt;"
    assert set(set_cookies(got)) == {"stanchion-launch.c"}
    assert "Max-Age=900" in got.header("Set-Cookie")
    assert "join" not in got.calls
    assert world.snapshot().length == 0


def test_a_flood_without_cookies_takes_no_place_and_costs_no_command_of_its_own() -> None:
    world = World(queue(**MANUAL))
    Browser(world).get()
    for number in range(50):
        got = Browser(world, client=f"198.51.{number}.1").get()
        assert got.calls == []
    assert world.snapshot().length == 0


def test_two_newcomers_never_get_the_same_cookie() -> None:
    world = World(queue(**MANUAL))
    one, other = Browser(world), Browser(world)
    one.get()
    other.get()
    assert one.value("stanchion-launch.c") != other.value("stanchion-launch.c")


@pytest.mark.parametrize("where", ["/launch/", "/.stanchion/launch/status"])
def test_a_candidate_gets_its_position_in_the_very_answer_in_one_round_trip(where: str) -> None:
    world = World(queue(**MANUAL))
    first = Browser(world)
    first.get()
    first.status()
    browser = Browser(world)
    browser.get()
    got = browser.get(where, headers={"accept": JSON})
    assert got.calls == ["join"]
    assert (got.json["state"], got.json["position"], got.json["ahead"]) == ("waiting", 2, 1)
    assert set(set_cookies(got)) == {"stanchion-launch", "stanchion-launch.c"}
    assert "Max-Age=86400" in set_cookies(got)["stanchion-launch"]
    assert "Max-Age=0" in set_cookies(got)["stanchion-launch.c"]
    assert browser.value("stanchion-launch.c") == ""


def test_the_same_candidate_twice_is_one_place() -> None:
    world = World(queue(**MANUAL))
    one = Browser(world)
    one.get()
    two = Browser(world)
    two.jar = dict(one.jar)
    assert one.status().json["position"] == two.status().json["position"] == 1
    assert one.token()["v"] == two.token()["v"]
    assert world.snapshot().length == 1


def test_a_call_is_claimed_by_coming_in_and_not_by_asking() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    assert world.admit(1) == 1
    world.pass_time(1)
    assert browser.status().json["state"] == "called"
    assert world.snapshot().inside == 0
    got = browser.get()
    assert got.forwarded is not None
    assert got.calls == ["touch"]
    assert browser.token()["r"]
    assert world.snapshot().inside == 1


def test_two_tabs_have_one_place_and_one_slot() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    tab = Browser(world)
    tab.jar = dict(browser.jar)
    world.admit(1)
    world.pass_time(1)
    assert browser.get().forwarded
    assert tab.get().forwarded  # with the old place cookie
    assert tab.token()["p"] == browser.token()["p"]
    assert world.snapshot().inside == 1


_TEXT = st.text(st.characters(max_codepoint=255), max_size=60)
_SHARED = World(JP, US, queue(bypass=["/launch/open/*"], return_paths=["/launch/paid"], page="x", routes=[{"path": "/sale/*"}]))


@given(
    st.sampled_from(["/launch/", "/sale/", "/", "/.stanchion/jp/", "//", "http://a/sale/"]), _TEXT,
    st.sampled_from(["GET", "POST", "HEAD", "OPTIONS", "get", "TRACE", "", "PURGE"]), _TEXT, _TEXT, _TEXT,
    st.sampled_from(["JP", "", "DE", "jp", "XX"]),
)  # fmt: skip
def test_no_request_is_an_error(start: str, rest: str, method: str, host: str, cookie: str, other: str, country: str) -> None:
    browser = Browser(_SHARED, host=host, country=country, client=other)
    headers = {"cookie": f"stanchion-jp={cookie}; {other}", "accept": other, "origin": other, "sec-fetch-site": cookie}
    got = browser.get(start + rest, method, headers)
    assert got.status in (200, 403, 404, 405, 429, 503)
    if isinstance(got.decision, Respond) and got.header("Content-Type") == "application/json" and got.body:
        assert isinstance(json.loads(got.body), dict)


def test_a_page_never_shows_what_came_in_unescaped() -> None:
    world = World(queue(**MANUAL))
    got = Browser(world).get('/launch/"><script>alert(1)</script>', headers={"accept": HTML})
    assert "<script" not in got.body


def test_every_decision_says_in_short_words_what_decided() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    assert browser.get("/about").decision.why == "no rule"
    assert browser.get("/launch/a.css").decision.why == "asset or bypass"
    assert browser.get().decision.why == "queueing; a cookie first; rule /launch/* of launch"
    assert browser.get().decision.why == "waiting at 1; rule /launch/* of launch"
    assert browser.get().decision.why == "place 1; rule /launch/* of launch"
    world.admit(1)
    world.pass_time(1)
    assert browser.get().decision.why == "admitted 1; rule /launch/* of launch"
    assert browser.get().decision.why == "pass 1; rule /launch/* of launch"
    world.pass_time(61)
    assert browser.get().decision.why == "pass, renewed 1; rule /launch/* of launch"
