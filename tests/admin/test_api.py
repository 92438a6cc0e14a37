"""The REST API: what it answers and what it does to the queue."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core import calls
from tests.admin.conftest import Admin
from tests.admin.world import queue_json

QUEUE_KEYS = [
    "id", "status", "epoch", "length", "cursor", "waiting", "called", "inside",
    "admitted_last_minute", "limits", "config_version", "mode", "opens_at", "closes_at", "opened_at", "message", "beacon",
    "awaits", "paused_alone", "group", "concerned", "lanes", "counts", "inventory_left", "outflow_per_minute", "present_share",
]  # fmt: skip
STEPS = ("open", "resume", "pause", "drain", "close", "maintenance", "pause_alone", "open_alone", "reset", "message",
         "beacon", "start", "admit", "limits", "visits", "invitations", "figures", "history", "change",
         "undo", "revoke", "schedule", "schedule/{step_id}", "rehearsals", "rehearsals/{rehearsal_id}")  # fmt: skip
LIMIT_KEYS = ["admit_per_minute", "burst", "max_active", "inventory", "manual", "always_queue", "live"]


def manual(admin: Admin, waiting: int, **values: Any) -> None:
    """A manual queue with people in line."""
    admin.publish(queue_json("sale", manual=True, **values))
    admin.start()
    admin.visitors.join(admin.queues["sale"], waiting)


def test_queue_has_exactly_its_keys(admin: Admin) -> None:
    admin.start()
    admin.visitors.join(admin.queues["sale"], 3)
    answer = admin.api("GET", "/queues/sale")
    assert answer.status_code == 200
    body = answer.json()
    assert list(body) == QUEUE_KEYS
    assert list(body["limits"]) == LIMIT_KEYS
    assert (body["id"], body["status"], body["length"], body["config_version"]) == ("sale", "open", 3, 1)
    assert body["called"] + body["waiting"] == 3
    assert body["limits"]["admit_per_minute"] == 60
    assert body["limits"]["inventory"] is None
    assert body["limits"]["live"] == []


def test_missing_queue_shows_what_is_configured(admin: Admin) -> None:
    body = admin.api("GET", "/queues/sale").json()
    assert list(body) == QUEUE_KEYS
    assert (body["status"], body["epoch"], body["config_version"], body["waiting"]) == ("missing", None, None, 0)
    assert body["limits"]["max_active"] == 100


def test_list_goes_on_after_a_queue(admin: Admin) -> None:
    admin.publish(*(queue_json(f"q{number:02d}") for number in range(60)))
    first = admin.api("GET", "/queues?limit=50").json()
    assert [queue["id"] for queue in first["queues"]] == [f"q{number:02d}" for number in range(50)]
    rest = admin.api("GET", f"/queues?limit=50&after={first['next']}").json()
    assert [queue["id"] for queue in rest["queues"]] == [f"q{number:02d}" for number in range(50, 60)]
    assert rest["next"] is None
    assert admin.api("GET", "/queues?after=nope").status_code == 422
    assert admin.api("GET", "/queues?limit=0").status_code == 422


def test_list_without_a_configuration_says_so(admin: Admin) -> None:
    (admin.settings.kv_dir / "config.json").unlink()
    admin.app.state.desk.source.__init__(admin.kv, admin.clock.monotonic_s)
    answer = admin.api("GET", "/queues")
    assert answer.status_code == 503
    assert "config.json" in answer.json()["detail"]


def test_pause_resume_reset(admin: Admin) -> None:
    admin.start()
    admin.visitors.join(admin.queues["sale"], 40)
    epoch = admin.api("GET", "/queues/sale").json()["epoch"]
    assert admin.api("POST", "/queues/sale/pause").json()["status"] == "paused"
    assert admin.visitors.state(admin.queues["sale"])["status"] == "paused"
    assert admin.api("POST", "/queues/sale/resume", json={}).json()["status"] == "open"
    after = admin.api("POST", "/queues/sale/reset").json()
    assert after["epoch"] != epoch
    assert (after["length"], after["waiting"], after["called"], after["status"]) == (0, 0, 0, "open")


def test_reset_with_one_key_resets_once(admin: Admin) -> None:
    admin.start()
    key = {"Idempotency-Key": "reset-1"}
    first = admin.api("POST", "/queues/sale/reset", headers=key).json()
    admin.visitors.join(admin.queues["sale"], 5)
    again = admin.api("POST", "/queues/sale/reset", headers=key).json()
    assert (again["epoch"], again["length"]) == (first["epoch"], 5)
    assert admin.api("POST", "/queues/sale/reset").json()["epoch"] != first["epoch"]


def test_start_opens_a_new_queue_and_leaves_a_running_one(admin: Admin) -> None:
    made = admin.api("POST", "/queues/sale/start")
    assert (made.status_code, made.json()["status"]) == (200, "open")
    admin.visitors.join(admin.queues["sale"], 7)
    again = admin.api("POST", "/queues/sale/start").json()
    assert (again["epoch"], again["length"]) == (made.json()["epoch"], 7)


@pytest.mark.parametrize("step", ["pause", "resume", "reset"])
def test_steps_on_a_missing_queue_say_what_to_do(admin: Admin, step: str) -> None:
    answer = admin.api("POST", f"/queues/sale/{step}")
    assert answer.status_code == 409
    assert "start it" in answer.json()["detail"]
    assert admin.visitors.state(admin.queues["sale"]) == {}


def test_admit_goes_on_over_steps(admin: Admin) -> None:
    manual(admin, 1230)
    done = admin.api("POST", "/queues/sale/admit", json={"count": 1200}).json()
    assert (done["asked"], done["called"], done["note"]) == (1200, 1200, "")
    assert (done["queue"]["called"], done["queue"]["waiting"]) == (1200, 30)
    rest = admin.api("POST", "/queues/sale/admit", json={"count": 100_000}).json()
    assert (rest["called"], rest["note"]) == (30, "nobody else waits")
    assert admin.api("POST", "/queues/sale/admit", json={"count": 1}).json()["called"] == 0


def test_admit_obeys_the_cap_and_the_inventory(admin: Admin) -> None:
    manual(admin, 50, max_active=20)
    done = admin.api("POST", "/queues/sale/admit", json={"count": 30}).json()
    assert (done["called"], done["note"]) == (20, "no more slots are free")
    admin.api("PATCH", "/queues/sale/limits", json={"max_active": None, "inventory": 25})
    done = admin.api("POST", "/queues/sale/admit", json={"count": 30}).json()
    assert (done["called"], done["note"]) == (5, "no more units are left")


def test_admit_with_one_key_calls_nobody_twice(admin: Admin) -> None:
    manual(admin, 1500)
    key = {"Idempotency-Key": "3f1c"}
    first = admin.api("POST", "/queues/sale/admit", json={"count": 700}, headers=key).json()
    again = admin.api("POST", "/queues/sale/admit", json={"count": 700}, headers=key).json()
    assert first["called"] == again["called"] == 700
    assert again["queue"]["called"] == 700
    other = admin.api("POST", "/queues/sale/admit", json={"count": 700}, headers={"Idempotency-Key": "3f1d"}).json()
    assert other["queue"]["called"] == 1400


def test_admit_that_broke_off_goes_on_where_it_was(admin: Admin) -> None:
    manual(admin, 1500)
    key = {"Idempotency-Key": "k"}
    operations = admin.app.state.desk.operations
    run, sent = operations._store.run, []

    async def breaks_off(call: calls.Call) -> calls.Answer:
        sent.append(call)
        if len(sent) == 3:
            from admin.store import StoreUnavailable

            raise StoreUnavailable("gone")
        answer: calls.Answer = await run(call)
        return answer

    operations._store.run = breaks_off
    assert admin.api("POST", "/queues/sale/admit", json={"count": 1400}, headers=key).status_code == 503
    operations._store.run = run
    done = admin.api("POST", "/queues/sale/admit", json={"count": 1400}, headers=key).json()
    assert (done["called"], done["queue"]["called"]) == (1400, 1400)


def test_admit_that_takes_too_long_says_how_far_it_came(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    manual(admin, 1200)
    monkeypatch.setattr("admin.operations.ADMIT_BUDGET_S", -1.0)
    done = admin.api("POST", "/queues/sale/admit", json={"count": 1100}).json()
    assert done["called"] == 500
    assert "ask again for the rest" in done["note"]


def test_admit_while_paused_is_refused(admin: Admin) -> None:
    manual(admin, 5)
    admin.api("POST", "/queues/sale/pause")
    answer = admin.api("POST", "/queues/sale/admit", json={"count": 5})
    assert answer.status_code == 409
    assert "paused" in answer.json()["detail"]
    assert admin.api("GET", "/queues/sale").json()["called"] == 0


def test_limits_are_set_cleared_and_taken_back(admin: Admin) -> None:
    admin.start()
    set_now = admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 90, "burst": 12, "max_active": None})
    assert set_now.status_code == 200
    limits = set_now.json()["limits"]
    assert (limits["admit_per_minute"], limits["burst"], limits["max_active"]) == (90, 12, None)
    assert limits["live"] == ["admit_per_minute", "burst", "max_active"]
    back = admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": "config", "burst": "config"}).json()["limits"]
    assert (back["admit_per_minute"], back["burst"], back["live"]) == (60, None, ["max_active"])


def test_config_means_what_is_published_now(admin: Admin) -> None:
    admin.start()
    admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 90})
    admin.publish(queue_json("sale", config_version=2, admit_per_minute=75, max_active=100))
    after = admin.api("PATCH", "/queues/sale/limits", json={"max_active": "config", "admit_per_minute": "config"}).json()
    assert (after["config_version"], after["limits"]["admit_per_minute"]) == (2, 75)


def test_limits_with_one_key_are_set_once(admin: Admin) -> None:
    admin.start()
    key = {"Idempotency-Key": "k"}
    admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 90}, headers=key)
    admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 120})
    late = admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": 90}, headers=key).json()
    assert late["limits"]["admit_per_minute"] == 120


@pytest.mark.parametrize(
    ("changes", "at"),
    [
        ({"admit_per_minute": None, "burst": 5}, "burst"),
        ({"admit_per_minute": None, "max_active": None}, "admit_per_minute"),
    ],
)
def test_combinations_that_mean_nothing_are_refused(admin: Admin, changes: dict[str, Any], at: str) -> None:
    admin.start()
    before = admin.visitors.state(admin.queues["sale"])["rate"]
    answer = admin.api("PATCH", "/queues/sale/limits", json=changes)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["at"] == at
    assert admin.visitors.state(admin.queues["sale"])["rate"] == before


def test_a_burst_that_stays_needs_its_rate(admin: Admin) -> None:
    admin.publish(queue_json("sale", admit_per_minute=60, burst=8, max_active=5))
    admin.start()
    answer = admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": None})
    assert answer.status_code == 422
    assert "burst of 8" in answer.json()["detail"]
    assert admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": None, "burst": None}).status_code == 200


def test_the_last_limit_may_go_where_the_configuration_allows_none(admin: Admin) -> None:
    for rule in ({"manual": True}, {"always_queue": True}):
        admin.visitors.client.flushall()
        admin.publish(queue_json("sale", **{"admit_per_minute": 10, **rule}))
        admin.start()
        assert admin.api("PATCH", "/queues/sale/limits", json={"admit_per_minute": None}).status_code == 200


def test_no_inventory_where_people_are_admitted_without_redis(admin: Admin) -> None:
    admin.publish(queue_json("sale", on_store_error="admit", store_error_admit_per_minute=5))
    admin.start()
    answer = admin.api("PATCH", "/queues/sale/limits", json={"inventory": 10})
    assert answer.status_code == 422
    assert "on_store_error" in answer.json()["detail"]


def test_openapi_describes_every_route(admin: Admin) -> None:
    with admin.anyone() as client:
        document = client.get("/openapi.json").json()
    paths = document["paths"]
    assert sorted(path for path in paths if path.startswith("/api/v1/queues")) == sorted(
        f"/api/v1/queues{rest}"
        for rest in ("", "/{queue_id}", *(f"/{{queue_id}}/{step}" for step in STEPS))
    )
    without_key = ("start", "visits", "invitations", "undo", "revoke", "{step_id}", "rehearsals", "{rehearsal_id}")
    for path, methods in paths.items():
        for method, operation in methods.items():
            key = (
                [parameter for parameter in operation.get("parameters", ()) if parameter["name"] == "Idempotency-Key"]
                if method != "get"
                else []
            )
            if path.startswith("/api/v1/queues"):
                assert bool(key) == (method != "get" and path.rpartition("/")[2] not in without_key)
            assert "application/problem+json" in operation["responses"]["401"]["content"]
            assert operation["security"] == [{"token": []}]
            assert "HTTPValidationError" not in str(operation)
    assert list(document["components"]["schemas"]["QueueShape"]["properties"]) == QUEUE_KEYS
    assert list(document["components"]["schemas"]["LimitsShape"]["properties"]) == LIMIT_KEYS
    body = paths["/api/v1/queues/{queue_id}/limits"]["patch"]["requestBody"]["content"]["application/json"]["schema"]
    assert list(body["properties"]) == LIMIT_KEYS[:4]
