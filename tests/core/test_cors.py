"""Cross-origin reads: who may read what, and preflights to the reserved paths."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.config import check_config
from edge.core.errors import ConfigError
from tests.core.support import HTML, JSON, MANUAL, Browser, Got, World, full, only, queue, slow

SHOP, APP, EVIL = "https://www.shop.example", "capacitor://localhost", "https://evil.example"
ORIGINS: dict[str, Any] = {"allowed_origins": [SHOP, APP]}


def may_read(got: Got) -> str:
    """The origin whose scripts may read the answer, cookies and all; empty: none."""
    origin = got.header("Access-Control-Allow-Origin")
    assert origin != "*"
    assert bool(origin) == (got.header("Access-Control-Allow-Credentials") == "true")
    assert bool(origin) == ("Retry-After" in got.header("Access-Control-Expose-Headers"))
    return origin


@pytest.mark.parametrize("accept", [HTML, JSON])
@pytest.mark.parametrize("origin", [SHOP, APP])
def test_a_script_of_an_allowed_origin_reads_held_answers_and_the_status(accept: str, origin: str) -> None:
    browser = Browser(World(queue(**MANUAL, **ORIGINS)))
    sent = {"origin": origin, "accept": accept}
    for got in (browser.get(headers=sent), browser.get(headers=sent, method="POST"), browser.status_as(sent)):
        assert may_read(got) == origin
        assert "Origin" in got.header("Vary").split(", ")
        assert set(got.header("Access-Control-Expose-Headers").split(", ")) == {"Retry-After", "Stanchion-State",
                                                                                  "Stanchion-Token"}  # fmt: skip


@pytest.mark.parametrize("origin", ["", "null", EVIL, "https://www.shop.example.evil.example", "http://www.shop.example",
                                    "https://www.shop.example:8443", "HTTPS://WWW.SHOP.EXAMPLE", f"{SHOP}, {APP}"])  # fmt: skip
def test_nobody_else_does_but_caches_are_told_that_it_depends(origin: str) -> None:
    browser = Browser(World(queue(**MANUAL, **ORIGINS)))
    sent = {"origin": origin} if origin else {}
    for got in (browser.get(headers=sent), browser.status_as(sent)):
        assert may_read(got) == ""
        assert "Origin" in got.header("Vary").split(", ")


def test_a_queue_that_names_no_origin_says_nothing_of_them() -> None:
    browser = Browser(World(queue(**MANUAL)))
    for got in (browser.get(headers={"origin": SHOP}), browser.status_as({"origin": SHOP})):
        assert may_read(got) == ""
        assert "Origin" not in got.header("Vary")


def test_a_refusal_can_be_read_too() -> None:
    world = World(queue(**MANUAL, **ORIGINS))
    world.fault = only("join", slow)
    browser = Browser(world)
    browser.get()
    got = browser.get(headers={"origin": SHOP, "accept": JSON})
    assert (got.status, may_read(got), got.json["status"]) == (429, SHOP, 429)


def test_the_sites_own_answers_are_not_touched() -> None:
    world = World(queue(**ORIGINS))
    (inside,) = full(world, 1)
    assert inside.get(headers={"origin": SHOP}).headers == []
    fresh = Browser(world, client="198.51.7.1").get(headers={"origin": SHOP})
    assert fresh.forwarded is not None
    assert [name for name, _ in fresh.headers] == ["Set-Cookie"]


def preflight(browser: Browser, path: str, method: str, origin: str) -> Got:
    return browser.get(path, "OPTIONS", {"origin": origin, "access-control-request-method": method})


@pytest.mark.parametrize(("action", "method"), [("status", "GET"), ("leave", "POST")])
def test_a_preflight_to_a_reserved_path_is_answered(action: str, method: str) -> None:
    world = World(queue(**MANUAL, **ORIGINS))
    got = preflight(Browser(world), f"/.stanchion/launch/{action}", method, APP)
    assert (got.status, got.body, got.calls) == (204, "", [])
    assert got.header("Access-Control-Allow-Origin") == APP
    assert got.header("Access-Control-Allow-Credentials") == "true"
    assert got.header("Access-Control-Allow-Methods") == method
    assert "Stanchion-Token" in got.header("Access-Control-Allow-Headers").split(", ")
    assert got.header("Access-Control-Max-Age") == "600"
    assert not got.all("Set-Cookie")


def test_a_preflight_of_a_stranger_is_refused_in_words() -> None:
    got = preflight(Browser(World(queue(**MANUAL, **ORIGINS))), "/.stanchion/launch/status", "GET", EVIL)
    assert (got.status, got.header("Access-Control-Allow-Origin")) == (403, "")
    assert EVIL in got.json["detail"]
    assert "allowed_origins" in got.json["detail"]


def test_a_preflight_to_the_site_is_the_sites() -> None:
    assert preflight(Browser(World(queue(**MANUAL, **ORIGINS))), "/launch/", "GET", EVIL).forwarded


def test_a_page_of_an_allowed_origin_may_give_up_the_place() -> None:
    world = World(queue(**MANUAL, **ORIGINS))
    browser = Browser(world)
    browser.join()
    assert browser.leave({"origin": EVIL, "sec-fetch-site": "cross-site"}).status == 403
    got = browser.leave({"origin": SHOP, "sec-fetch-site": "cross-site", "accept": JSON})
    assert (got.status, may_read(got)) == (200, SHOP)


@pytest.mark.parametrize("origin", ["*", "null", "https://shop.example/", "https://Shop.example", "shop.example", "https://",
                                    "https://*.shop.example", "https://shop.example:443", "http://shop.example:80",
                                    "https://u@shop.example", "https://shop.example?x"])  # fmt: skip
def test_what_no_browser_sends_as_an_origin_is_refused(origin: str) -> None:
    with pytest.raises(ConfigError, match="allowed_origins"):
        check_config({"queues": [queue(allowed_origins=[origin])]})


@pytest.mark.parametrize("origin", ["https://shop.example", "http://localhost:3000", "http://[::1]:8080", "https://x:80",
                                    "ionic://localhost", "chrome-extension://abcdefghijklmnop"])  # fmt: skip
def test_origins_of_pages_and_apps_are_taken(origin: str) -> None:
    assert check_config({"queues": [queue(allowed_origins=[origin])]}).queues[0].allowed_origins == (origin,)
