"""The reserved paths: exact, and what the status and leaving answer in every situation."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core import commands
from tests.core.support import HTML, JSON, MANUAL, Browser, World, away, busy, full, only, queue, set_cookies, waiting

KEYS = {"queue", "state", "position", "ahead", "wait_s", "poll_s", "epoch", "now", "claim_left_s", "opens_at", "message",
        "arrival", "draw", "lane", "sign_in", "challenge"}  # fmt: skip


@pytest.mark.parametrize(
    "path",
    ["", "x", "launch", "launch/", "launch/status/", "launch/statusx", "launch/Status", "nope/status", "LAUNCH/status", "health/",
     "launch/status/x", "../about", "launch%2fstatus", "launch/leave/", "%68ealth", "launch//status", "./health"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_anything_else_under_the_prefix_is_a_json_404(path: str, method: str) -> None:
    got = Browser(World()).get(f"/.stanchion/{path}", method)
    assert got.status == 404
    assert got.header("Content-Type") == "application/problem+json"
    assert (got.json["type"], got.json["title"], got.json["status"]) == ("about:blank", "Not Found", 404)
    assert got.json["error"] == "not found"
    assert got.header("Cache-Control") == "private, no-store"


@pytest.mark.parametrize("target", ["/.stanchion", "/.stanchionx", "/.stanchion?x", "//.stanchion/health", "/%2estanchion/health",
                                    "/x/../.stanchion/health", "/.Stanchion/health", "/./.stanchion/health"])  # fmt: skip
def test_no_other_path_is_taken(target: str) -> None:
    assert Browser(World()).get(target).forwarded


def test_health() -> None:
    world = World()
    got = Browser(world).get("/.stanchion/health?x")
    assert (got.status, got.json) == (200, {"status": "ok"})
    assert Browser(world).get("/.stanchion/health", "HEAD").status == 200
    assert Browser(world).get("http://shop.example.org/.stanchion/health").json == {"status": "ok"}
    assert got.calls == []


@pytest.mark.parametrize(
    ("path", "method", "allowed"),
    [
        ("health", "POST", "GET, HEAD"),
        ("launch/status", "POST", "GET"),
        ("launch/status", "HEAD", "GET"),
        ("launch/status", "OPTIONS", "GET"),
        ("launch/leave", "GET", "POST"),
        ("launch/leave", "HEAD", "POST"),
    ],
)
def test_another_method_is_405_and_changes_nothing(path: str, method: str, allowed: str) -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    got = browser.get(f"/.stanchion/{path}", method)
    assert (got.status, got.header("Allow")) == (405, allowed)
    assert not got.all("Set-Cookie")
    assert (got.body == "") is (method == "HEAD")
    assert browser.status().json["position"] == 1


def test_the_status_is_never_stored() -> None:
    got = Browser(World()).status()
    for name in ("CDN-Cache-Control", "Surrogate-Control"):
        assert got.header(name) == "no-store"
    assert got.header("Cache-Control") == "private, no-store"
    assert got.header("X-Robots-Tag") == "noindex"
    assert int(got.header("Retry-After")) == got.json["poll_s"]


def test_the_status_of_each_state_has_every_key() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    seen: list[str] = []

    def look() -> dict[str, Any]:
        world.pass_time(1)
        got = browser.status()
        assert set(got.json) == KEYS
        assert got.json["queue"] == "launch"
        assert got.json["now"] == world.now_ms
        seen.append(got.json["state"])
        return got.json

    assert look()["position"] is None  # candidate
    waiting = look()
    assert (waiting["position"], waiting["ahead"], waiting["epoch"]) == (1, 0, world.snapshot().epoch)
    world.pause()
    assert look()["position"] == 1
    world.resume()
    world.admit(1)
    assert look()["position"] == 1  # called
    browser.get()
    inside = look()
    assert (inside["position"], inside["ahead"], inside["wait_s"]) == (1, 0, None)
    world.run(commands.end("launch", browser.token()["e"], 1, browser.token()["v"], "revoked", world.hex()))
    assert look()["position"] is None  # ended
    assert look()["position"] is None  # candidate again
    assert seen == ["candidate", "waiting", "paused", "called", "inside", "ended", "candidate"]


def test_a_status_never_claims_and_never_joins_without_a_cookie() -> None:
    world = World()
    browser = Browser(world)
    assert browser.status().json["state"] == "candidate"
    assert world.snapshot().length == 0
    assert browser.status().json["state"] in ("called", "waiting")
    assert world.snapshot().inside == 0
    world.pass_time(1)
    assert browser.status().json["state"] == "called"
    assert world.snapshot().inside == 0


def test_after_a_reset_the_next_status_rejoins_under_the_new_epoch() -> None:
    world = World(queue(**MANUAL))
    first, second = Browser(world), Browser(world)
    first.join()
    second.join()
    old = second.status().json["epoch"]
    world.reset()
    world.pass_time(1)
    status = second.status().json
    assert (status["state"], status["position"], status["ahead"]) == ("waiting", 1, 0)
    assert status["epoch"] == world.snapshot().epoch != old
    assert second.token()["e"] == status["epoch"]
    assert first.status().json["position"] == 2
    assert second.status().json["position"] == 1
    assert world.snapshot().length == 2


def test_after_a_reset_an_old_pass_is_refused_at_once_and_a_page_is_shown() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.reset()
    world.pause()
    world.pass_time(1)
    got = inside.get()
    assert got.forwarded is None
    assert got.slot("state") == "candidate"
    assert "Max-Age=0" in set_cookies(got)["stanchion-launch"]
    again = World()
    (other,) = full(again, 1)
    again.reset()
    again.pass_time(1)
    assert other.status().json["state"] == "ended"
    assert other.status().json["state"] == "candidate"


def test_the_status_of_someone_inside_renews_and_names_the_interval() -> None:
    world = World()
    (inside,) = full(world, 1)
    before = inside.token()
    assert inside.status().json["poll_s"] == 60
    assert inside.status().calls == []
    world.pass_time(61)
    got = inside.status()
    assert got.calls == ["snapshot", "renew"]
    assert inside.token()["x"] == before["x"] + 61
    assert inside.token()["p"] == before["p"]


def test_people_ahead_leaves_out_those_who_left() -> None:
    world = World(queue(**MANUAL))
    browsers = [Browser(world, client=f"198.51.{n}.1") for n in range(4)]
    for browser in browsers:
        browser.join()
    assert browsers[3].status().json["ahead"] == 3
    browsers[1].leave()
    world.pass_time(1)
    assert browsers[3].status().json["ahead"] == 2
    assert browsers[3].status().json["position"] == 4


def test_leaving_gives_up_the_place_and_every_cookie() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    got = browser.leave({"accept": JSON})
    assert (got.status, got.json["state"]) == (200, "ended")
    assert set(set_cookies(got)) == {"stanchion-launch", "stanchion-launch.c"}
    assert browser.cookie() == "_ga=GA1.2.3"
    assert world.snapshot().waiting == 0
    assert browser.status().json["state"] == "candidate"


def test_leaving_from_inside_frees_the_slot_at_once_on_this_node_too() -> None:
    world = World()
    (inside,) = full(world, 1)
    jar = dict(inside.jar)
    assert world.snapshot().inside == 1
    inside.leave()
    assert world.snapshot().inside == 0
    world.pass_time(1)
    inside.jar = jar
    assert inside.get().decision.why != "pass 1; rule /launch/* of launch"


def test_leaving_shows_a_page_to_a_browser_and_is_no_error_for_a_stranger() -> None:
    world = World(queue(**MANUAL))
    got = Browser(world).leave({"accept": HTML})
    assert (got.status, got.slot("page")) == (200, "default/en/ended")
    assert got.calls == []
    candidate = Browser(world)
    candidate.get()
    candidate.leave()
    assert candidate.value("stanchion-launch.c") == ""


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
    ],
)
def test_a_page_elsewhere_cannot_make_its_readers_leave(headers: dict[str, str]) -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    assert browser.leave(headers).status == 403
    assert browser.status().json["position"] == 1


@pytest.mark.parametrize("headers", [{"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}, {},
                                     {"origin": "https://SHOP.example.org:443"}])  # fmt: skip
def test_the_page_itself_and_a_script_can(headers: dict[str, str]) -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    assert browser.leave(headers).status == 200


@pytest.mark.parametrize("fault", [away(), away(100), busy])
def test_a_place_is_not_given_up_in_half(fault: Any) -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    world.fault = only("end", fault)
    got = browser.leave({"accept": JSON})
    assert (got.status, got.json["state"], got.json["position"]) == (503, "unavailable", 1)
    assert not got.all("Set-Cookie")
    world.fault = None
    assert browser.status().json["position"] == 1
    assert browser.leave().status == 200


def test_a_page_that_is_closed_says_so_and_keeps_the_place() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    got = browser.get("/.stanchion/launch/away?since=5", "POST")
    assert (got.status, got.body) == (204, "")
    assert got.header("Cache-Control") == "private, no-store"
    assert browser.status().json["position"] == 1
    assert browser.status().json["state"] == "waiting"
    assert browser.get("/.stanchion/launch/away").status == 405
    foreign = browser.get("/.stanchion/launch/away", "POST", {"sec-fetch-site": "cross-site", "origin": "https://elsewhere.example"})
    assert foreign.status == 403
    assert Browser(world).get("/.stanchion/launch/away", "POST").status == 204
