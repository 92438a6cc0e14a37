"""Lanes and groups at the edge, on real scripts: who stands in which line, one place for a group, invitations used once."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from edge.core import commands
from edge.core.invites import Invite, link, write_invite
from edge.core.lines import seen_from
from edge.core.snapshot import LineView, Snapshot
from tests.core.support import MANUAL, START_MS, Browser, World, queue, set_cookies

SECRET = "a secret of the shop with 32 bytes and more"
LANES = [{"name": "standard", "share": 3}, {"name": "members", "rule": "cookie:member"}, {"name": "vip", "invite": True}]


def laned(**values: Any) -> World:
    here = World(queue(lanes=LANES, **MANUAL | values))
    here.node.context.secret = {"lane:launch": SECRET}.get
    return here


def invited(here: World, invite_id: str, **values: Any) -> Browser:
    browser = Browser(here, **values)
    text = write_invite(here.ring, Invite("launch", "vip", invite_id, START_MS + 3_600_000))
    address = link("https://shop.example.org", "launch", text)
    assert browser.get(address.removeprefix("https://shop.example.org")).status == 303
    return browser


def test_each_lane_has_its_own_positions_and_the_status_names_it() -> None:
    here = laned()
    plain = Browser(here)
    assert plain.join() == 1
    member = Browser(here, client="192.0.2.1")
    member.jar["member"] = (jwt.encode({"lane": "members", "exp": START_MS // 1000 + 600}, SECRET, "HS256"), 2**53)
    assert member.join() == 1
    vip = invited(here, "one", client="192.0.2.2")
    assert vip.join() == 1
    assert [browser.status().json["lane"] for browser in (plain, member, vip)] == ["standard", "members", "vip"]
    assert [browser.token()["p"] // 10**8 for browser in (plain, member, vip)] == [0, 1, 2]
    assert len(here.snapshot().lines) == 3


def test_an_invitation_is_good_for_one_visitor_the_second_joins_the_ordinary_lane() -> None:
    here = laned()
    first, second = invited(here, "shared", client="192.0.2.1"), invited(here, "shared", client="192.0.2.2")
    first.join()
    second.join()
    assert (first.status().json["lane"], second.status().json["lane"]) == ("vip", "standard")
    again = invited(here, "shared", client="192.0.2.1")
    again.jar = dict(first.jar)
    assert again.status().json["lane"] == "vip"


def test_whoever_is_called_in_a_lane_comes_in_and_the_pass_names_the_line() -> None:
    here = laned()
    vip = invited(here, "one")
    vip.join()
    here.admit(1)
    here.pass_time(1)
    assert vip.get().forwarded is not None
    assert vip.token()["p"] == 2 * 10**8 + 1
    here.pass_time(61)
    got = vip.get()
    assert got.forwarded is not None
    assert got.calls.count("renew") == 1
    assert vip.status().json["lane"] == "vip"
    assert vip.leave().state == "ended"
    here.pass_time(1)
    assert here.snapshot().inside == 0


# --- groups ---------------------------------------------------------------------------------------------------------------

MEMBERS = [
    {"id": "jp", "name": "J", "routes": [{"path": "/sale/*"}], "countries": ["JP"], "page": "jp"},
    {"id": "us", "name": "U", "routes": [{"path": "/sale/*"}], "countries": ["US"], "page": "us"},
    {"id": "extra", "name": "X", "routes": [{"path": "/extra/*"}]},
]
GROUP = {"id": "sale", "name": "S", "queues": ["jp", "us", "extra"], "manual": True}


def grouped(**values: Any) -> World:
    return World(*MEMBERS, groups=[GROUP | values])


def test_a_group_has_a_line_for_each_queue_and_one_cookie() -> None:
    here = grouped()
    tokyo, boston = Browser(here, country="JP"), Browser(here, country="US", client="192.0.2.1")
    for browser in (tokyo, boston):
        browser.get("/sale/")
    assert {name.removeprefix("__Host-") for name in tokyo.jar} == {"_ga", "stanchion-sale.c"}
    assert tokyo.status("jp").json["position"] == 1
    assert boston.status("us").json["position"] == 1
    assert (tokyo.token("stanchion-sale")["p"], boston.token("stanchion-sale")["p"]) == (1, 10**8 + 1)


def test_one_live_place_for_a_group_whichever_queue_is_asked() -> None:
    here = grouped()
    tokyo = Browser(here, country="JP")
    tokyo.get("/sale/")
    tokyo.status("jp")
    before = tokyo.value("stanchion-sale")
    got = tokyo.get("/extra/")
    assert got.slot("position") == "1"
    assert tokyo.status("extra").json["position"] == 1
    assert tokyo.value("stanchion-sale") == before
    assert sum(line.length for line in here.snapshot("sale").lines) == 1


def test_the_queue_of_the_visitors_line_shows_its_page_wherever_the_visitor_is_now() -> None:
    here = grouped()
    boston = Browser(here, country="US")
    boston.get("/sale/")
    boston.status("us")
    boston.country = "JP"
    assert "page=us/" in boston.get("/sale/").body


def test_a_queue_of_a_group_that_is_paused_by_itself_says_so_and_its_called_come_in() -> None:
    here = grouped()

    def joined(country: str, client: str) -> Browser:
        browser = Browser(here, country=country, client=client)
        browser.get("/sale/")
        browser.status(country.lower())
        return browser

    first = joined("US", "192.0.2.1")
    here.admit(1, "sale")
    boston, tokyo = joined("US", "192.0.2.2"), joined("JP", "192.0.2.3")
    us = here.config.queue("us")
    assert us is not None
    here.run(commands.control_queue(us, "pause_lines", here.hex(), here.hex()))
    here.pass_time(1)
    assert first.status("us").state == "called", "whoever has a turn keeps it"
    assert first.get("/sale/").forwarded is not None
    for _ in range(3):
        said = boston.status("us").json
        assert (said["state"], said["position"], said["wait_s"]) == ("paused", 2, None), "also when it is Redis that answers"
        assert tokyo.status("jp").state == "waiting"
        here.pass_time(30)
    assert joined("US", "192.0.2.9").status("us").json["state"] == "paused", "newcomers line up"
    here.admit(5, "sale")
    here.pass_time(1)
    assert (tokyo.status("jp").state, boston.status("us").state) == ("called", "paused")
    here.run(commands.control_queue(us, "open_lines", here.hex(), here.hex()))
    here.pass_time(1)
    assert boston.status("us").state == "waiting"


def test_a_pass_of_one_queue_of_the_group_opens_all_of_them() -> None:
    here = grouped()
    tokyo = Browser(here, country="JP")
    tokyo.get("/sale/")
    tokyo.status("jp")
    here.admit(1, "sale")
    here.pass_time(1)
    assert tokyo.get("/sale/").forwarded is not None
    forwarded = tokyo.get("/extra/").forwarded
    assert forwarded is not None
    assert forwarded.queue_id == "extra"
    here.pass_time(1)
    assert here.snapshot("sale").inside == 1


# --- a queue that gives no places -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("action", "state"), [("close", "closed"), ("maintenance", "maintenance"), ("drain", "closed")])
def test_newcomers_get_the_page_and_no_cookie_where_no_places_are_given(action: commands.Action, state: str) -> None:
    here = World(queue(**MANUAL))
    waiting = Browser(here)
    waiting.join()
    here.run(commands.control("launch", action, here.hex(), here.hex()))
    here.pass_time(1)
    newcomer = Browser(here, client="192.0.2.1")
    got = newcomer.get()
    assert (got.state, set_cookies(got)) == (state, {})
    assert newcomer.status().state == state
    assert waiting.status().state == ("waiting" if action == "drain" else state)
    assert waiting.status().json["position"] == 1
    here.run(commands.control("launch", "resume", here.hex(), here.hex()))
    here.pass_time(1)
    assert newcomer.join() == 2


def test_a_candidate_of_a_queue_that_closes_gets_the_page_and_stays_one() -> None:
    here = World(queue(**MANUAL))
    hopeful = Browser(here)
    hopeful.get()
    here.run(commands.control("launch", "close", here.hex(), here.hex()))
    here.pass_time(1)
    assert hopeful.status().state == "closed"
    here.run(commands.control("launch", "resume", here.hex(), here.hex()))
    here.pass_time(1)
    assert hopeful.status().json["position"] == 1


def test_the_message_of_the_operator_is_told() -> None:
    here = World(queue(**MANUAL))
    browser = Browser(here)
    browser.join()
    here.run(commands.control("launch", "message", here.hex(), here.hex(), text="Doors at noon"))
    here.pass_time(1)
    assert browser.status().json["message"] == "Doors at noon"


# --- the arithmetic -------------------------------------------------------------------------------------------------------


def test_a_line_is_seen_as_if_it_were_the_only_one_beside_the_crowds_of_the_others() -> None:
    lines = (LineView(50, 10, 20, weight=1, present=8, gone=(15, 30)), LineView(7, 7, 7, weight=5))
    whole = Snapshot("e", 0, "open", 100, 40, 60, 1, 90, None, full=True, weight=2, line_present=20, outflow_per_minute=30.0,
                     present_share=0.5, more_lines=lines, arriving_per_s=(0, 0.5, 2))  # fmt: skip
    first, second, third = (seen_from(whole, line) for line in (0, 1, 2))
    assert (first.ahead(51), second.ahead(21)) == (10, 9)
    assert [(seen.seen_line, seen.admit_per_minute, seen.outflow_per_minute) for seen in (first, second, third)] == [
        (0, 90, 30), (1, 90, 30), (2, 90, 30)]  # fmt: skip
    assert seen_from(whole, 1) is second, "made once for all who ask"
    # Of the 30 places of line 1 beyond its window one has left, and of the others half are there.
    assert first.crowds == second.crowds == ((2, 20, 20, 0), (1, 8, 14.5, 0.5), (5, 0, 0, 2))
    alone = Snapshot("e", 0, "open", 100, 40, 60, 1, 90, None)
    assert seen_from(alone, 0) is alone
