"""A pre-queue from the first number to the drawn place, and its record, on real scripts: no process is awake but visitors."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core import commands, draw
from edge.core.draw_check import place_in, read_record
from edge.core.moments import moment_text
from tests.core.support import MANUAL, START_MS, Browser, World, is_held, queue

OPENS_MS = START_MS + 600_000
PRE = {"prequeue_at": moment_text(START_MS + 60_000), "opens_at": moment_text(OPENS_MS)}


def world(**values: Any) -> World:
    return World(queue(**PRE | MANUAL | values), embedded=True)


def arrive(here: World, count: int) -> list[Browser]:
    browsers = [Browser(here, client=f"198.51.{number}.1") for number in range(count)]
    for number, browser in enumerate(browsers, start=1):
        browser.get()
        got = browser.status()
        assert (got.state, got.json["arrival"], got.json["position"]) == ("prequeue", number, None), got.body
    return browsers


def record(here: World) -> dict[str, Any]:
    here.pass_time(1)
    got = Browser(here).get("/.stanchion/launch/draw")
    assert got.status == 200
    return got.json


def test_before_the_pre_queue_nobody_gets_a_place() -> None:
    here = world()
    browser = Browser(here)
    got = browser.get()
    is_held(got)
    assert got.state == "not_open"
    status = browser.status().json
    assert (status["state"], status["opens_at"], status["position"]) == ("not_open", PRE["opens_at"], None)
    assert not browser.value("stanchion-launch")
    here.pass_time(61)
    browser.get()
    assert browser.status().state == "prequeue"


def test_numbers_become_drawn_places_by_the_first_request_after_the_opening() -> None:
    here = world()
    here.pass_time(61)
    browsers = arrive(here, 7)
    before = record(here)
    assert (before["seed"], before["order"]) == (None, "draw")
    assert len(before["commitment"]) == 64
    here.now_ms = OPENS_MS + 1000
    first = browsers[3].status()
    assert first.state == "waiting", first.body
    places = [browser.status().json["position"] for browser in browsers]
    assert sorted(places) == list(range(1, 8))
    after = record(here)
    assert after["commitment"] == before["commitment"]
    drawn = read_record(after)
    assert drawn.counts == (7,)
    assert places == [place_in(drawn, 0, number) for number in range(1, 8)]
    visitors = [draw.visitor_hash(browser.token()["v"]) for browser in browsers]
    assert draw.chain_head([(0, number, sha1) for number, sha1 in enumerate(visitors, start=1)]) == drawn.chain


def test_the_place_is_kept_in_the_cookie_and_costs_no_command() -> None:
    here = world()
    here.pass_time(61)
    browsers = arrive(here, 3)
    here.now_ms = OPENS_MS + 1000
    browsers[0].status()
    here.live(5)
    browser = browsers[1]
    position = browser.status().json["position"]
    assert browser.token()["p"] == position
    assert browser.status().json["position"] == position
    assert browser.status().json["draw"] == "/.stanchion/launch/draw"


@pytest.mark.parametrize("order", ["draw", "arrival"])
def test_the_number_of_arrival_stays_known_after_the_opening(order: str) -> None:
    here = world(prequeue_order=order)
    here.pass_time(61)
    browsers = arrive(here, 5)
    here.now_ms = OPENS_MS + 1000
    for _ in range(4):  # the first answer, those from memory, and those of a sign of life
        for number, browser in enumerate(browsers, start=1):
            got = browser.status().json
            assert (got["state"], got["arrival"]) == ("waiting", number)
            assert got["draw"] == "/.stanchion/launch/draw"
            assert browser.get(headers={"accept": "application/json"}).json["arrival"] == number
        here.pass_time(20)
    touched = [browser.token() for browser in browsers]
    assert [claims["n"] for claims in touched] == [1, 2, 3, 4, 5]
    assert all(claims["t"] for claims in touched), "a sign of life went by"


def test_the_number_of_arrival_is_gone_with_the_line_that_it_was_of() -> None:
    here = world()
    here.pass_time(61)
    browser = arrive(here, 1)[0]
    here.now_ms = OPENS_MS + 1000
    assert browser.status().json["arrival"] == 1
    here.run(commands.control("launch", "reset", here.hex(), here.hex()))
    here.pass_time(1)
    browser.status()
    assert "n" not in browser.token()


def test_later_arrivals_line_up_behind() -> None:
    here = world()
    here.pass_time(61)
    arrive(here, 4)
    here.now_ms = OPENS_MS + 1000
    late = Browser(here, client="192.0.2.1")
    assert late.join() == 5
    assert late.status().json["arrival"] is None


def test_without_a_draw_the_number_is_the_place() -> None:
    here = world(prequeue_order="arrival")
    here.pass_time(61)
    browsers = arrive(here, 4)
    here.now_ms = OPENS_MS + 1000
    assert [browser.status().json["position"] for browser in browsers] == [1, 2, 3, 4]
    assert record(here)["order"] == "arrival"


def test_a_named_beacon_is_waited_for_and_mixed_in() -> None:
    here = world(draw_beacon="round 5")
    here.pass_time(61)
    browsers = arrive(here, 5)
    here.now_ms = OPENS_MS + 1000
    assert browsers[0].status().state == "prequeue"
    assert here.run(commands.control("launch", "beacon", here.hex(), here.hex(), text="77ab")).verdict == "ok"
    here.pass_time(1)
    places = [browser.status().json["position"] for browser in browsers]
    drawn = read_record(record(here))
    assert drawn.beacon == "77ab"
    assert places == [place_in(drawn, 0, number) for number in range(1, 6)]


def test_whoever_gives_up_the_number_is_not_in_the_line_and_the_others_keep_theirs() -> None:
    here = world()
    here.pass_time(61)
    browsers = arrive(here, 3)
    assert browsers[1].leave().status == 200
    here.now_ms = OPENS_MS + 1000
    assert browsers[0].status().state == "waiting"
    again = browsers[1]
    again.get()
    assert again.join() == 4


def test_the_draw_of_a_queue_without_a_pre_queue_is_not_there() -> None:
    here = World(queue())
    assert Browser(here).get("/.stanchion/launch/draw").status == 404
    assert Browser(world()).get("/.stanchion/launch/draw", "POST").status == 405


@pytest.mark.parametrize(("action", "state"), [("pause", "paused"), ("close", "closed"), ("maintenance", "maintenance")])
def test_an_operator_stands_above_the_schedule_and_numbers_stay(action: commands.Action, state: str) -> None:
    here = world()
    here.pass_time(61)
    (browser,) = arrive(here, 1)
    here.run(commands.control("launch", action, here.hex(), here.hex()))
    here.pass_time(1)
    assert (browser.status().state, browser.status().json["arrival"]) == (state, 1)
    here.run(commands.control("launch", "resume", here.hex(), here.hex()))
    here.now_ms = OPENS_MS + 1000
    assert browser.status().json["position"] == 1


def test_the_scripts_draw_the_same_place_as_the_edge() -> None:
    here = world(lanes=[{"name": "standard"}, {"name": "vip", "invite": True}])
    here.pass_time(61)
    browsers = arrive(here, 9)
    here.now_ms = OPENS_MS + 1000
    places = [browser.status().json["position"] for browser in browsers]
    again = [here.run(commands.join("launch", browser.token()["v"], here.hex())).number(0) for browser in browsers]
    assert again == places
    assert sorted(places) == list(range(1, 10))
    assert here.snapshot().epoch == browsers[0].token()["e"], "nobody took the drawn places for a loss"
