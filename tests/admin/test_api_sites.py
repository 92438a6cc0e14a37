"""What sites say from their own servers: of a visit by its pass, and invitations."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import httpx
import pytest

from admin.settings import SettingsError, load
from edge.core import commands
from edge.core.invites import query_of, read_invite
from edge.core.keyring import Keyring
from edge.core.tokens import Pass, write_origin_pass, write_pass
from tests.admin.conftest import Admin, Serve
from tests.admin.world import Bridge, queue_json
from tests.host.edge.support import SIGNING_KEYS

RING = Keyring.parse(SIGNING_KEYS)
LANES = [{"name": "standard"}, {"name": "members", "invite": True}]


class Shop:
    """A site with visitors inside."""

    def __init__(self, admin: Admin) -> None:
        self.admin = admin

    def open(self, **values: Any) -> None:
        self.admin.publish(queue_json("sale", **values), queue_json("other"))
        self.admin.start()

    def visit(self, line: int = 0) -> Pass:
        """Somebody comes in."""
        name = f"visitor-{line}-{time.monotonic_ns()}"
        answer = self.admin.visitors.run(commands.join("sale", name, "0" * 32, line=line, direct=False, wants_in=True))
        assert answer.verdict == "inside"
        assert answer.snapshot
        return Pass("sale", answer.snapshot.epoch, name, answer.number(0), 0, 0, line=answer.line)

    def say(self, held: Pass, queue_id: str = "sale", age_s: float = 0, **body: Any) -> httpx.Response:
        text = write_origin_pass(RING, queue_id, held, int((time.time() - age_s) * 1000))
        return self.send(text, **body)

    def send(self, text: str, **body: Any) -> httpx.Response:
        return self.admin.api("POST", "/queues/sale/visits", json=body, headers={"Stanchion-Pass": text})

    def counts(self) -> dict[str, int]:
        found: dict[str, int] = self.admin.api("GET", "/queues/sale").json()["counts"]
        return found


@pytest.fixture
def shop(serve: Serve, bridge: Bridge) -> Shop:
    return Shop(serve(bridge.url, signing_keys=RING))


def refused(answer: httpx.Response, status: int) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    code: str = answer.json()["code"]
    assert len(answer.json()["detail"]) > 15
    return code


def outcome(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    found: str = answer.json()["outcome"]
    return found


def test_complete_sells_units_once(shop: Shop) -> None:
    shop.open(inventory=10, admit_per_minute=None, lanes=LANES)
    held = shop.visit(line=1)
    assert held.line == 1
    assert outcome(shop.say(held, action="complete", units=3)) == "freed"
    assert outcome(shop.say(held, action="complete", units=3)) == "already"
    queue = shop.admin.api("GET", "/queues/sale").json()
    assert (queue["counts"]["sold"], queue["counts"]["completed"], queue["inside"], queue["inventory_left"]) == (3, 1, 0, 7)


def test_more_than_is_free_is_a_conflict_and_changes_nothing(shop: Shop) -> None:
    shop.open(inventory=5)
    held, _ = shop.visit(), shop.visit()
    answer = shop.say(held, action="complete", units=9)
    assert refused(answer, 409) == "reclaimed"
    assert answer.json()["free_units"] == 4
    assert [shop.counts()[name] for name in ("sold", "overrun")] == [0, 0]
    assert outcome(shop.say(held, action="complete", units=4)) == "freed"


def test_a_sale_after_the_visit_ran_out_counts_late(shop: Shop) -> None:
    shop.open(inventory=5, idle_s=30, renew_every_s=10)
    held = shop.visit()
    now_ms = int(time.time() * 1000)
    shop.admin.visitors.run(commands.take_snapshot("sale", "0" * 32, now_ms=now_ms + 40_000))
    assert outcome(shop.say(held, action="complete")) == "late"
    assert outcome(shop.say(held, action="complete")) == "already"
    assert shop.counts()["sold"] == 1


def test_revoke(shop: Shop) -> None:
    shop.open()
    held = shop.visit()
    assert [outcome(shop.say(held, action="revoke")) for _ in range(2)] == ["freed", "already"]
    assert shop.counts()["revoked"] == 1


def test_checkout_and_its_one_extension(shop: Shop) -> None:
    shop.open(checkout_s=600)
    held = shop.visit()
    assert refused(shop.say(held, action="extend"), 409) == "not_started"
    begun = shop.say(held, action="checkout")
    assert outcome(begun) == "checkout"
    assert begun.json()["ends_at"].startswith("20")
    assert outcome(shop.say(held, action="extend")) == "checkout"
    assert refused(shop.say(held, action="extend"), 409) == "extended"
    assert outcome(shop.say(held, action="complete")) == "freed"
    assert refused(shop.say(held, action="checkout"), 410) == "ended"


def test_a_queue_without_a_checkout_refuses_one(shop: Shop) -> None:
    shop.open()
    assert refused(shop.say(shop.visit(), action="checkout"), 409) == "no_checkout"


def test_after_a_reset_the_visit_is_gone(shop: Shop) -> None:
    shop.open()
    held = shop.visit()
    shop.admin.api("POST", "/queues/sale/reset")
    assert refused(shop.say(held, action="complete"), 410) == "ended"


def test_passes_that_prove_nothing(shop: Shop) -> None:
    shop.open()
    held = shop.visit()
    assert refused(shop.say(held, queue_id="other", action="revoke"), 400) == "bad_pass"
    assert refused(shop.say(held, age_s=70, action="revoke"), 400) == "expired_pass"
    assert refused(shop.say(replace(held, epoch=""), action="revoke"), 409) == "no_visit"
    stranger = Keyring.parse("k1:" + "A" * 43)
    for text in (
        "", "junk", "a.b.c", "x" * 600, write_pass(RING, held),
        write_origin_pass(stranger, "sale", held, int(time.time() * 1000)),
    ):  # fmt: skip
        assert refused(shop.send(text, action="revoke"), 400) in ("bad_pass", "no_pass")
    assert shop.counts()["revoked"] == 0


@pytest.mark.parametrize(
    "body",
    [{}, {"action": "buy"}, {"action": "revoke", "units": 1}, {"action": "complete", "units": 0}, {"action": ["complete"]},
     {"action": "complete", "units": 10_001}, {"action": "complete", "seat": 1}],
)  # fmt: skip
def test_bodies_that_say_something_else(shop: Shop, body: dict[str, Any]) -> None:
    shop.open()
    held = shop.visit()
    assert shop.say(held, **body).status_code == 422
    assert shop.counts()["revoked"] + shop.counts()["completed"] == 0


def test_a_queue_without_a_state_says_what_to_do(shop: Shop) -> None:
    shop.open()
    held = shop.visit()
    shop.admin.visitors.client.flushall()
    answer = shop.say(held, action="revoke")
    assert answer.status_code == 409
    assert "no state" in answer.json()["detail"]


def test_without_keys_the_missing_setting_is_named(admin: Admin) -> None:
    admin.publish(queue_json("sale", lanes=LANES))
    admin.start()
    site = Shop(admin)
    for answer in (
        site.say(site.visit(), action="complete"),
        admin.api("POST", "/queues/sale/invitations", json={"lane": "members", "count": 1, "valid_for_s": 60}),
    ):
        assert refused(answer, 501) == "not_configured"
        assert "STANCHION_SIGNING_KEYS" in answer.json()["detail"]


def test_keys_that_cannot_be_are_an_error_at_the_start() -> None:
    environ = {"UPSTASH_REDIS_REST_TOKEN": "token"}
    with pytest.raises(SettingsError, match="STANCHION_SIGNING_KEYS"):
        load({**environ, "STANCHION_SIGNING_KEYS": "k1:short"})
    assert load(environ).signing_keys is None
    assert load({**environ, "STANCHION_SIGNING_KEYS": SIGNING_KEYS}).signing_keys is not None


def test_invitations_lead_into_their_lane(shop: Shop) -> None:
    shop.open(lanes=LANES)
    body = {"lane": "members", "count": 3, "valid_for_s": 3600, "base_url": "https://shop.example.org", "to": "/sale/x"}
    answer = shop.admin.api("POST", "/queues/sale/invitations", json=body)
    assert answer.status_code == 200
    links = answer.json()["links"]
    assert len(set(links)) == 3
    for link in links:
        assert link.startswith("https://shop.example.org/.stanchion/sale/invite?")
        query = query_of(link)
        assert query["to"] == "/sale/x"
        invite = read_invite(RING, query["t"], "sale")
        assert (invite.lane, 3590 < invite.expires_ms / 1000 - time.time() <= 3610) == ("members", True)


@pytest.mark.parametrize(
    "wrong",
    [{"lane": "standard"}, {"lane": "gold"}, {"lane": 1}, {"count": 0}, {"count": 10_001}, {"valid_for_s": 0}, {"for": "me"},
     {"valid_for_s": "7d"}, {"base_url": "shop"}, {"base_url": "https://a/b"}, {"to": "//evil"}, {"to": "x"}],
)  # fmt: skip
def test_invitations_that_cannot_be(shop: Shop, wrong: dict[str, Any]) -> None:
    shop.open(lanes=LANES)
    body = {"lane": "members", "count": 1, "valid_for_s": 60, **wrong}
    answer = shop.admin.api("POST", "/queues/sale/invitations", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["at"].strip("'") == next(iter(wrong))
