"""The HTTP contract at the door: who is forwarded, who is held and how, who is never held, and nothing slips past."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core.messages import Forward, Respond
from tests.core.support import HTML, JSON, Browser, Got, World, full, queue, set_cookies

MANUAL: dict[str, Any] = {"manual": True, "admit_per_minute": None, "burst": None}
SAFE_HEADERS = {
    "Cache-Control": "private, no-store",
    "CDN-Cache-Control": "no-store",
    "Surrogate-Control": "no-store",
    "X-Robots-Tag": "noindex",
}
CROSS = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def is_held(got: Got, status: int = 503) -> None:
    """Everything that a held answer has."""
    assert isinstance(got.decision, Respond)
    assert got.status == status
    for name, value in SAFE_HEADERS.items():
        assert got.header(name) == value
    assert int(got.header("Retry-After")) >= 1
    assert not got.all("Refresh")


# --- what is none of the gate's business --------------------------------------------------------------------------------


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


# --- newcomers ----------------------------------------------------------------------------------------------------------


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


# --- held answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 202, 429, 503])
def test_the_status_of_a_held_answer_is_the_queues(status: int) -> None:
    world = World(queue(**MANUAL, held_status=status))
    browser = Browser(world)
    is_held(browser.get(), status)
    is_held(browser.get(), status)
    is_held(browser.get("/launch/", "HEAD"), status)


def test_the_page_is_the_queues_and_has_a_nonce_of_its_own() -> None:
    world = World(queue(**MANUAL, page="brand", language="ja"))
    one, other = Browser(world).get(), Browser(world).get()
    assert one.slot("page") == "brand/ja/waiting"
    assert one.header("Content-Language") == "ja"
    assert one.header("Content-Security-Policy") != other.header("Content-Security-Policy")
    assert "script-src 'nonce-" in one.header("Content-Security-Policy")
    assert one.header("Referrer-Policy") == "same-origin"


@pytest.mark.parametrize("accept", [JSON, "application/json, text/plain, */*"])
def test_who_prefers_json_gets_the_status_on_the_protected_address(accept: str) -> None:
    world = World(queue(**MANUAL))
    got = Browser(world, accept=accept).get()
    is_held(got)
    assert got.header("Content-Type") == "application/json"
    assert got.json["state"] == "candidate"
    assert set(got.json) == {"queue", "state", "position", "ahead", "wait_s", "poll_s", "epoch", "now"}
    assert "Accept" in got.header("Vary")


def test_head_while_queueing_has_the_held_headers_no_body_and_takes_nothing() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    got = browser.get("/launch/", "HEAD")
    is_held(got)
    assert got.body == ""
    assert not got.all("Set-Cookie")
    browser.get()
    got = browser.get("/launch/", "HEAD")  # a candidate's HEAD does not join either
    is_held(got)
    assert world.snapshot().length == 0


@pytest.mark.parametrize(
    ("method", "headers"),
    [
        ("HEAD", {}),
        ("OPTIONS", {}),
        ("GET", {"sec-purpose": "prefetch"}),
        ("GET", {"sec-purpose": "prefetch;prerender"}),
        ("GET", {"purpose": "prefetch"}),
        ("GET", {"x-moz": "prefetch"}),
    ],
)
def test_who_only_looks_is_forwarded_when_nobody_queues_and_never_joins_or_claims(method: str, headers: dict[str, str]) -> None:
    world = World()
    browser = Browser(world)
    got = browser.get("/launch/", method, headers)
    assert got.forwarded is not None
    assert (got.forwarded.origin_pass, got.forwarded.context) == ("", "")
    assert world.snapshot().length == 0
    world.pause()
    world.pass_time(1)
    got = browser.get("/launch/", method, headers)
    is_held(got)
    assert not got.all("Set-Cookie")
    browser.get()
    waiting = browser.get()
    assert waiting.slot("position") == "1"
    world.resume()
    world.pass_time(1)
    got = browser.get("/launch/", method, headers)
    assert "touch" not in got.calls
    assert world.snapshot().inside == 0


def test_a_head_of_someone_inside_is_forwarded_with_the_pass() -> None:
    world = World()
    (inside,) = full(world, 1)
    for wait_s in (0, 61):
        world.pass_time(wait_s)
        got = inside.get("/launch/", "HEAD")
        assert got.forwarded is not None
        assert got.forwarded.origin_pass


def test_a_head_with_a_pass_that_is_over_sees_the_door() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.reset()
    world.pause()
    world.pass_time(1)
    is_held(inside.get("/launch/", "HEAD"))


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_write_of_someone_outside_is_answered_in_words_and_503(method: str) -> None:
    world = World(queue(**MANUAL, held_status=200))
    browser = Browser(world)
    got = browser.get("/launch/buy", method)
    is_held(got, 503)
    assert got.slot("page") == "default/en/form"
    assert set(set_cookies(got)) == {"stanchion-launch.c"}  # nothing is lost by it: the visitor is on the way in
    got = browser.get("/launch/buy", method)
    is_held(got, 503)
    assert got.slot("page") == "default/en/form"
    assert browser.token()["p"] == 1


def test_a_write_joins_claims_and_goes_through_when_nobody_queues_or_when_called() -> None:
    world = World()
    browser = Browser(world)
    got = browser.get("/launch/buy", "POST")
    assert got.forwarded is not None
    assert browser.token()["p"] == 1
    assert browser.get("/launch/buy", "POST").forwarded
    queued = World(queue(**MANUAL))
    called = Browser(queued)
    called.join()
    queued.admit(1)
    queued.pass_time(1)
    assert called.get("/launch/buy", "POST").forwarded


# --- countries ----------------------------------------------------------------------------------------------------------

JP = queue(id="jp", countries=["JP"], page="jp", **MANUAL)
US = queue(id="us", countries=["US", "CA"], page="us", **MANUAL)


def test_the_country_sorts_newcomers() -> None:
    world = World(JP, US)
    for country, expected in (("JP", "jp"), ("US", "us"), ("CA", "us")):
        assert Browser(world, country=country, accept=JSON).get().json["queue"] == expected


@pytest.mark.parametrize("country", ["DE", ""])
def test_nobody_walks_round_by_country(country: str) -> None:
    world = World(JP, US)
    browser = Browser(world, country=country)
    got = browser.get()
    is_held(got)
    assert got.slot("page") == "jp/en/closed"
    assert not got.all("Set-Cookie")
    assert (country or "unknown") in got.decision.why
    got = browser.get("/launch/buy", "POST")
    is_held(got)
    assert got.slot("page") == "jp/en/form"
    assert browser.get("/launch/", headers={"accept": JSON}).json["state"] == "closed"
    is_held(browser.get("/launch/", "HEAD"))
    # Nor by asking a queue for a place by its name.
    for _ in range(2):
        assert browser.status("jp").json["state"] == "closed"
    assert browser.value("stanchion-jp") == ""
    assert world.snapshot("jp").length == 0


def test_a_country_may_enter_elsewhere_or_pass() -> None:
    world = World(JP | {"unknown_country": "pass"}, US | {"other_countries": "enter"})
    assert Browser(world, country="DE", accept=JSON).get().json["queue"] == "us"
    unknown = Browser(world)
    got = unknown.get()
    assert got.forwarded is not None
    assert got.forwarded.why == "country passes"
    assert unknown.status("jp").json["state"] == unknown.status("us").json["state"] == "inside"


def test_a_refusal_is_not_undone_by_a_wider_rule() -> None:
    wide = queue(id="wide", routes=[{"path": "/*"}], admit_per_minute=600, burst=100)
    world = World(JP, US, wide)
    browser = Browser(world, country="DE")
    assert browser.get("/").forwarded  # inside the wide one
    is_held(browser.get("/launch/"))


def test_a_token_beats_the_country() -> None:
    world = World(JP, US)
    browser = Browser(world, country="JP", accept=JSON)
    browser.get()
    browser.country = "US"
    assert browser.get().json["queue"] == "jp"  # the candidate's cookie came back
    assert browser.value("stanchion-jp")
    browser.country = ""
    assert browser.get().json["queue"] == "jp"
    world.admit(1, "jp")
    world.pass_time(1)
    browser.country = "DE"
    got = browser.get()
    assert got.forwarded is not None
    assert got.forwarded.queue_id == "jp"


def test_a_pass_beats_a_place_of_the_other_country() -> None:
    world = World(JP, US)
    browser = Browser(world, country="JP")
    browser.get()
    browser.status("jp")
    browser.country = "US"
    other = Browser(world, country="US")
    other.get()
    other.status("us")
    browser.jar |= other.jar
    world.admit(1, "us")
    world.pass_time(1)
    # Two places: both are kept, the first decides; a pass of either lets in.
    assert browser.get("/launch/", headers={"accept": JSON}).json["queue"] == "jp"
    assert other.get().forwarded
    browser.jar |= other.jar
    got = browser.get()
    assert got.forwarded is not None
    assert got.forwarded.queue_id == "us"


# --- spelling -----------------------------------------------------------------------------------------------------------

SPELLINGS = [
    "/%6caunch/", "//launch/", "/x/../launch/", "/launch", "/x/%2e%2e/launch/", "/.//launch/./", "\\launch\\", "/launch;a=1/x",
    "/x%2f..%2flaunch/", "/a%2fb/../launch/", "/launch;x%2f..%2fy/", "http://shop.example.org/launch/", "HTTP://SHOP/%6Caunch/",
    "/launch/..;/launch/", "//x/launch/", "/launch%2fa.css%2f..%2fbuy", "/launch/a.css/../buy", "/launch/buy;.css",
]  # fmt: skip


@pytest.mark.parametrize("target", SPELLINGS)
def test_no_spelling_slips_past(target: str) -> None:
    is_held(Browser(World(queue(**MANUAL))).get(target))


@pytest.mark.parametrize("host", ["SHOP.example.org", "shop.example.org:8443", "shop.example.org.", "shop.EXAMPLE.org.:80", ""])
def test_no_form_of_the_host_slips_past(host: str) -> None:
    world = World(queue(**MANUAL, routes=[{"path": "/launch/*", "host": "shop.example.org"}]))
    is_held(Browser(world, host=host).get())
    assert Browser(world, host="other.example.org").get().forwarded


def test_case_is_ignored_where_the_rule_says_so() -> None:
    world = World(queue(**MANUAL, routes=[{"path": "/launch/*", "ignore_case": True}]))
    is_held(Browser(world).get("/LAUNCH/x"))
    is_held(Browser(world).get("/La%55nch/x"))


@pytest.mark.parametrize("method", ["get", "Get", "gEt"])
def test_the_case_of_the_method_is_no_way_round(method: str) -> None:
    world = World(queue(**MANUAL, routes=[{"path": "/launch/*", "methods": ["GET"]}]))
    is_held(Browser(world).get("/launch/", method))


def test_an_ambiguous_path_needs_a_pass_of_every_queue_that_it_may_lead_to() -> None:
    easy = queue(id="easy", routes=[{"path": "/aaaaaaaaaaaaaaaa/*"}])
    world = World(easy, queue(**MANUAL))
    browser = Browser(world)
    assert browser.get("/aaaaaaaaaaaaaaaa/").forwarded
    got = browser.get("/aaaaaaaaaaaaaaaa/..%2flaunch/", headers={"accept": JSON})
    is_held(got)
    assert got.json["queue"] == "launch"
    browser.get("/launch/")
    world.admit(1)
    world.pass_time(1)
    assert browser.get("/launch/").forwarded
    assert browser.get("/aaaaaaaaaaaaaaaa/..%2flaunch/").forwarded


def test_the_most_specific_rule_decides_and_its_pass_opens_nothing_else() -> None:
    wide = queue(id="wide", routes=[{"path": "/*"}], admit_per_minute=600, burst=100)
    world = World(wide, queue(**MANUAL))
    browser = Browser(world, accept=JSON)
    assert browser.get("/").forwarded
    got = browser.get("/launch/")
    is_held(got)
    assert got.json["queue"] == "launch"


# --- anything at all ----------------------------------------------------------------------------------------------------

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


# --- why ----------------------------------------------------------------------------------------------------------------


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
