"""An operator's steps by the API: what each does, what is refused and why, and whom it concerns in a group."""

from __future__ import annotations

import time

import pytest

from edge.core import calls, commands
from edge.core.keyring import Keyring
from edge.core.moments import moment_text
from edge.core.opening import opening
from tests.admin.conftest import Admin
from tests.admin.world import queue_json
from tests.host.edge.support import wait_until

FAR_MS = 4_000_000_000_000  # the year 2096
LANES = [{"name": "standard", "share": 3}, {"name": "members", "share": 1, "invite": True}]


def detail(admin: Admin, step: str, body: object, status: int) -> str:
    answer = admin.api("POST", f"/queues/sale/{step}", json=body)
    assert answer.status_code == status, answer.text
    found: str = answer.json()["detail"]
    return found


@pytest.mark.parametrize(
    ("step", "status"), [("pause", "paused"), ("drain", "draining"), ("close", "closed"), ("maintenance", "maintenance")]
)
def test_modes_and_back(admin: Admin, step: str, status: str) -> None:
    admin.start()
    told = admin.api("POST", f"/queues/sale/{step}").json()
    assert (told["status"], told["mode"]) == (status, status)
    assert admin.api("POST", "/queues/sale/open").json()["status"] == "open"


def test_open_opens_before_its_time(admin: Admin) -> None:
    admin.publish(queue_json("sale", opens_at=moment_text(FAR_MS)))
    admin.start()
    before = admin.api("GET", "/queues/sale").json()
    assert (before["status"], before["opens_at"], before["opened_at"]) == ("not_open", moment_text(FAR_MS), None)
    after = admin.api("POST", "/queues/sale/open").json()
    assert (after["status"], after["opened_at"] is None) == ("open", False)


def test_one_key_is_one_step(admin: Admin) -> None:
    admin.start()
    key = {"Idempotency-Key": "k"}
    admin.api("POST", "/queues/sale/close", headers=key)
    admin.api("POST", "/queues/sale/open")
    assert admin.api("POST", "/queues/sale/close", headers=key).json()["status"] == "open"


def test_a_message_comes_and_goes(admin: Admin) -> None:
    admin.start()
    told = admin.api("POST", "/queues/sale/message", json={"text": " Doors open at 8 – «soon» "}).json()
    assert told["message"] == admin.api("GET", "/queues/sale").json()["message"] == "Doors open at 8 – «soon»"
    assert admin.api("POST", "/queues/sale/message", json={"text": ""}).json()["message"] == ""


@pytest.mark.parametrize(
    ("step", "body"),
    [("message", {}), ("message", {"text": None}), ("message", {"text": "a\nb"}), ("message", {"text": "x" * 501}),
     ("message", {"text": "a", "to": "all"}), ("message", []), ("beacon", {"value": ""}), ("beacon", {"value": 7}),
     ("admit", {"count": 1, "over_rate": "yes"}), ("admit", {"count": 1, "lane": 3}), ("admit", {"count": 1, "lane": "gold"})],
)  # fmt: skip
def test_bodies_that_say_something_else(admin: Admin, step: str, body: object) -> None:
    admin.start()
    before = admin.visitors.state(admin.queues["sale"])
    assert len(detail(admin, step, body, 422)) > 20
    after = admin.visitors.state(admin.queues["sale"])
    assert (after.get("message"), after["cursor"], after["beacon"]) == (before.get("message"), before["cursor"], before["beacon"])


