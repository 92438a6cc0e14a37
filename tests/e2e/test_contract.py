"""The HTTP contract (docs/http.md), on the compiled component under the local edge with a real Redis."""

from __future__ import annotations

import base64
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.e2e.stack import CANDIDATE_HOLD_S, Stack, enter, status, until
from tests.host.edge.wire import ask, get

STATUS_KEYS = {"queue", "state", "position", "ahead", "wait_s", "poll_s", "epoch", "now"}


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


def test_everything_else_passes(stack: Stack) -> None:
    answer = stack.visitor().get("/about?x=1")
    assert answer.status_code == 200
    assert answer.json()["target"] == "/about?x=1"
    assert "stanchion" not in str(answer.headers).lower()


def test_a_visitor_walks_from_arrival_to_the_shop(stack: Stack) -> None:
    stack.visitor().get("/rate/")
    visitor = stack.visitor()
    first = visitor.get("/rate/tickets?b=2&a=1&a=")
    assert held(first)
    assert "stanchion-rate.c" in visitor.cookies
    assert re.search(r'<noscript><meta http-equiv="refresh" content="2">', first.text)
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


def test_a_candidate_gets_its_position_on_the_protected_address_too(stack: Stack) -> None:
    visitor = stack.visitor(Accept="application/json")
    assert visitor.get("/hand/").json()["state"] == "candidate"
    assert visitor.get("/hand/").json()["position"] >= 1


def test_a_flood_without_cookies_takes_no_place(stack: Stack) -> None:
    before = stack.api("GET", "/queues/hand")["length"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: httpx.get(f"{stack.edge}/hand/").status_code, range(200)))
    assert set(answers) == {503}
    assert stack.api("GET", "/queues/hand")["length"] == before


def test_two_tabs_are_one_place(stack: Stack) -> None:
    visitor = stack.visitor()
    visitor.get("/hand/")
    copies = dict(visitor.cookies)
    before = stack.api("GET", "/queues/hand")["length"]
    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda _: httpx.get(f"{stack.edge}/.stanchion/hand/status", cookies=copies).json(), range(20)))
    assert len({state["position"] for state in states}) == 1
    assert stack.api("GET", "/queues/hand")["length"] == before + 1


@pytest.mark.parametrize("target", [
    "/%68and/", "//hand/", "/x/../hand/", "/./hand/", "/hand", "/hand/%2e%2e/hand/x", "/hand/;a=b", "/%2fhand/",
    "/x/%2e%2e/hand/", "http://localhost/hand/", "/hand\\", "/hand/../about",
])  # fmt: skip
def test_no_spelling_slips_past(stack: Stack, target: str) -> None:
    answer = get(stack.edge_port, target, "Host: localhost")
    assert answer.status == 503, f"{target}: {answer.status}"


@pytest.mark.parametrize("host", ["LOCALHOST:8080.", "localhost.", "LocalHost", "127.0.0.1:1", "[::1]:80"])
def test_no_host_slips_past(stack: Stack, host: str) -> None:
    assert get(stack.edge_port, "/hand/", f"Host: {host}").status == 503


@pytest.mark.parametrize("target", [
    "/calm/a?a=&a=1&&b=%zz", '/calm/"x"', "/calm/%2f%2F/%20", "/calm/a//b/./c", "/calm/?", "/calm/|^",
])  # fmt: skip
def test_the_target_arrives_byte_for_byte(stack: Stack, target: str) -> None:
    answer = get(stack.edge_port, target, "Host: localhost")
    assert answer.status == 200
    assert json.loads(answer.text)["target"] == target


@pytest.mark.parametrize("cookie", [
    "stanchion-hand", "stanchion-hand=", "stanchion-hand=\"\"", "stanchion-hand=a.b.c; stanchion-hand=d", "=;=;;;",
    "stanchion-hand[]=1", "stanchion-hand=" + base64.urlsafe_b64encode(b"[" * 360).decode() + ".x.y",
    "stanchion-hand=" + "x" * 20_000, "_ga=1; stanchion-hand.c=eyJhbGciOiJub25lIn0.e30.", "caf\xe9=\xff; stanchion-hand=\x80",
])  # fmt: skip
def test_no_cookie_is_an_error(stack: Stack, cookie: str) -> None:
    answer = get(stack.edge_port, "/hand/", "Host: localhost", f"Cookie: {cookie}")
    assert answer.status == 503
    assert "stanchion-hand.c=" in " ".join(answer.all("set-cookie"))


