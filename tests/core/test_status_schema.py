"""docs/status.schema.json holds of real answers, in every state that a visitor can be in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edge.core import commands
from edge.core.answers import without_configuration
from edge.core.messages import Respond
from edge.core.snapshot import Snapshot
from edge.core.standing import STATES, Standing, called, in_line
from tests.core.schema import VALIDATOR, holds
from tests.core.support import JSON, MANUAL, Browser, Got, World, away, busy, full, only, queue


def state_of(got: Got) -> str:
    assert isinstance(got.decision, Respond)
    holds(got.json)
    is_error = got.header("Content-Type") == "application/problem+json"
    assert ("status" in got.json) is is_error
    assert got.header("Stanchion-State") == got.json["state"]
    return str(got.json["state"])


def test_a_whole_visit() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world, accept=JSON)
    seen = [state_of(browser.get()), state_of(browser.status()), state_of(browser.get(method="POST"))]
    world.pause()
    world.pass_time(1)
    seen.append(state_of(browser.status()))
    world.resume()
    world.admit(1)
    world.pass_time(1)
    seen.append(state_of(browser.status()))
    browser.get()
    seen.append(state_of(browser.status()))
    world.run(commands.end("launch", browser.token()["e"], 1, browser.token()["v"], "revoked", world.hex()))
    world.pass_time(1)
    seen += [state_of(browser.status()), state_of(browser.leave({"accept": JSON}))]
    assert seen == ["candidate", "waiting", "waiting", "paused", "called", "inside", "ended", "ended"]


def test_trouble() -> None:
    world = World(queue(**MANUAL))
    browser, stranger = Browser(world, accept=JSON), Browser(world, accept=JSON)
    browser.join()
    world.pass_time(1)
    world.fault = away()
    assert [state_of(browser.get()), state_of(browser.status()), state_of(stranger.status())] == ["unavailable"] * 3
    world.fault = busy
    assert {state_of(browser.status()), state_of(stranger.status())} <= {"waiting", "candidate", "unavailable"}
    world.fault = only("end", away())
    assert state_of(browser.leave({"accept": JSON})) == "unavailable"
    holds(json.loads(without_configuration(browser.request("/launch/"), "why", 10).text))


@pytest.mark.parametrize(("country", "state"), [("FR", "closed"), ("", "closed"), ("JP", "candidate")])
def test_countries(country: str, state: str) -> None:
    world = World(queue(countries=["JP"], **MANUAL))
    browser = Browser(world, accept=JSON, country=country)
    assert [state_of(browser.get()), state_of(browser.status())][0] == state


def test_a_full_minute() -> None:
    world = World()
    full(world)
    browser = Browser(world, accept=JSON)
    assert {state_of(browser.get()), state_of(browser.get()), state_of(browser.status())} <= {"candidate", "waiting", "called"}


def _snapshot() -> Snapshot:
    world = World(queue(**MANUAL))
    Browser(world).join()
    return world.snapshot()


@pytest.mark.parametrize("state", STATES)
def test_every_state_and_its_text_say_the_same(state: str) -> None:
    each, snapshot = World(start=False).queue(), _snapshot()
    for where in (Standing(each, state, 1, "e", 7, 6), in_line(each, snapshot, 1, 5), called(each, snapshot, 1, 5, 9000, 500)):
        assert json.loads(where.status_text()) == where.status()
        holds(where.status())


@pytest.mark.parametrize(("key", "value"), [("state", "lost"), ("position", 0), ("ahead", -1), ("wait_s", {"low": 1}),
                                            ("poll_s", 0), ("epoch", 5), ("now", "1"), ("queue", 7)])  # fmt: skip
def test_what_is_none_is_told(key: str, value: Any) -> None:
    good = Standing(World(start=False).queue(), "candidate", 1).status()
    assert VALIDATOR.is_valid(good)
    assert not VALIDATOR.is_valid(good | {key: value})
    assert not VALIDATOR.is_valid({name: member for name, member in good.items() if name != key})
    assert VALIDATOR.is_valid(good | {"later": "addition"})