def test_a_beacon_counts_from_opens_at_until_the_draw(admin: Admin) -> None:
    admin.start()
    assert "no opens_at" in detail(admin, "beacon", {"value": "b1"}, 409)
    admin.visitors.client.flushall()
    schedule = {"prequeue_at": moment_text(FAR_MS - 1000), "opens_at": moment_text(FAR_MS), "draw_beacon": "round 7"}
    admin.publish(queue_json("sale", **schedule))
    admin.start()
    refused = detail(admin, "beacon", {"value": "b1"}, 409)
    assert moment_text(FAR_MS) in refused
    assert "fixed before" in refused
    state = calls.keys("sale")[0]
    # Its time comes: the schedule is moved to a moment ago, someone has arrived, and nobody has drawn yet.
    now = int(admin.visitors.state(admin.queues["sale"])["clock"])
    admin.visitors.client.hset(state, mapping={"prequeue_at": str(now - 5000), "opens_at": str(now - 1000), "length": "1"})
    told = admin.api("POST", "/queues/sale/beacon", json={"value": "b1"})
    assert (told.status_code, told.json()["beacon"]) == (200, "b1")
    for value in ("b2", "b1"):
        second = detail(admin, "beacon", {"value": value}, 409)
        assert "is 'b1' already" in second
        assert "Send it then" not in second
    admin.api("POST", "/queues/sale/reset")
    admin.api("POST", "/queues/sale/open")
    wait_until(lambda: admin.api("GET", "/queues/sale").json()["status"] == "open", "the opening")
    assert "its order stands" in detail(admin, "beacon", {"value": "b2"}, 409)


@pytest.mark.parametrize(("beacon", "awaits"), [("round 7", "beacon"), (None, "draw")])
def test_open_says_what_the_opening_still_waits_for(admin: Admin, beacon: str | None, awaits: str) -> None:
    now_ms = int(time.time() * 1000)
    schedule = {"prequeue_at": moment_text(now_ms - 60_000), "opens_at": moment_text(FAR_MS), "draw_beacon": beacon}
    admin.publish(queue_json("sale", **schedule))
    admin.start()
    assert admin.api("GET", "/queues/sale").json()["awaits"] is None
    admin.visitors.join(admin.queues["sale"], 3)
    for _ in range(2):  # a repeat changes nothing, and says the same
        told = admin.api("POST", "/queues/sale/open")
        assert (told.status_code, told.json()["status"], told.json()["awaits"]) == (200, "prequeue", awaits)
    if beacon:
        assert admin.api("POST", "/queues/sale/beacon", json={"value": "b1"}).json()["awaits"] == "draw"
    seen = admin.visitors.run(commands.take_snapshot("sale", "0" * 32)).snapshot
    assert seen is not None
    due = opening(admin.queues["sale"], seen, Keyring.parse("k:" + "a" * 43), "0" * 32)
    assert due is not None
    assert admin.visitors.run(due).verdict == "opened"
    after = admin.api("GET", "/queues/sale").json()
    assert (after["status"], after["awaits"]) == ("open", None)


def test_one_queue_of_a_group_is_paused_by_itself(admin: Admin) -> None:
    group = {"id": "eu", "name": "Europe", "queues": ["de", "fr"], "admit_per_minute": 30}
    admin.publish(*({"id": name, "name": name, "routes": [{"path": f"/{name}/*"}]} for name in ("de", "fr")), groups=[group])
    admin.start("de")

    def seen(queue_id: str) -> tuple[str, bool]:
        found = admin.api("GET", f"/queues/{queue_id}").json()
        return found["status"], found["paused_alone"]

    told = admin.api("POST", "/queues/fr/pause_alone").json()
    assert (told["status"], told["paused_alone"], told["mode"]) == ("paused", True, "open")
    assert told["concerned"] == "the queue fr alone, of the group eu"
    assert admin.api("GET", "/queues/fr").json()["concerned"] == "all queues of the group eu: de, fr"
    assert (seen("de"), seen("fr")) == (("open", False), ("paused", True))
    admin.api("POST", "/queues/de/pause")
    assert seen("de") == ("paused", False)
    admin.api("POST", "/queues/fr/open")
    assert (seen("de"), seen("fr")) == (("open", False), ("paused", True)), "the group is open, the queue is not"
    told = admin.api("POST", "/queues/fr/open_alone").json()
    assert (told["status"], told["concerned"]) == ("open", "the queue fr alone, of the group eu")


def test_a_queue_without_a_group_is_not_paused_by_itself(admin: Admin) -> None:
    admin.start()
    assert "is for a queue of a group" in detail(admin, "pause_alone", None, 409)