def test_reserved_paths_are_exact(stack: Stack) -> None:
    visitor = stack.visitor()
    assert visitor.get("/.stanchion/health").json()["status"] == "ok"
    for end in ("", "nope/status", "hand/statusx", "hand", "hand/status/"):
        path = f"/.stanchion/{end}"
        answer = visitor.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json"), path
    assert visitor.get("/.stanchionx").status_code == 200, "this one is the site's"
    wrong = visitor.post("/.stanchion/hand/status")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET")


def test_head_sees_the_door_and_takes_no_place(stack: Stack) -> None:
    visitor = stack.visitor()
    answer = visitor.head("/hand/")
    assert held(answer)
    assert answer.content == b""
    assert "set-cookie" not in answer.headers
    assert visitor.head("/calm/").status_code == 200
    assert not visitor.cookies.get("stanchion-calm")


def test_prefetches_take_no_place(stack: Stack) -> None:
    answer = stack.visitor().get("/hand/", headers={"Sec-Purpose": "prefetch;prerender"})
    assert held(answer)
    assert "set-cookie" not in answer.headers


def test_assets_preflights_and_bypass_paths_are_never_held(stack: Stack) -> None:
    visitor = stack.visitor()
    assert visitor.get("/hand/app.JS?v=1").status_code == 200
    assert visitor.get("/hand/app.js/page").status_code == 503
    preflight = {"Origin": "https://other.example", "Access-Control-Request-Method": "POST"}
    assert visitor.options("/hand/api", headers=preflight).status_code == 200
    assert visitor.options("/hand/api").status_code == 503
    assert visitor.post("/pay/hook/payment").status_code == 200


def test_a_write_is_answered_in_words_or_goes_through(stack: Stack) -> None:
    answer = stack.visitor().post("/hand/checkout", data={"name": "Ada"})
    assert held(answer)
    assert "not sent" in answer.text.lower()
    through = stack.visitor().post("/calm/checkout", data={"name": "Ada"})
    assert through.json()["body"] == "name=Ada"


