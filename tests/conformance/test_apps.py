"""Clients that keep no cookies, and scripts of other origins (docs/apps.md)."""

from __future__ import annotations

import time

import httpx

from tests.conformance.world import World
from tests.e2e.stack import CANDIDATE_HOLD_S, PATIENCE_S

APP = "https://app.example"


class App:
    """A client that keeps nothing but the token it was told last."""

    def __init__(self, world: World) -> None:
        self._base, self.token = world.edge, "new"

    def ask(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        sent = {"Accept": "application/json", "Stanchion-Token": self.token} | headers
        answer = httpx.request(method, self._base + path, headers=sent, timeout=PATIENCE_S)
        assert "stanchion" not in answer.headers.get("set-cookie", "")
        self.token = answer.headers.get("Stanchion-Token", self.token)
        return answer


def test_an_app_walks_in_by_its_token_alone(world: World) -> None:
    app = App(world)
    before = world.snapshot("hand").length
    assert app.ask("/hand/").json()["state"] == "candidate"
    assert world.snapshot("hand").length == before, "no place before the token came back"
    place = app.ask("/.stanchion/hand/status").json()
    assert place["position"] == before + 1
    assert app.ask("/hand/").json()["position"] == place["position"]
    assert app.ask("/.stanchion/hand/leave", "POST", **{"Sec-Fetch-Site": "cross-site"}).json()["state"] == "ended"
    assert app.token == "new"


def test_inside_the_site_never_sees_the_token_and_caches_never_get_it(world: World) -> None:
    time.sleep(2 * CANDIDATE_HOLD_S)
    app = App(world)
    cached = app.ask("/calm/", **{"X-Answer-Cache-Control": "public, max-age=60"})
    assert (cached.status_code, app.token) == (200, "new")
    deadline = time.monotonic() + PATIENCE_S
    while "Stanchion-State" in (inside := app.ask("/calm/")).headers:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    names = [name.lower() for name, _ in inside.json()["headers"]]
    assert "stanchion-pass" in names
    assert "stanchion-token" not in names
    assert inside.headers["cache-control"] == "private"
    assert app.ask("/.stanchion/calm/status").json()["state"] == "inside"


def test_a_script_of_an_allowed_origin_reads_held_answers_and_no_other_does(world: World) -> None:
    for origin, allowed in ((APP, APP), ("https://evil.example", None)):
        for path in ("/cross/", "/.stanchion/cross/status"):
            answer = App(world).ask(path, Origin=origin)
            assert answer.headers.get("access-control-allow-origin") == allowed
            assert answer.headers.get("access-control-allow-credentials") == (allowed and "true")
            assert "Origin" in answer.headers["vary"]
    exposed = App(world).ask("/cross/", Origin=APP).headers["access-control-expose-headers"].split(", ")
    assert {"Retry-After", "Stanchion-State", "Stanchion-Token"} <= set(exposed)


def test_preflights_to_reserved_paths_are_answered(world: World) -> None:
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "stanchion-token"}
    path = "/.stanchion/cross/status"
    yes = httpx.options(world.edge + path, headers={"Origin": APP, **asked}, timeout=PATIENCE_S)
    assert (yes.status_code, yes.content) == (204, b"")
    assert yes.headers["access-control-allow-origin"] == APP
    assert "Stanchion-Token" in yes.headers["access-control-allow-headers"]
    no = httpx.options(world.edge + path, headers={"Origin": "https://evil.example", **asked}, timeout=PATIENCE_S)
    assert (no.status_code, no.headers["content-type"]) == (403, "application/problem+json")


def test_errors_are_problem_details(world: World) -> None:
    write = App(world).ask("/hand/cart", "POST")
    assert (write.status_code, write.headers["content-type"]) == (503, "application/problem+json")
    assert (write.json()["status"], write.json()["error"], write.json()["state"]) == (503, "not sent", "candidate")
    missing = App(world).ask("/.stanchion/hand/nothing")
    assert (missing.status_code, missing.json()["status"], missing.json()["title"]) == (404, 404, "Not Found")
