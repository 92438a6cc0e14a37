"""One place for one key: whatever device, tab or cookie comes with the site's word, the line knows one visitor."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edge.core import calls, commands
from edge.core.config import check_config
from edge.core.errors import ConfigError
from edge.core.keyring import Keyring
from edge.core.messages import Request
from edge.core.vouching import is_keyed, keyed_visitor
from tests.core.support import JSON, KEYS, MANUAL, START_MS, Browser, Got, World, end, queue

SECRET = "a secret of the shop with 32 bytes and more"
RING = Keyring.parse(KEYS)
KEYED = MANUAL | {"visitor_key": "cookie:account"}


def said(sub: Any = "anna", secret: str = SECRET, **claims: Any) -> str:
    return jwt.encode({"sub": sub, "exp": START_MS // 1000 + 864_000} | claims, secret, "HS256")


def keyed(*, embedded: bool = False, **values: Any) -> World:
    here = World(queue(**KEYED | values), embedded=embedded)
    here.node.context.secret = {"lane:launch": SECRET}.get
    return here


def device(here: World, sub: Any = "anna", **values: Any) -> Browser:
    browser = Browser(here, **values)
    if sub:
        browser.jar["account"] = (said(sub), 2**53)
    return browser


def inside(browser: Browser, here: World) -> Got:
    """Calls one, and lets the browser come in."""
    here.admit(1)
    here.pass_time(1)
    got = browser.get()
    assert got.forwarded is not None, got.body
    return got


# --- the id -------------------------------------------------------------------------------------------------------------


def visitor(sub: Any = "anna", ring: Keyring = RING, queue_id: str = "launch", token: str = "", **values: Any) -> str:
    each = check_config({"queues": [queue(id=queue_id, **KEYED | values)]}).queues[0]
    request = Request("GET", "/launch/", "https", "shop", "1.2.3.4", "", START_MS, "0" * 64, "r", {"x-account": said(sub)})
    return keyed_visitor(each, request, f"a=b; account={token or said(sub)}", SECRET, ring)


def test_the_id_says_nothing_of_the_account_and_is_the_same_each_time() -> None:
    found = visitor()
    assert found == visitor() == visitor(visitor_key="header:X-Account")
    assert is_keyed(found)
    assert len(found) == 18
    assert "anna" not in found
    assert len({found, visitor("bob"), visitor(queue_id="other"), visitor("Anna"), visitor("anna ")}) == 5
    assert visitor(ring=Keyring.parse("k9:" + "QUJD" * 12 + " " + KEYS)) == found, "a new signing key moves nobody"
    assert visitor(ring=Keyring.parse("k9:" + "QUJD" * 12)) != found


@pytest.mark.parametrize("token", [
    said(""), said(7), said(None), said(["anna"]), said("x" * 513), said(secret=SECRET + "."), said(exp=START_MS // 1000),
    "a.b.c",    jwt.encode({"sub": "anna"}, SECRET, "HS256"), jwt.encode({"sub": "anna", "exp": 2**40}, None, "none"),
])  # fmt: skip
def test_what_is_no_word_is_no_key(token: str) -> None:
    assert visitor(token=token) == ""


@pytest.mark.parametrize(("key", "values", "words"), [
    ("visitor_key_required", {"visitor_key_required": True}, "without visitor_key"),
    ("one_visit_per_key", {"one_visit_per_key": True}, "without visitor_key"),
    ("sign_in_url", {"visitor_key": "cookie:a", "sign_in_url": "/login"}, "visitor_key_required"),
    ("sign_in_url", {"visitor_key": "cookie:a", "visitor_key_required": True, "sign_in_url": "//evil"}, "path of this site"),
    ("sign_in_url", {"visitor_key": "cookie:a", "visitor_key_required": True, "sign_in_url": "x:y"}, "path of this site"),
    ("visitor_key", {"visitor_key": "account"}, "header:NAME"),
    ("visitor_key", {"visitor_key": "cookie:Stanchion-x"}, "never reach it"),
])  # fmt: skip
def test_what_cannot_mean_anything_is_refused(key: str, values: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_config({"queues": [queue(**values)]})
    assert caught.value.path.endswith(f".{key}")
    assert words in str(caught.value)


# --- one place ----------------------------------------------------------------------------------------------------------


def test_a_second_device_has_the_same_place_and_the_same_visit() -> None:
    here = keyed()
    phone, laptop, other = device(here), device(here, client="192.0.2.1"), device(here, "bob")
    assert [each.join() for each in (phone, other, laptop)] == [1, 2, 1]
    assert phone.token()["v"] == laptop.token()["v"] != other.token()["v"]
    assert here.snapshot().length == 2
    inside(laptop, here)
    assert laptop.token()["p"] == 1
    assert phone.get().forwarded is not None
    here.live(5)
    snapshot = here.snapshot()
    assert (snapshot.inside, snapshot.called) == (1, 0)
    late = device(here, client="192.0.2.9")
    late.get()
    assert late.get().forwarded is not None, "a device without any cookie joins the visit"
    assert here.snapshot().inside == 1


def test_the_place_is_known_long_after_the_map_of_places_has_forgotten() -> None:
    here = keyed()
    phone, others = device(here), [Browser(here, client=f"192.0.2.{n}") for n in range(3)]
    phone.join()
    for hour in range(4):
        here.live(5)
        here.pass_time(3700)
        if hour < len(others):
            others[hour].join()
    here.live(5)
    assert device(here, client="192.0.2.50").join() == 1
    assert here.snapshot().epoch == phone.token()["e"]


def test_signed_out_one_comes_as_anybody_or_not_at_all() -> None:
    here = keyed()
    assert [device(here, "").join(), device(here, "").join()] == [1, 2]
    strict = keyed(visitor_key_required=True, sign_in_url="/account/sign-in")
    stranger = device(strict, "")
    for got in (stranger.get(), stranger.status(), stranger.get()):
        assert got.state == "sign_in"
        assert not got.all("set-cookie")
    asked = stranger.get(headers={"accept": JSON})
    assert (asked.status, asked.json["sign_in"], asked.json["error"]) == (401, "/account/sign-in", "sign in")
    assert asked.header("www-authenticate") == 'Bearer realm="launch"'
    assert stranger.status().status == 200
    assert strict.snapshot().length == 0
    stranger.jar["account"] = (said(), 2**53)
    assert stranger.join() == 1


def test_a_gate_without_the_secret_says_so_in_its_log() -> None:
    here = keyed(visitor_key_required=True)
    assert device(here, "").get().decision.why.startswith("nobody vouches for the visitor")
    here.node.context.secret = {"lane:launch": ""}.get
    got = device(here).get()
    assert (got.status, got.decision.why.partition(";")[0]) == (401, "nobody can be vouched for: there is no secret lane:launch")


def test_nobody_walks_past_the_sign_in_while_there_is_no_queue() -> None:
    here = keyed(manual=False, admit_per_minute=600, burst=100, visitor_key_required=True)
    assert device(here, "").get().status == 401
    assert device(here).get().forwarded is not None


@pytest.mark.parametrize("how", ["completed", "left", "revoked"])
def test_after_a_visit_the_key_gets_a_new_place_at_the_end(how: commands.EndReason) -> None:
    here = keyed()
    phone, other = device(here), device(here, "bob")
    phone.join()
    inside(phone, here)
    other.join()
    end(here, phone, how)
    here.live(10)
    assert phone.join() == 3
    assert device(here, client="192.0.2.4").join() == 3
    assert phone.token()["v"].endswith(".1")
    assert here.snapshot().length == 3


def test_with_one_visit_per_key_it_gets_none_and_is_told_so() -> None:
    here = keyed(one_visit_per_key=True)
    phone = device(here)
    phone.join()
    inside(phone, here)
    end(here, phone, "completed")
    here.live(10)
    tablet = device(here, client="192.0.2.4")
    for browser in (phone, tablet, phone):
        browser.get()
        got = browser.get(headers={"accept": JSON})
        assert (got.status, got.state, got.json["error"]) == (403, "had_visit", "had a visit")
        assert browser.status().state == "had_visit"
    assert here.snapshot().length == 1


def test_a_place_that_was_given_up_is_no_visit() -> None:
    here = keyed(one_visit_per_key=True)
    phone = device(here)
    phone.join()
    assert phone.leave().status == 200
    assert phone.join() == 2


def test_a_visit_that_ran_out_frees_its_slot_before_the_key_gets_another_place() -> None:
    here = keyed(max_active=1)
    phone = device(here)
    phone.join()
    inside(phone, here)
    seen = []
    for _ in range(8):
        here.pass_time(301 if not seen else 1)
        tablet = device(here, client="192.0.2.4")
        tablet.get()
        seen.append(tablet.status().json["position"])
    assert seen[-1] == 2
    assert set(seen) == {None, 2}
    assert here.snapshot().inside == 0


def test_a_missed_turn_leads_to_one_new_place_for_all_devices() -> None:
    here = keyed(late_claim="back", claim_within_s=10, settle_s=10, presence_grace_s=10)
    phone, tablet = device(here), device(here, client="192.0.2.4")
    assert [phone.join(), tablet.join()] == [1, 1]
    here.admit(1)
    here.live(60)
    assert phone.status().state == "lapsed"
    phone.get()
    assert phone.token()["p"] == 2
    tablet.get()
    assert tablet.token()["p"] == 2
    assert device(here, client="192.0.2.5").join() == 2


def test_an_earlier_visitor_of_a_key_never_takes_the_short_way_to_a_place_of_its_own() -> None:
    here = keyed(manual=False, admit_per_minute=1, burst=1, places_per_network_per_minute=1000)
    here.run(commands.join("launch", "key.0", here.hex(), wants_in=True))
    for number in range(200):
        here.run(commands.join("launch", f"v{number}", here.hex()))
    here.live(5)
    here.run(commands.join("launch", "key.0", here.hex()))
    length = here.snapshot().length
    for visitor in ("key.7", "key.3", "key.0"):
        here.pass_time(0.02)
        answer = here.run(commands.join("launch", visitor, here.hex()))
        assert (answer.visitor, here.snapshot().length) == ("key.0", length)


def test_before_the_opening_all_devices_have_one_number() -> None:
    at = "2026-09-21T15:00:00Z"
    here = keyed(manual=False, admit_per_minute=60, embedded=True, prequeue_at="2026-09-21T13:00:00Z", opens_at=at)
    phone, tablet = device(here), device(here, client="192.0.2.4")
    for each in (device(here, "bob"), phone, tablet):
        each.get()
        each.get()
    assert [phone.status().json["arrival"], tablet.status().json["arrival"]] == [2, 2]
    phone.leave()
    assert device(here, client="192.0.2.6").get().status == 503
    tablet.get()
    again = device(here, client="192.0.2.7")
    again.get()
    again.get()
    assert again.status().json["arrival"] == 3


def test_after_a_reset_the_devices_have_one_new_place_whichever_comes_first() -> None:
    here = keyed()
    phone, other, tablet = device(here), device(here, "bob"), device(here, client="192.0.2.4")
    for each in (phone, other, tablet):
        each.join()
    phone.leave()
    phone.join()
    assert phone.token()["v"].endswith(".1")
    here.reset()
    here.live(5)
    other.get()
    tablet.get()
    phone.get()
    assert tablet.token()["p"] == phone.token()["p"] == 2
    assert tablet.token()["v"] == phone.token()["v"]
    assert here.snapshot().length == 2


def test_an_old_copy_of_an_ended_place_is_no_sign_of_lost_state() -> None:
    here = keyed()
    phone, tablet = device(here), device(here, client="192.0.2.4")
    phone.join()
    tablet.join()
    epoch = phone.token()["e"]
    phone.leave()
    phone.join()
    here.live(60)
    tablet.get()
    tablet.get()
    assert (tablet.token()["p"], tablet.token()["e"]) == (2, epoch)
    assert here.snapshot().epoch == epoch


def lose(here: World) -> None:
    here.redis.flushall()
    here.run(commands.configure(here.queue(), here.hex()[:24]))


def test_after_lost_state_the_key_comes_back_once() -> None:
    here = keyed()
    phone, other, tablet, fresh = device(here), device(here, "bob"), device(here, client="192.0.2.4"), device(here)
    for each in (other, phone, tablet):
        each.join()
    lose(here)
    for each in (phone, tablet, other):
        here.pass_time(1)
        each.get()
    here.live(80)
    for each in (tablet, phone, other):
        each.get()
    fresh.join()
    assert [each.token()["p"] for each in (phone, tablet, fresh, other)] == [2, 2, 2, 1]
    assert here.snapshot().length == 2


@pytest.mark.parametrize("is_pass_first", [True, False])
def test_after_lost_state_a_pass_and_a_place_of_one_key_are_one_visit(is_pass_first: bool) -> None:
    here = keyed()
    phone, tablet = device(here), device(here, client="192.0.2.4")
    phone.join()
    tablet.join()
    inside(phone, here)
    lose(here)
    for each in (phone, tablet) if is_pass_first else (tablet, phone):
        here.pass_time(1)
        each.get()
    for _ in range(20):
        here.live(20)
        phone.get()
    here.admit(5)
    here.live(5)
    tablet.get()
    tablet.get()
    snapshot = here.snapshot()
    assert (snapshot.inside, snapshot.called) == (1, 0)
    assert phone.get().forwarded is not None
    assert tablet.get().forwarded is not None


@pytest.mark.parametrize("reason", ["completed", "left", "revoked"])
def test_after_lost_state_a_renewed_pass_is_the_one_visit_of_its_key(reason: commands.EndReason) -> None:
    here = keyed(one_visit_per_key=True)
    phone = device(here)
    phone.join()
    inside(phone, here)
    lose(here)
    for _ in range(20):
        here.live(20)
        assert phone.get().forwarded is not None
    end(here, phone, reason)
    here.live(10)
    tablet = device(here, client="192.0.2.4")
    for browser, later_s in ((tablet, 0), (phone, 400)):
        here.live(later_s)
        browser.get()
        assert browser.get(headers={"accept": JSON}).state == "had_visit"
    assert here.snapshot().length == 0


@pytest.mark.parametrize("was_over_before", [True, False])
def test_a_visit_of_which_no_token_tells_after_a_loss_is_forgotten_as_the_docs_say(was_over_before: bool) -> None:
    here = keyed(one_visit_per_key=True)
    phone = device(here)
    phone.join()
    inside(phone, here)
    if was_over_before:
        end(here, phone, "completed")
    lose(here)
    here.live(700)
    assert phone.join() == 1


def test_a_group_gives_a_key_one_place() -> None:
    queues = [
        {"id": name, "name": name, "routes": [{"path": f"/{name}/*"}]} | {"visitor_key": "cookie:account"}
        for name in ("eu", "jp")
    ]
    here = World(*queues, groups=[{"id": "world", "name": "World", "queues": ["eu", "jp"], "admit_per_minute": 0}])
    here.node.context.secret = {"lane:eu": SECRET, "lane:jp": SECRET}.get
    first, second = device(here), device(here, client="192.0.2.4")
    first.get("/eu/")
    first.get("/eu/")
    second.get("/jp/")
    second.get("/jp/")
    tokens = [each.token("stanchion-world") for each in (first, second)]
    assert tokens[0]["v"] == tokens[1]["v"]
    assert tokens[0]["p"] == tokens[1]["p"]
    assert sum(line.length for line in here.snapshot("world").lines) == 1


# --- any interleaving ---------------------------------------------------------------------------------------------------

STEPS = st.lists(st.tuples(st.sampled_from(["get", "get", "status", "forget", "admit", "time", "end", "leave", "long", "reset"]),
                           st.integers(0, 2)), min_size=5, max_size=30)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_whatever_three_devices_do_the_key_holds_one_place_and_one_slot(steps: list[tuple[str, int]]) -> None:
    here = keyed()
    second = here.new_node()
    second.context.secret = {"lane:launch": SECRET}.get
    devices = [device(here, client=f"192.0.2.{n}", node=second if n == 1 else here.node) for n in range(3)]
    epoch = here.snapshot().epoch
    for step, who in steps:
        browser = devices[who]
        if step == "get":
            browser.get()
        elif step == "status":
            browser.status()
        elif step == "forget":
            browser.jar = {"account": (said(), 2**53)}
        elif step == "admit":
            here.admit(1)
        elif step == "end" and browser.value("stanchion-launch"):
            end(here, browser, "completed")
        elif step == "leave":
            browser.leave()
        elif step == "reset":
            here.reset()
            epoch = here.snapshot().epoch
        else:
            here.pass_time(400 if step == "long" else 2)
        snapshot = here.snapshot()
        assert snapshot.epoch == epoch
        assert snapshot.inside + snapshot.called <= 1
        assert live_places(here) <= 1


def live_places(here: World) -> int:
    """Positions that still mean something: neither over nor used, or used and inside."""
    keys = dict(zip(calls._PARTS, calls.keys("launch"), strict=True))
    client = here.redis
    live = 0
    for position in range(1, here.snapshot().length + 1):
        missed = client.execute_command("BITFIELD", keys["left"], "GET", "u4", f"#{position * 2}")[0]
        is_used = client.execute_command("GETBIT", keys["used"], position * 2)
        is_inside = client.execute_command("ZSCORE", keys["active"], position) is not None
        live += is_inside if is_used else missed < 3
    return live