def test_a_payment_comes_back(stack: Stack) -> None:
    visitor = stack.visitor()
    cross_site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert visitor.post("/pay/return", headers=cross_site).status_code == 200
    assert visitor.post("/pay/other", headers=cross_site).status_code == 503
    assert visitor.post("/pay/return", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 503


def test_json_for_who_prefers_it(stack: Stack) -> None:
    expected = {"application/json": True, "application/json, */*;q=0.1": True, "*/*": False,
                "text/html, application/json": False, "text/html;q=0.5, application/json;q=0.6": True}  # fmt: skip
    for accept, is_json in expected.items():
        answer = stack.visitor(Accept=accept).get("/hand/")
        assert held(answer)
        assert (answer.headers["content-type"] == "application/json") is is_json, accept


def test_the_held_status_and_the_cookies_are_the_queues_own(stack: Stack) -> None:
    answer = stack.visitor().get("/code/")
    assert held(answer, 429)
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "Path=/" in cookie
    assert "Max-Age=900" in cookie
    assert "SameSite=Lax" in cookie, "none needs https"


def test_nothing_of_ours_reaches_the_origin_and_nothing_forged_either(stack: Stack) -> None:
    visitor = stack.visitor()
    enter(visitor, "/calm/")
    cookie = f"Cookie: a=1; stanchion-calm={visitor.cookies['stanchion-calm']}; b=2"
    answer = get(stack.edge_port, "/calm/", "Host: localhost", "Stanchion-Pass: forged", "STANCHION_PASS: forged",
                 "stanchion-x: y", cookie, "Cookie: stanchion-calm.c=z")  # fmt: skip
    seen = [(name.lower(), value) for name, value in json.loads(answer.text)["headers"]]
    passes = [value for name, value in seen if name.replace("_", "-") == "stanchion-pass"]
    assert len(passes) == 1
    assert passes[0].count(".") == 2
    assert not [name for name, _ in seen if name.startswith("stanchion") and name != "stanchion-pass"]
    assert dict(seen)["cookie"] == "a=1; b=2"


def test_the_pass_for_the_origin_is_no_cookie(stack: Stack) -> None:
    visitor = stack.visitor()
    enter(visitor, "/calm/")
    proof = {name.lower(): value for name, value in visitor.get("/calm/").json()["headers"]}["stanchion-pass"]
    stack.api("POST", "/queues/calm/pause")
    try:
        assert httpx.get(f"{stack.edge}/calm/", cookies={"stanchion-calm": proof}).status_code == 503
        assert visitor.get("/calm/").status_code == 200, "a pause touches nobody inside"
    finally:
        stack.api("POST", "/queues/calm/resume")


def test_the_origins_cookies_arrive_and_ours_only_where_no_cache_keeps_it(stack: Stack) -> None:
    enter(stack.visitor(), "/calm/")
    time.sleep(2 * CANDIDATE_HOLD_S)  # the time in which newcomers wait for candidates under way
    private = stack.visitor().get("/calm/", headers={"X-Answer-Cache-Control": "private"})
    assert [c.split("=")[0] for c in private.headers.get_list("set-cookie")] == ["shop", "cart", "stanchion-calm"]
    unsaid = stack.visitor().get("/calm/")
    assert "stanchion-calm" in unsaid.headers["set-cookie"]
    assert unsaid.headers["cache-control"] == "private"
    inside_before = stack.api("GET", "/queues/calm")["inside"]
    public = stack.visitor().get("/calm/", headers={"X-Answer-Cache-Control": "public, max-age=60"})
    assert [c.split("=")[0] for c in public.headers.get_list("set-cookie")] == ["shop", "cart"]
    assert public.headers["cache-control"] == "public, max-age=60"
    assert stack.api("GET", "/queues/calm")["inside"] <= inside_before + 1


def test_the_most_specific_rule_decides(stack: Stack) -> None:
    visitor = stack.visitor(Accept="application/json")
    assert visitor.get("/wide/deep/x").json()["queue"] == "deep"
    assert visitor.get("/wide/x").json()["queue"] == "wide"


def test_countries_choose_the_queue_and_nobody_walks_round(stack: Stack) -> None:
    def held_by(**headers: str) -> tuple[str, str]:
        found = stack.visitor(Accept="application/json", **headers).get("/country/").json()
        return found["queue"], found["state"]

    assert held_by(**{"X-Country": "JP"}) == ("jp", "candidate")
    assert held_by(**{"X-Country": "US"}) == ("us", "candidate")
    assert held_by() == ("us", "candidate")
    assert held_by(**{"X-Country": "FR"})[1] == "closed"
    traveller = stack.visitor(Accept="application/json", **{"X-Country": "JP"})
    traveller.get("/country/")
    traveller.get("/country/")
    traveller.headers["X-Country"] = "US"
    assert traveller.get("/country/").json()["queue"] == "jp", "the country is fixed when the place is given"


def test_places_of_one_network_are_capped(stack: Stack) -> None:
    visitors = [stack.visitor() for _ in range(5)]
    for visitor in visitors:
        visitor.get("/few/")
    answers = [visitor.get("/.stanchion/few/status") for visitor in visitors]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert answers[-1].json()["state"] == "candidate"


def test_an_upgrade_is_answered_in_words(stack: Stack) -> None:
    request = "GET /{} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert ask(stack.edge_port, request.format("about").encode()).status == 501
    assert ask(stack.edge_port, request.format("hand/").encode()).status == 503


def test_leaving_gives_the_place_up(stack: Stack) -> None:
    visitor = stack.visitor()
    visitor.get("/hand/")
    place = status(visitor, "hand")
    cross = visitor.post("/.stanchion/hand/leave", headers={"Sec-Fetch-Site": "cross-site"})
    assert cross.status_code == 403
    assert status(visitor, "hand")["position"] == place["position"]
    assert visitor.post("/.stanchion/hand/leave", headers={"Accept": "application/json"}).json()["state"] == "ended"
    assert "stanchion-hand" not in visitor.cookies
    visitor.get("/hand/")
    assert until(visitor, "hand", "waiting")["position"] > place["position"]
    page = visitor.post("/.stanchion/hand/leave", headers={"Referer": f"{stack.edge}/hand/x?y=1"}).text
    assert 'href="/hand/x?y=1"' in page
    assert "/.stanchion/hand/leave" not in page


def test_the_doctor_finds_nothing_wrong(stack: Stack) -> None:
    examined = stack.command("doctor", f"{stack.edge}/hand/")
    assert examined.returncode == 0, examined.stdout + examined.stderr
    assert "BAD" not in examined.stdout
