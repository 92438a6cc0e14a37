"""The HTTP contract (docs/http.md) as a visitor sees it, from arrival to the shop and out again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.conformance.limits import limited
from tests.conformance.world import World, place
from tests.e2e.stack import enter, status, until

STATUS_KEYS = {"queue", "state", "position", "ahead", "wait_s", "poll_s", "epoch", "now", "claim_left_s", "opens_at", "message",
        "arrival", "draw", "lane", "sign_in", "challenge"}  # fmt: skip


def held(answer: httpx.Response, code: int = 503) -> bool:
    """Whether this is a held answer with everything that belongs to one."""
    headers = answer.headers
    assert answer.status_code == code, f"{answer.status_code} {answer.text[:200]}"
    assert int(headers["retry-after"]) >= 1
    assert headers["cache-control"] == "private, no-store"
    assert headers["cdn-cache-control"] == headers["surrogate-control"] == "no-store"
    assert headers["x-robots-tag"] == "noindex"
    assert "refresh" not in headers
    return True


def test_everything_else_passes(world: World) -> None:
    answer = world.visitor().get("/about?x=1")
    assert answer.status_code == 200
    assert answer.json()["target"] == "/about?x=1"
    assert "stanchion" not in str(answer.headers).lower()


def test_a_visitor_walks_from_arrival_to_the_shop(world: World) -> None:
    world.visitor().get("/rate/")
    visitor = world.visitor()
    first = visitor.get("/rate/tickets?b=2&a=1&a=")
    assert held(first)
    assert "stanchion-rate.c" in visitor.cookies
    assert re.search(r'<noscript><meta http-equiv="refresh" content="2;url=/rate/tickets\?b=2&amp;a=1&amp;a=">', first.text)
    second = status(visitor, "rate")
    assert set(second) == STATUS_KEYS
    assert second["position"] >= 1, "the cookie came back, so the position is in this very answer"
    assert "stanchion-rate" in visitor.cookies
    inside = enter(visitor, "/rate/tickets?b=2&a=1&a=").json()
    assert inside["target"] == "/rate/tickets?b=2&a=1&a="
    assert status(visitor, "rate")["state"] == "inside"
    names = [name.lower() for name, _ in inside["headers"]]
    assert "stanchion-pass" in names
    assert "cookie" not in names or "stanchion" not in dict(inside["headers"]).get("cookie", "")


def test_a_candidate_gets_its_position_on_the_protected_address_too(world: World) -> None:
    visitor = world.visitor(Accept="application/json")
    assert visitor.get("/hand/").json()["state"] == "candidate"
    assert visitor.get("/hand/").json()["position"] >= 1


def test_a_flood_without_cookies_takes_no_place(world: World) -> None:
    before = world.snapshot("hand").length
    with ThreadPoolExecutor(8) as pool, httpx.Client(base_url=world.edge, timeout=30) as client:
        answers = list(pool.map(lambda _: client.get("/hand/", headers={"Cookie": ""}).status_code, range(100)))
    assert set(answers) == {503}
    assert world.snapshot("hand").length == before


def test_two_tabs_are_one_place(world: World) -> None:
    visitor = world.visitor()
    visitor.get("/hand/")
    copies = dict(visitor.cookies)
    before = world.snapshot("hand").length
    with ThreadPoolExecutor(8) as pool:
        url = f"{world.edge}/.stanchion/hand/status"
        answers = list(pool.map(lambda _: httpx.get(url, cookies=copies, timeout=30), range(16)))
    # 429: an overloaded host may ask a visitor to come again.
    assert len({answer.json()["position"] for answer in answers if answer.status_code != 429}) == 1
    assert world.snapshot("hand").length == before + 1


def test_head_sees_the_door_and_takes_no_place(world: World) -> None:
    visitor = world.visitor()
    answer = visitor.head("/hand/")
    assert held(answer)
    assert answer.content == b""
    assert "set-cookie" not in answer.headers
    assert visitor.head("/calm/").status_code == 200
    assert not visitor.cookies.get("stanchion-calm")


def test_prefetches_take_no_place(world: World) -> None:
    answer = world.visitor().get("/hand/", headers={"Sec-Purpose": "prefetch;prerender"})
    assert held(answer)
    assert "set-cookie" not in answer.headers


def test_assets_preflights_and_bypass_paths_are_never_held(world: World) -> None:
    visitor = world.visitor()
    assert visitor.get("/hand/app.JS?v=1").status_code == 200
    assert visitor.get("/hand/app.js/page").status_code == 503
    preflight = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST"}
    assert visitor.options("/hand/api", headers=preflight).status_code == 200
    assert visitor.options("/hand/api").status_code == 503
    assert visitor.post("/pay/hook/payment").status_code == 200


def test_a_write_is_answered_in_words_or_goes_through(world: World) -> None:
    answer = world.visitor().post("/hand/checkout", data={"name": "Ada"})
    assert held(answer)
    assert "not sent" in answer.text.lower()
    through = world.visitor().post("/calm/checkout", data={"name": "Ada"})
    assert through.json()["body"] == "name=Ada"


def test_a_payment_comes_back(world: World) -> None:
    visitor = world.visitor()
    cross_site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert visitor.post("/pay/return", headers=cross_site).status_code == 200
    assert visitor.post("/pay/other", headers=cross_site).status_code == 503
    assert visitor.post("/pay/return", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 503


def test_json_for_who_prefers_it(world: World) -> None:
    expected = {"application/json": True, "application/json, */*;q=0.1": True, "*/*": False,
                "text/html, application/json": False, "text/html;q=0.5, application/json;q=0.6": True}  # fmt: skip
    for accept, is_json in expected.items():
        answer = world.visitor(Accept=accept).get("/hand/")
        assert held(answer)
        assert (answer.headers["content-type"] == "application/json") is is_json, accept


def test_the_held_status_and_the_cookies_are_the_queues_own(world: World) -> None:
    answer = world.visitor().get("/code/")
    assert held(answer, 429)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "Path=/" in cookie
    assert "Max-Age=900" in cookie
    assert "SameSite=Lax" in cookie, "none needs https"


def test_reserved_paths_are_exact(world: World) -> None:
    visitor = world.visitor()
    assert visitor.get("/.stanchion/health").json()["status"] == "ok"
    for end in ("", "nope/status", "hand/statusx", "hand", "hand/status/"):
        path = f"/.stanchion/{end}"
        answer = visitor.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json"), path
    assert visitor.get("/.stanchionx").status_code == 200, "this one is the site's"
    wrong = visitor.post("/.stanchion/hand/status")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")


def test_the_most_specific_rule_decides(world: World) -> None:
    visitor = world.visitor(Accept="application/json")
    assert visitor.get("/wide/deep/x").json()["queue"] == "deep"
    assert visitor.get("/wide/x").json()["queue"] == "wide"


@limited("country")
def test_countries_choose_the_queue_and_nobody_walks_round(world: World) -> None:
    def held_by(**headers: str) -> tuple[str, str]:
        found = world.visitor(Accept="application/json", **headers).get("/country/").json()
        return found["queue"], found["state"]

    assert held_by(**{"X-Country": "JP"}) == ("jp", "candidate")
    assert held_by(**{"X-Country": "US"}) == ("us", "candidate")
    assert held_by() == ("us", "candidate")
    assert held_by(**{"X-Country": "FR"})[1] == "closed"
    traveller = world.visitor(Accept="application/json", **{"X-Country": "JP"})
    traveller.get("/country/")
    traveller.get("/country/")
    traveller.headers["X-Country"] = "US"
    assert traveller.get("/country/").json()["queue"] == "jp", "the country is fixed when the place is given"


@limited("memory", "rate_counter")
def test_places_of_one_network_are_capped(world: World) -> None:
    visitors = [world.visitor(**{"X-Forwarded-For": f"192.0.2.{number}"}) for number in range(5)]
    for visitor in visitors:
        visitor.get("/few/")
    answers = [visitor.get("/.stanchion/few/status") for visitor in visitors]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert answers[-1].json()["state"] == "candidate"
    elsewhere = world.visitor(**{"X-Forwarded-For": "198.51.100.7"})
    elsewhere.get("/few/")
    assert elsewhere.get("/.stanchion/few/status").status_code == 200


def test_leaving_gives_the_place_up(world: World) -> None:
    visitor = world.visitor()
    visitor.get("/hand/")
    taken = status(visitor, "hand")
    cross = visitor.post("/.stanchion/hand/leave", headers={"Sec-Fetch-Site": "cross-site"})
    assert cross.status_code == 403
    assert status(visitor, "hand")["position"] == taken["position"]
    left = visitor.post("/.stanchion/hand/leave", headers={"Accept": "application/json"})
    assert left.json()["state"] == "ended"


def test_leaving_takes_both_cookies_away_and_a_new_place_is_behind(world: World) -> None:
    visitor = place(world, "hand")
    before = status(visitor, "hand")["position"]
    visitor.post("/.stanchion/hand/leave")
    assert not [name for name in visitor.cookies if name.startswith("stanchion-hand")]
    visitor.get("/hand/")
    assert until(visitor, "hand", "waiting")["position"] > before
    page = visitor.post("/.stanchion/hand/leave", headers={"Referer": f"{world.edge}/hand/x?y=1"}).text
    assert 'href="/hand/x?y=1"' in page
    assert "/.stanchion/hand/leave" not in page


@pytest.fixture
def paused_calm(world: World) -> Iterator[None]:
    world.operate("calm", "pause")
    yield
    world.operate("calm", "resume")


def test_the_pass_for_the_origin_is_no_cookie(world: World, request: pytest.FixtureRequest) -> None:
    visitor = world.visitor()
    enter(visitor, "/calm/")
    proof = {name.lower(): value for name, value in visitor.get("/calm/").json()["headers"]}["stanchion-pass"]
    request.getfixturevalue("paused_calm")
    assert httpx.get(f"{world.edge}/calm/", cookies={"stanchion-calm": proof}, timeout=30).status_code == 503
    assert visitor.get("/calm/").status_code == 200, "a pause touches nobody inside"
