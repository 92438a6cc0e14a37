"""A missed turn, a checkout, and a page that was closed: what the edge makes of the scripts' words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.support import MANUAL, Browser, World, queue, set_cookies


def missed(late_claim: str) -> tuple[World, Browser]:
    """A visitor who was called and did not come."""
    here = World(queue(late_claim=late_claim, **MANUAL))
    browser, other = Browser(here), Browser(here, client="192.0.2.1")
    browser.join()
    other.join()
    here.admit(1)
    for _ in range(30):
        here.pass_time(5)
        other.status()
    return here, browser


def test_at_the_head_the_late_one_is_in_line_with_the_old_place() -> None:
    _, browser = missed("head")
    got = browser.status()
    assert (got.state, got.json["position"]) == ("waiting", 1)


def test_at_the_back_the_status_says_it_and_the_door_gives_a_new_place() -> None:
    _, browser = missed("back")
    got = browser.status()
    assert (got.state, set_cookies(got)) == ("lapsed", {})
    assert browser.status().state == "lapsed"
    browser.get()
    assert browser.token()["p"] == 3
    assert browser.status().json["position"] == 3


def test_refused_the_turn_is_lost_and_the_next_visit_is_a_newcomers() -> None:
    _, browser = missed("refused")
    got = browser.status()
    assert got.state == "lapsed"
    assert not browser.value("stanchion-launch")
    assert browser.join() == 3


def visit(**values: Any) -> tuple[World, Browser]:
    here = World(queue(rate=60, burst=5, idle_s=60, renew_every_s=20, **values))
    browser = Browser(here)
    assert browser.get().forwarded is not None
    return here, browser


def say(browser: Browser, command: str) -> Any:
    return browser.get("/launch/pay", answer=(200, [("stanchion-command", command), ("cache-control", "private")]))


def test_while_the_buyer_pays_no_silence_ends_the_visit() -> None:
    here, browser = visit(checkout_s=600)
    got = say(browser, "checkout")
    assert got.calls == ["checkout"]
    assert browser.token()["x"] - browser.token()["r"] == 580
    here.live(300)
    assert browser.get().forwarded is not None
    assert here.snapshot().inside == 1


def test_a_checkout_ends_when_its_time_is_over_and_may_be_extended_once() -> None:
    here, browser = visit(checkout_s=120)
    say(browser, "checkout")
    here.live(60)
    assert say(browser, "checkout; extend").calls[-1] == "checkout"
    here.live(100)
    assert browser.get().forwarded is not None
    assert say(browser, "checkout; extend").calls[-1] == "checkout"
    here.live(60)
    browser.get()
    assert here.snapshot().admitted_last_minute == 1, "it ended, and came in anew"


def test_a_checkout_of_a_queue_without_one_is_noted() -> None:
    _, browser = visit()
    got = say(browser, "checkout")
    assert (got.calls, set_cookies(got)) == ([], {})
    assert "no checkout_s" in got.note


def test_more_sold_than_there_is_by_header_is_an_overrun_and_never_refused() -> None:
    here, browser = visit(inventory=3)
    got = say(browser, "complete; units=9")
    assert got.calls == ["end"]
    here.pass_time(1)
    assert here.snapshot().inside == 0


def test_a_closed_page_keeps_the_place() -> None:
    here = World(queue(**MANUAL))
    browser = Browser(here)
    browser.join()
    got = browser.get("/.stanchion/launch/away", "POST")
    assert (got.status, got.calls) == (204, ["end"])
    here.pass_time(1)
    assert browser.status().json["position"] == 1
    assert browser.get("/.stanchion/launch/away", "POST", {"sec-fetch-site": "cross-site"}).status == 403
    assert Browser(here, client="192.0.2.9").get("/.stanchion/launch/away", "POST").calls == []


@pytest.mark.parametrize(("visits", "is_queueing"), [(5, False), (40, True)])
def test_above_the_threshold_of_new_visits_everyone_queues(visits: int, is_queueing: bool) -> None:
    here = World(queue(rate=600, burst=300, start_queueing_above=10, always_queue=True))
    for number in range(visits):
        Browser(here, client=f"198.51.{number}.1").get()
        here.pass_time(0.6)
    name, count = here.node.context.node.visits("launch", here.now_ms)
    assert (len(name), count) == (16, visits)
    here.pass_time(1)
    late = Browser(here, client="192.0.2.1").get()
    assert (late.forwarded is None) is is_queueing


@pytest.mark.parametrize("gap_s", [0.05, 0.6])
def test_after_silence_the_first_newcomer_goes_straight_in(gap_s: float) -> None:
    """A crowd of twenty, told or untold by then, and nobody's request for two minutes."""
    here = World(queue(rate=30, burst=1, start_queueing_above=5, always_queue=True, candidate_hold_s=1))
    for number in range(20):
        last = Browser(here, client=f"198.51.{number}.1").get()
        here.pass_time(gap_s)
    assert last.forwarded is None
    here.pass_time(125)
    for number in range(3):
        assert Browser(here, client=f"192.0.{number}.1").get().forwarded is not None
        here.pass_time(1)


def test_a_crowd_that_nobody_has_told_of_yet_counts_when_it_is_told() -> None:
    here = World(queue(rate=30, burst=1, start_queueing_above=5, always_queue=True))
    for number in range(20):
        Browser(here, client=f"198.51.{number}.1").get()
    here.pass_time(30)
    assert Browser(here).get().forwarded is None


def test_a_reload_is_no_way_out() -> None:
    here = World(queue(**MANUAL))
    browser = Browser(here)
    browser.join()
    before_ms = browser.token()["t"] * 1000
    assert browser.get(f"/.stanchion/launch/away?since={before_ms - 5000}", "POST").calls == []
    assert browser.get(f"/.stanchion/launch/away?since={before_ms}", "POST").calls == ["end"]
    assert browser.get("/.stanchion/launch/away?since=x", "POST").calls == ["end"]
    assert browser.token()["t"] == 0
    here.pass_time(1)
    assert "touch" in browser.status().calls, "whoever polls after all is present again at once"


def test_a_pass_seen_in_too_many_networks_is_not_renewed() -> None:
    here, browser = visit(max_networks=2)
    for client in ("198.51.100.1", "198.51.100.200", "203.0.113.9"):
        browser.client = client
        assert browser.get().forwarded is not None
    here.pass_time(21)
    got = browser.get()
    assert "renew" in got.calls, "two networks, this one among them"
    for client in ("198.51.100.1", "203.0.113.9", "192.0.2.1"):
        browser.client = client
        assert browser.get().forwarded is not None, "between renewals nothing is refused"
    position = browser.token()["p"]
    here.pass_time(21)
    got = browser.get()
    assert "end" in got.calls
    assert "renew" not in got.calls
    assert not browser.value("stanchion-launch") or browser.token()["p"] != position
    here.pass_time(1)
    assert position in here.snapshot().ended
