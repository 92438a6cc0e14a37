"""Clients without cookies: the token in the header Stanchion-Token, by the same rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edge.core import commands
from edge.core.conclude import conclude
from edge.core.invites import Invite, write_invite
from edge.core.tokens import Candidate
from edge.guests.crossing import REQUEST_HEADERS
from tests.core.support import JSON, MANUAL, START_MS, Browser, Got, World, forged, full, queue


class App(Browser):
    """A client that keeps no cookies, only what the header told it last."""

    def __init__(self, world: World, **values: Any) -> None:
        super().__init__(world, accept=JSON, **values)
        self.jar.clear()
        self.kept = "new"

    def get(self, target: str = "/launch/", method: str = "GET", headers: Any = None, **values: Any) -> Got:
        got = super().get(target, method, {"stanchion-token": self.kept, "accept": JSON, **(headers or {})}, **values)
        assert not got.all("set-cookie")
        self.kept = got.header("Stanchion-Token") or self.kept
        return got

    def claims(self) -> dict[str, Any]:
        return self.world.ring.verify(self.kept)[1]


def test_an_app_walks_from_arrival_to_the_site_and_out() -> None:
    world = World(queue(**MANUAL))
    app = App(world)
    assert app.get().state == "candidate"
    assert world.ring.verify(app.kept)[0] == "candidate"
    assert world.snapshot().length == 0
    waiting = app.get()
    assert (waiting.state, waiting.json["position"], waiting.status) == ("waiting", 1, 503)
    assert world.ring.verify(app.kept)[0] == "place"
    assert not app.status().all("Stanchion-Token"), "nothing new to keep"
    world.admit(1)
    world.pass_time(1)
    assert app.status().state == "called"
    inside = app.get(answer=(200, [("cache-control", "private")]))
    assert inside.forwarded is not None
    assert inside.forwarded.origin_pass
    assert world.ring.verify(app.kept)[0] == "pass"
    assert app.get().forwarded is not None
    assert app.status().state == "inside"
    assert app.leave().state == "ended"
    assert app.kept == "new"
    assert world.snapshot().inside == 0


def test_a_place_only_after_the_token_came_back() -> None:
    world = World(queue(**MANUAL))
    for _ in range(20):
        App(world).get()
        App(world).status()
    assert world.snapshot().length == 0
    app = App(world)
    first = app.get().header("Stanchion-Token")
    app.get()
    assert world.snapshot().length == 1
    for _ in range(3):
        app.kept = first
        assert app.get().json["position"] == 1, "the same candidate, the same place"
    assert world.snapshot().length == 1


def test_who_sends_no_header_is_told_no_token() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    for got in (browser.get(), browser.status(), browser.get(headers={"stanchion-token": ""})):
        assert not got.all("Stanchion-Token")
    assert browser.value("stanchion-launch")


def test_with_the_header_cookies_of_ours_count_for_nothing_and_never_reach_the_origin() -> None:
    world = World()
    (inside,) = full(world, 1)
    world.pause()
    world.pass_time(1)
    got = inside.get(headers={"stanchion-token": "new", "accept": JSON})
    assert (got.state, got.all("set-cookie")) == ("candidate", [])
    assert inside.get().forwarded is not None, "the cookie is still good by itself"
    app = App(world)
    app.kept = inside.value("stanchion-launch")
    forward = app.get(headers={"cookie": f"a=1; {inside.cookie()}"}).forwarded
    assert forward is not None
    assert forward.cookie == "a=1; _ga=GA1.2.3"


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS"])
def test_a_look_gets_no_token(method: str) -> None:
    assert not App(World(queue(**MANUAL))).get(method=method).all("Stanchion-Token")


@pytest.mark.parametrize("answer", [[("cache-control", "public, max-age=60")], [("cdn-cache-control", "max-age=5")],
                                    [("expires", "Thu, 01 Jan 2099 00:00:00 GMT")]])  # fmt: skip
def test_no_token_on_an_answer_that_a_shared_cache_may_store(answer: list[tuple[str, str]]) -> None:
    world = World()
    app = App(world)
    got = app.get(answer=(200, answer))
    assert got.forwarded is not None
    assert (got.headers, app.kept) == ([], "new")
    assert got.calls[-1] == "end"
    assert world.snapshot().inside == 0


def test_beside_a_token_an_answer_that_says_nothing_becomes_private() -> None:
    world = World()
    app = App(world)
    got = app.get(answer=(200, [("content-type", "application/json")]))
    assert [name for name, _ in got.headers] == ["Cache-Control", "Stanchion-Token"]
    assert got.header("Cache-Control") == "private"
    assert app.get().forwarded is not None


def test_the_sites_command_takes_the_token_away() -> None:
    world = World()
    app = App(world)
    app.get()
    app.get(answer=(200, [("cache-control", "private"), ("stanchion-command", "complete")]))
    assert app.kept == "new"
    assert world.snapshot().inside == 0


def test_renewals_and_resets_hand_out_the_next_token() -> None:
    world = World()
    app = App(world)
    app.get()
    before = app.claims()
    world.pass_time(61)
    assert app.get().calls == ["snapshot", "renew"]
    assert app.claims()["x"] > before["x"]
    world.reset()
    world.pause()
    world.pass_time(1)
    assert app.get().state == "candidate"
    assert world.ring.verify(app.kept)[0] == "candidate"


def test_several_tokens_may_be_sent_where_the_queue_is_not_known() -> None:
    world = World(queue(**MANUAL), queue(id="other", routes=[{"path": "/other/*"}], **MANUAL))
    one, other = App(world), App(world)
    for _ in range(2):
        one.get()
        other.get("/other/")
    both = App(world)
    both.kept = f"{other.kept}, {one.kept}"
    assert both.get().json["position"] == 1
    both.kept = f"{other.kept}, {one.kept}"
    assert both.get("/other/").json["position"] == 1


def test_a_token_of_another_queue_or_kind_proves_nothing() -> None:
    world = World(queue(**MANUAL), queue(id="other", routes=[{"path": "/other/*"}], **MANUAL))
    app = App(world)
    app.get()
    app.get()
    place = app.kept
    assert app.get("/other/").state == "candidate"
    app.kept = forged(world, "origin", {"aud": "launch", "sub": "v", "iat": START_MS // 1000, "exp": START_MS // 1000 + 60})
    assert app.get().state == "candidate"
    app.kept = f"{place}x"
    assert app.get().state == "candidate"
    app.kept = place
    assert app.get().json["position"] == 1


def test_leaving_by_header_needs_no_page_of_the_site_but_by_cookie_it_does() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.join()
    cross = {"sec-fetch-site": "cross-site", "origin": "https://evil.example"}
    assert browser.leave(cross).status == 403
    assert browser.leave({**cross, "stanchion-token": "new"}).status == 200, "nobody, and nothing given up"
    app = App(world)
    app.get()
    app.get()
    assert world.snapshot().waiting == 2
    assert app.leave(cross).state == "ended"
    assert world.snapshot().waiting == 1


def test_an_invitation_is_followed_by_header_too() -> None:
    lanes = [{"name": "standard"}, {"name": "vip", "invite": True}]
    world = World(queue(lanes=lanes, **MANUAL))
    text = write_invite(world.ring, Invite("launch", "vip", "a" * 16, START_MS + 60_000))
    app = App(world)
    led_on = app.get(f"/.stanchion/launch/invite?t={text}&to=/launch/")
    assert (led_on.status, led_on.header("Location")) == (303, "/launch/")
    assert (world.ring.verify(app.kept)[0], app.claims()["i"]) == ("candidate", "a" * 16)
    assert app.get().json["lane"] == "vip"


def test_an_expired_candidate_is_told_to_begin_anew_in_one_header() -> None:
    world = World(queue(**MANUAL))
    app = App(world)
    app.get()
    world.live(16 * 60)
    assert app.get().state == "candidate"
    token = world.node.context.tokens.read(app.kept, "launch")
    assert isinstance(token, Candidate)
    assert token.expires_ms > world.now_ms


@given(st.text(max_size=300) | st.binary(max_size=300).map(lambda data: data.decode("latin-1")))
def test_no_header_is_an_error(text: str) -> None:
    for value in (text or "new", f"{text}, new", "new," * 500 + text):
        app = App(_WORLD)
        app.kept = value
        assert app.get().status in (429, 503)
        assert app.status().status in (200, 429)
        conclude(app.request("/launch/", headers={"stanchion-token": value}), "", 200, [], _WORLD.node.context)


_WORLD = World(queue(**MANUAL))

_PRIVATE, _PUBLIC = [("cache-control", "private")], [("cache-control", "public, max-age=9")]
_DONE = [("cache-control", "no-store"), ("stanchion-command", "complete")]
STEPS: dict[str, Callable[[World, Browser], object]] = {
    "ask": lambda world, who: who.get(headers={"accept": JSON}, answer=(200, _PRIVATE)),
    "ask for what caches keep": lambda world, who: who.get(headers={"accept": JSON}, answer=(200, _PUBLIC)),
    "buy": lambda world, who: who.get(method="POST", headers={"accept": JSON}, answer=(200, _DONE)),
    "look": lambda world, who: who.get(method="HEAD"),
    "status": lambda world, who: who.status(),
    "leave": lambda world, who: who.leave({"accept": JSON}),
    "call": lambda world, who: world.run(commands.admit("launch", 1, world.hex(), world.hex())),
    "pause": lambda world, who: world.pause(),
    "resume": lambda world, who: world.resume(),
    "reset": lambda world, who: world.reset(),
    "a second": lambda world, who: world.pass_time(1),
    "a minute": lambda world, who: world.live(60),
    "a turn missed": lambda world, who: world.live(150),
    "a visit run out": lambda world, who: world.live(400),
}


@settings(max_examples=20, deadline=None)
@given(st.lists(st.sampled_from(list(STEPS)), max_size=14))
@example(["ask", "ask", "call", "a second", "ask", "a minute", "ask", "buy", "ask", "status", "leave", "status"])
def test_whatever_happens_the_header_fares_as_cookies_do(steps: list[str]) -> None:
    def fate(make: Callable[[World], Browser]) -> list[object]:
        world = World(queue(**MANUAL))
        who, told = make(world), []
        for step in steps:
            got = STEPS[step](world, who)
            if isinstance(got, Got):
                body = got.json if got.body else None
                told.append((got.status, got.forwarded is not None, body, got.calls, got.header("Stanchion-State")))
        snapshot = world.snapshot()
        return [*told, (snapshot.length, snapshot.waiting, snapshot.inside)]

    assert fate(App) == fate(lambda world: Browser(world, accept=JSON))



def test_the_host_is_asked_for_the_header() -> None:
    assert "stanchion-token" in REQUEST_HEADERS
