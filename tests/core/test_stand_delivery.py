"""A pass that could not be delivered: the site's pages are for shared caches, and the visit goes on all the same."""

from __future__ import annotations

from tests.core.support import (
    MANUAL,
    Browser,
    World,
    queue,
    set_cookies,
    waiting,
)

PUBLIC = (200, [("cache-control", "public, max-age=60")])


def test_a_site_of_shared_pages_costs_no_command_a_request_and_keeps_its_visitors() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    assert browser.get(answer=PUBLIC).forwarded  # admitted; the pass cannot be attached
    assert "t" in browser.token()  # still the cookie of the place
    commands_sent = 0
    for _ in range(100):
        world.pass_time(10)
        got = browser.get(answer=PUBLIC)
        assert got.forwarded is not None
        commands_sent += len([name for name in got.calls if name != "snapshot"])
    assert commands_sent <= 17  # one renewal in 60 s
    assert world.snapshot().inside == 1
    got = browser.get()  # at last an answer that may carry it
    assert set(set_cookies(got)) == {"stanchion-launch"}
    assert "r" in browser.token()


def test_on_another_node_such_a_visit_goes_on_too_and_does_not_run_out_while_it_is_used() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    assert browser.get(answer=PUBLIC).forwarded
    for _ in range(10):
        world.pass_time(100)
        browser.node = world.new_node()
        got = browser.get(answer=PUBLIC)
        assert got.forwarded is not None, got.decision
    assert world.snapshot().inside == 1


def test_a_newcomer_whose_pass_cannot_be_delivered_gives_the_slot_back() -> None:
    world = World()
    browser = Browser(world)
    got = browser.get(answer=PUBLIC)
    assert got.forwarded is not None
    assert got.calls[-1] == "end"
    assert world.snapshot().inside == 0
    assert not got.all("Set-Cookie")


def test_a_reset_turns_a_visit_on_a_place_cookie_into_a_place_in_the_new_line() -> None:
    world = World(queue(**MANUAL))
    browser = waiting(world)
    world.admit(1)
    world.pass_time(1)
    browser.get(answer=PUBLIC)
    world.reset()
    world.pass_time(1)
    got = browser.get()
    assert got.slot("state") == "waiting"
    assert browser.token()["e"] == world.snapshot().epoch
