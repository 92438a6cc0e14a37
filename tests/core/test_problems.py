"""Errors as problem details (RFC 9457); waiting is none."""

from __future__ import annotations

import pytest

from tests.core.support import HTML, JSON, MANUAL, Browser, Got, World, away, busy, full, only, queue

PROBLEM = "application/problem+json"


def is_problem(got: Got, status: int, error: str) -> None:
    assert got.status == status
    assert got.header("Content-Type") == PROBLEM
    assert (got.json["type"], got.json["status"], got.json["error"]) == ("about:blank", status, error)
    assert got.json["title"]
    assert got.json["detail"]
    if status in (429, 503):
        assert int(got.header("Retry-After")) == got.json["poll_s"]


def test_waiting_is_no_error() -> None:
    for held_status in (503, 429):
        got = Browser(World(queue(held_status=held_status, **MANUAL)), accept=JSON).get()
        assert (got.status, got.header("Content-Type"), got.state) == (held_status, "application/json", "candidate")
        assert "type" not in got.json


def test_too_many_places_of_one_network() -> None:
    world = World(queue(places_per_network_per_minute=1, **MANUAL))
    first, second = Browser(world, accept=JSON), Browser(world, accept=JSON)
    first.join()
    second.get()
    is_problem(second.get(), 429, "too many requests")
    is_problem(second.status(), 429, "too many requests")
    assert second.status().state == "candidate"


def test_a_store_in_trouble() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world, accept=JSON)
    browser.join()
    world.fault = away()
    world.pass_time(1)
    is_problem(browser.get(), 503, "unavailable")
    assert browser.get().state == "unavailable"
    status = browser.status()
    assert (status.status, status.header("Content-Type")) == (200, "application/json"), "asking where one stands worked"
    world.fault = None
    world.pass_time(1)
    browser.status()
    world.fault = only("end", busy)
    is_problem(browser.leave({"accept": JSON}), 503, "unavailable")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_write_that_did_not_reach_the_site(method: str) -> None:
    browser = Browser(World(queue(**MANUAL)), accept=JSON)
    browser.join()
    got = browser.get("/launch/", method)
    is_problem(got, 503, "not sent")
    assert (got.state, got.json["position"]) == ("waiting", 1)


def test_pages_stay_pages() -> None:
    browser = Browser(World(queue(**MANUAL)), accept=HTML)
    assert browser.get("/launch/", "POST").header("Content-Type").startswith("text/html")


def test_the_state_is_named_in_a_header_of_every_answer_of_the_gate() -> None:
    world = World(queue(**MANUAL))
    for accept in (HTML, JSON):
        browser = Browser(world, accept=accept)
        assert browser.get().header("Stanchion-State") == "candidate"
        assert browser.status().header("Stanchion-State") == "waiting"
        assert browser.get(method="HEAD").header("Stanchion-State") == "waiting"
    (inside,) = full(World(), 1)
    assert inside.get().headers == []
