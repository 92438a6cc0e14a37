"""Countries and spellings: nobody walks round a rule."""

from __future__ import annotations

import pytest

from tests.core.support import JSON, MANUAL, Browser, World, is_held, queue

CROSS = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


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


def test_a_return_to_an_ambiguous_path_has_to_be_one_for_every_queue() -> None:
    easy = queue(id="easy", routes=[{"path": "/shop/*"}], return_paths=["/shop/*", "/launch/*"])
    world = World(easy, queue(**MANUAL))
    browser = Browser(world)
    assert browser.get("/shop/paid", "POST", CROSS).forwarded
    is_held(browser.get("/shop/..%2flaunch/", "POST", CROSS))


def test_the_most_specific_rule_decides_and_its_pass_opens_nothing_else() -> None:
    wide = queue(id="wide", routes=[{"path": "/*"}], admit_per_minute=600, burst=100)
    world = World(wide, queue(**MANUAL))
    browser = Browser(world, accept=JSON)
    assert browser.get("/").forwarded
    got = browser.get("/launch/")
    is_held(got)
    assert got.json["queue"] == "launch"
