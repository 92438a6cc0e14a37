"""Held answers: their status and headers, pages and JSON, those who only look, and writes."""

from __future__ import annotations

import pytest

from tests.core.support import JSON, MANUAL, Browser, World, full, is_held, queue, set_cookies

KEYS = {"queue", "state", "position", "ahead", "wait_s", "poll_s", "epoch", "now", "claim_left_s", "opens_at", "message",
        "arrival", "draw", "lane", "sign_in", "challenge"}  # fmt: skip


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
    assert set(got.json) == KEYS
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
