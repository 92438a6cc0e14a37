"""The site's word about a visitor: the secret reaches the gate on every host, and what is signed with another is no word."""

from __future__ import annotations

import time

import httpx
import jwt
import pytest

from tests.conformance.world import World
from tests.e2e.stack import status

STRANGER = "a-secret-of-somebody-else-of-32-bytes"


def word(world: World, queue: str, secret: str = "", **claims: str) -> str:
    return jwt.encode({"exp": int(time.time()) + 600, **claims}, secret or world.site.words[queue], "HS256")


@pytest.mark.parametrize(("secret", "lane"), [("", "members"), (STRANGER, "standard")])
def test_the_word_in_a_header_leads_to_its_lane(world: World, secret: str, lane: str) -> None:
    visitor = world.visitor(**{"X-Member": word(world, "vouch", secret, lane="members")})
    assert visitor.get("/vouch/").status_code == 503
    assert status(visitor, "vouch")["lane"] == lane


def test_one_place_for_each_account_and_none_without(world: World) -> None:
    def device(secret: str, account: str) -> httpx.Client:
        visitor = world.visitor(Accept="application/json")
        visitor.cookies.set("member", word(world, "account", secret, sub=account))
        return visitor

    phone, laptop, other = (device("", account) for account in ("mai", "mai", "jo"))
    positions = []
    for visitor in (phone, laptop, other):
        visitor.get("/account/")
        positions.append(status(visitor, "account")["position"])
    assert positions[0] == positions[1] != positions[2]
    for nobody in (world.visitor(Accept="application/json"), device(STRANGER, "mai")):
        answer = nobody.get("/account/")
        assert (answer.status_code, answer.json()["state"]) == (401, "sign_in")