def test_a_batch_of_one_lane_over_the_rate(admin: Admin) -> None:
    admin.publish(queue_json("sale", manual=True, admit_per_minute=1, lanes=LANES))
    admin.start()
    queue = admin.queues["sale"]
    admin.visitors.join(queue, 5)
    for number in range(4):
        admin.visitors.run(commands.join("sale", f"member-{number}", "0" * 32, line=1))
    lanes = admin.api("GET", "/queues/sale").json()["lanes"]
    assert [(lane["name"], lane["share"], lane["waiting"]) for lane in lanes] == [("standard", 3, 5), ("members", 1, 4)]
    done = admin.api("POST", "/queues/sale/admit", json={"count": 3, "lane": "members", "over_rate": True}).json()
    assert (done["called"], [lane["waiting"] for lane in done["queue"]["lanes"]]) == (3, [5, 1])
    epoch = done["queue"]["epoch"]
    came_in = [
        admin.visitors.run(commands.touch("sale", epoch, position, f"member-{position - 1}", "0" * 32, line=1, wants_in=True))
        for position in (1, 2, 3)
    ]
    assert [answer.verdict for answer in came_in] == ["inside"] * 3
    rest = admin.api("POST", "/queues/sale/admit", json={"count": 3, "lane": "members"}).json()
    assert (rest["called"], rest["note"]) == (1, "nobody else waits in members")


@pytest.mark.parametrize(
    ("step", "why"), [("pause", "Open it first"), ("close", "Open it first"), ("maintenance", "Open it first")]
)
def test_a_batch_while_nobody_is_called(admin: Admin, step: str, why: str) -> None:
    admin.start()
    admin.api("POST", f"/queues/sale/{step}")
    assert why in detail(admin, "admit", {"count": 1}, 409)


def test_closed_by_its_schedule_says_so(admin: Admin) -> None:
    admin.publish(queue_json("sale", closes_at=moment_text(1_000_000_000_000)))
    admin.start()
    assert "closes_at is past" in detail(admin, "admit", {"count": 1}, 409)


def test_in_a_group_a_step_concerns_all_its_queues(admin: Admin) -> None:
    group = {"id": "eu", "name": "Europe", "queues": ["de", "fr"], "admit_per_minute": 30}
    admin.publish(*({"id": name, "name": name, "routes": [{"path": f"/{name}/*"}]} for name in ("de", "fr")), groups=[group])
    admin.start("de")
    told = admin.api("POST", "/queues/fr/pause").json()
    assert (told["group"], told["concerned"]) == ("eu", "all queues of the group eu: de, fr")
    assert admin.api("GET", "/queues/de").json()["status"] == "paused"
    assert "group eu is paused" in admin.api("POST", "/queues/de/admit", json={"count": 1}).json()["detail"].replace("The ", "")
    admin.visitors.run(commands.join("eu", "someone", "0" * 32, line=admin.queues["fr"].line))
    by_id = {queue["id"]: queue for queue in admin.api("GET", "/queues").json()["queues"]}
    assert [by_id[name]["lanes"][0]["waiting"] for name in ("de", "fr")] == [0, 1]


def test_ways_out_are_counted(admin: Admin) -> None:
    admin.start()
    queue = admin.queues["sale"]
    for answer, reason in zip(admin.visitors.join(queue, 3, wants_in=True), ("completed", "left", "revoked"), strict=True):
        epoch, name = answer.snapshot.epoch if answer.snapshot else "", f"visitor-{answer.number(0) - 1:08d}"
        ended = admin.visitors.run(commands.end("sale", epoch, answer.number(0), name, reason, "0" * 32, units=1))  # type: ignore[arg-type]
        assert ended.verdict == "freed"
    counts = admin.api("GET", "/queues/sale").json()["counts"]
    assert {name: counts[name] for name in ("completed", "left", "revoked", "sold")} == {
        "completed": 1, "left": 1, "revoked": 1, "sold": 1,
    }  # fmt: skip
