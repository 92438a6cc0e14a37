"""`Idempotency-Key`: a repeat changes nothing, and the same key with another body is refused, on every route that takes it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from edge.core import calls
from edge.core.moments import moment_text
from tests.admin.conftest import Admin
from tests.admin.world import queue_json

KEY = {"Idempotency-Key": "one-and-the-same"}
AT_MS = (int(time.time()) + 86_400) * 1000
# Step -> method, a body, another one.
WITH_BODY: dict[str, tuple[str, Any, Any]] = {
    "admit": ("POST", {"count": 3}, {"count": 5}),
    "limits": ("PATCH", {"admit_per_minute": 7}, {"admit_per_minute": 8}),
    "message": ("POST", {"text": "soon"}, {"text": ""}),
    "beacon": ("POST", {"value": "b1"}, {"value": "b2"}),
    "schedule": ("POST", {"at": moment_text(AT_MS), "action": "pause"}, {"at": moment_text(AT_MS), "action": "close"}),
}


def running(admin: Admin, step: str) -> None:
    """A manual queue with people in line, its opening due where a beacon is told."""
    opening = {"prequeue_at": moment_text(AT_MS - 1000), "opens_at": moment_text(AT_MS), "draw_beacon": "round 7"}
    admin.publish(queue_json("sale", manual=True, **(opening if step == "beacon" else {})))
    admin.start()
    if step == "beacon":
        now_ms = int(admin.visitors.state(admin.queues["sale"])["clock"])
        due = {"prequeue_at": str(now_ms - 5000), "opens_at": str(now_ms - 1000), "length": "1"}
        admin.visitors.client.hset(calls.keys("sale")[0], mapping=due)
    else:
        admin.visitors.join(admin.queues["sale"], 20)


def what_counts(admin: Admin) -> tuple[Any, ...]:
    queue = admin.api("GET", "/queues/sale").json()
    steps = admin.api("GET", "/queues/sale/schedule").json()["to_come"]
    return queue["called"], queue["limits"], queue["message"], queue["beacon"], steps


@pytest.mark.parametrize("step", WITH_BODY)
def test_the_same_key_with_another_body_does_nothing_and_says_why(admin: Admin, step: str) -> None:
    running(admin, step)
    method, body, other = WITH_BODY[step]
    first = admin.api(method, f"/queues/sale/{step}", json=body, headers=KEY)
    assert first.status_code in (200, 201), first.text
    before = what_counts(admin)
    refused = admin.api(method, f"/queues/sale/{step}", json=other, headers=KEY)
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    problem = refused.json()
    assert problem["code"] == "idempotency_key_reused"
    assert "Idempotency-Key came before with another body" in problem["detail"]
    assert what_counts(admin) == before
    again = admin.api(method, f"/queues/sale/{step}", json=body, headers=KEY)
    assert again.status_code == first.status_code, again.text
    assert what_counts(admin) == before


@pytest.mark.parametrize("other", [{"count": 3, "over_rate": True}, {"count": 3, "lane": "standard"}])
def test_every_part_of_the_body_counts(admin: Admin, other: dict[str, Any]) -> None:
    admin.publish(queue_json("sale", manual=True, lanes=[{"name": "standard"}, {"name": "members", "invite": True}]))
    admin.start()
    admin.visitors.join(admin.queues["sale"], 20)
    assert admin.api("POST", "/queues/sale/admit", json={"count": 3}, headers=KEY).json()["called"] == 3
    assert admin.api("POST", "/queues/sale/admit", json=other, headers=KEY).status_code == 422
    same = {"lane": None, "over_rate": False, "count": 3}
    assert admin.api("POST", "/queues/sale/admit", json=same, headers=KEY).json()["queue"]["called"] == 3


def test_a_batch_of_many_steps_is_not_topped_up(admin: Admin) -> None:
    admin.publish(queue_json("sale", manual=True))
    admin.start()
    admin.visitors.join(admin.queues["sale"], 1300)
    assert admin.api("POST", "/queues/sale/admit", json={"count": 600}, headers=KEY).json()["called"] == 600
    assert admin.api("POST", "/queues/sale/admit", json={"count": 1200}, headers=KEY).status_code == 422
    again = admin.api("POST", "/queues/sale/admit", json={"count": 600}, headers=KEY).json()
    assert (again["called"], again["queue"]["called"]) == (600, 600)


def test_one_key_may_serve_several_steps_and_a_refused_one_leaves_it_free(admin: Admin) -> None:
    admin.start()
    admin.visitors.join(admin.queues["sale"], 3)
    assert admin.api("POST", "/queues/sale/pause", headers=KEY).json()["status"] == "paused"
    assert admin.api("POST", "/queues/sale/admit", json={"count": 1}, headers=KEY).status_code == 409
    assert admin.api("POST", "/queues/sale/open", headers=KEY).json()["status"] == "open"
    assert admin.api("POST", "/queues/sale/admit", json={"count": 2}, headers=KEY).status_code == 200


def test_a_step_of_the_schedule_is_repeated_after_its_time(admin: Admin) -> None:
    admin.start()
    step = {"at": moment_text(int(admin.clock.unix_s() + 30) * 1000), "changes": {"admit_per_minute": 9}}
    told = admin.api("POST", "/queues/sale/schedule", json=step, headers=KEY)
    admin.clock.ahead_s += 60
    again = admin.api("POST", "/queues/sale/schedule", json=step, headers=KEY)
    assert (again.status_code, again.json()["id"]) == (201, told.json()["id"])
    assert admin.api("POST", "/queues/sale/schedule", json=step | {"changes": {"burst": 2}}, headers=KEY).status_code == 422
    assert "in the past" in admin.api("POST", "/queues/sale/schedule", json=step).json()["detail"]


def test_every_route_that_takes_a_key_and_a_body_is_tried_here(admin: Admin) -> None:
    with admin.anyone() as client:
        paths = client.get("/openapi.json").json()["paths"]
    found = {
        path.rpartition("/")[2]
        for path, methods in paths.items()
        for operation in methods.values()
        if "requestBody" in operation
        and any(each["name"] == "Idempotency-Key" and "422" in each["description"] for each in operation.get("parameters", ()))
    }
    assert found == set(WITH_BODY)
