"""What people report about such systems, seen from a visitor: that kind of fault must be impossible (docs/proof.md has all)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from edge.core.model import QUEUE_FIELDS
from tests.core.support import HTML, MANUAL, Browser, World, busy, full, is_held, only, queue, waiting

PAGES = sorted((Path(__file__).parents[2] / "kv-seed" / "pages").rglob("*.html"))


def test_aws_206_no_estimated_wait_is_a_range_from_the_outflow() -> None:
    highest = []
    for rate in (30, 120):
        world = World(queue(admit_per_minute=rate, burst=1))
        full(world, 1)
        said = [waiting(world) for _ in range(20)][-1].status().json
        until_called_s = (said["ahead"] + 1) * 60 / rate
        assert 0 < said["wait_s"]["low"] < until_called_s < said["wait_s"]["high"]
        highest.append(said["wait_s"]["high"])
    assert highest[0] > 2 * highest[1], "four times the rate"


def test_aws_36_throttling_reaches_clients_as_429_with_retry_after_and_not_as_5xx() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.get()
    world.fault = only("join", busy)
    got = browser.status()
    assert got.status == 429
    assert int(got.header("Retry-After")) >= 1
    page = browser.get()
    assert page.status == 429
    assert int(page.header("Retry-After")) >= 1


def test_cloudflare_12251_an_app_that_sends_an_old_cookie_does_not_go_to_the_back() -> None:
    world = World(queue(**MANUAL))
    browser, _ = waiting(world), [waiting(world) for _ in range(3)]
    old = browser.cookie()
    world.live(60)
    world.pass_time(12 * 3600)
    got = browser.get()
    assert got.all("Set-Cookie"), "the place is issued again at half its life"
    new = browser.cookie()
    assert new != old
    for cookies in (old, f"{old}; {new}", f"{new}; {old}"):
        answer = browser.status_as({"cookie": cookies})
        assert (answer.json["state"], answer.json["position"]) == ("waiting", 1)
    assert world.snapshot().length == 4, "an old cookie of the same visitor is not a new visitor"


@pytest.mark.parametrize(("ignore_case", "is_held_too"), [(False, False), (True, True)])
def test_cloudflare_a_rule_for_small_sale_and_a_path_with_capital_sale(ignore_case: bool, is_held_too: bool) -> None:
    world = World(queue(**MANUAL, routes=[{"path": "/sale/*", "ignore_case": ignore_case}]))
    is_held(Browser(world).get("/sale/shoes"))
    got = Browser(world).get("/Sale/shoes")
    assert (got.forwarded is None) == is_held_too


@pytest.mark.parametrize("headers", [
    {"cookie": "stanchion-launch[]=a; stanchion-launch[x]=b"}, {"cookie": 'stanchion-launch=["a","b"]'},
    {"cookie": "stanchion-launch=a,b; stanchion-launch=c; stanchion-launch.c[]=d"}, {"stanchion-token": '["a","b"]'},
    {"stanchion-token": "a, b"},
])  # fmt: skip
@pytest.mark.parametrize(
    "target", ["/launch/", "/launch/?stanchion-token[]=1&stanchion-token[]=2", "/.stanchion/launch/status?v[]=1"]
)
def test_knownuser_php_24_an_array_as_the_token_is_a_new_visitor_or_a_400(headers: dict[str, str], target: str) -> None:
    got = Browser(World(queue(**MANUAL))).get(target, headers={"accept": HTML, **headers})
    assert got.status in (200, 400, 503)
    assert got.forwarded is None
    assert got.status != 503 or int(got.header("Retry-After")) >= 1, "a held answer, no crash"


def test_knownuser_fastly_4a4cb38_the_origins_headers_are_appended_to_and_never_replaced() -> None:
    origin = [("Set-Cookie", "shop=1"), ("Set-Cookie", "cart=2"), ("Cache-Control", "private"), ("Vary", "Accept"), ("X-A", "1")]
    got = Browser(World()).get(answer=(200, origin))
    assert got.forwarded is not None
    assert [name for name, _ in got.headers] == ["Set-Cookie"], "all that is said of the answer is one more cookie"
    assert got.headers[0][1].partition("=")[0].endswith("stanchion-launch")


def test_crowdhandler_80001016998_payment_callbacks_are_not_queued() -> None:
    world = World(queue(**MANUAL, routes=[{"path": "/*"}], bypass=["/pay/notify"], return_paths=["/pay/return"]))
    is_held(Browser(world).get("/shop"))
    notified = Browser(world).get("/pay/notify", "POST")
    assert notified.forwarded is not None
    assert notified.calls == []
    cross_site = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert Browser(world).get("/pay/return", "POST", cross_site).forwarded is not None
    assert world.snapshot().length == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.parent.name}-{page.parent.name}-{page.stem}")
def test_nugetgallery_7855_no_meta_refresh_takes_input_and_focus_where_scripts_run(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    with_scripts = re.sub(r"<noscript>.*?</noscript>", "", text, flags=re.DOTALL)
    assert 'http-equiv="refresh"' not in with_scripts
    assert "location.reload()" not in re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.DOTALL)


def test_smoketurner_97_no_number_of_seconds_has_a_name_without_its_unit() -> None:
    seconds = {field.name for field in QUEUE_FIELDS if field.unit == "s"}
    assert {"presence_grace_s", "claim_within_s", "idle_s"} <= seconds
    assert {name for name in seconds if not name.endswith("_s")} == set()
    assert {field.name for field in QUEUE_FIELDS if field.name.endswith("_s")} == seconds
