"""What a site says reaches the gate: its word for a lane in a header, and what its server says of a visit."""

from __future__ import annotations

import time

import httpx

from tests.e2e.conftest import QUEUES
from tests.e2e.stack import ADMIN_TOKEN, PATIENCE_S, Stack, enter, status

IN_FORCE_S = 1.0


def lane_of(stack: Stack, header: str) -> str | None:
    """The lane that a newcomer with the site's word in this header enters."""
    visitor = stack.visitor(**{header: stack.word("members")})
    visitor.get("/vouch/")
    seen = status(visitor, "vouch")
    assert seen["position"]
    lane: str | None = seen["lane"]
    return lane


def test_a_header_that_a_rule_names_leads_to_its_lane_also_after_the_rule_has_changed(stack: Stack) -> None:
    assert lane_of(stack, "X-Member") == "members"
    assert lane_of(stack, "My-Word") == "standard"
    lanes = [{"name": "standard"}, {"name": "members", "rule": "header:My-Word"}]
    applied = stack.configure([{**each, "lanes": lanes} if each["id"] == "vouch" else each for each in QUEUES])
    assert applied.returncode == 0, applied.stderr
    time.sleep(IN_FORCE_S)
    assert lane_of(stack, "My-Word") == "members"
    assert lane_of(stack, "X-Member") == "standard"
    assert stack.configure(QUEUES).returncode == 0


def test_the_pass_that_the_site_got_ends_the_visit(stack: Stack) -> None:
    visitor = stack.visitor()
    visitor.get("/hand/")
    assert status(visitor, "hand")["position"]
    stack.api("POST", "/queues/hand/admit", {"count": 100})
    time.sleep(IN_FORCE_S)
    received = enter(visitor, "/hand/").json()["headers"]
    proof = next(value for name, value in received if name.lower() == "stanchion-pass")
    said = httpx.post(f"{stack.admin}/api/v1/queues/hand/visits", json={"action": "complete"}, timeout=PATIENCE_S,
                      headers={"Authorization": f"Bearer {ADMIN_TOKEN}", "Stanchion-Pass": proof})  # fmt: skip
    assert (said.status_code, said.json()["outcome"]) == (200, "freed")
    time.sleep(IN_FORCE_S)
    assert visitor.get("/hand/").status_code == 503
