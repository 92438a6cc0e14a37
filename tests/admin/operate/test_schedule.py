"""The schedule: moments in a zone, clashes, steps carried out once and in order, late ones by the stated rule."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from admin.configuration import ConfigurationSource
from admin.limits import BadValue
from admin.operate import schedule
from admin.operate.moments import moment_from_rfc3339, moment_of, zone_named
from admin.operate.performer import CLAIM_S, Performer
from admin.operate.schedule import LATE_AT_MOST_S, Clash, Wanted
from admin.operations import Operations
from admin.state import schedule as table
from admin.state.schedule import Step
from admin.store import Store
from admin.watch import Watch
from edge.core.moments import moment_text
from tests.admin.conftest import Admin, Browser, text_of
from tests.admin.world import config_text, queue_json, queues_of

BERLIN = ZoneInfo("Europe/Berlin")
QUEUE = queues_of(config_text(queue_json("sale", max_active=50, closes_at="2030-01-01T00:00:00Z")))[0]


def utc(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat()


def test_a_local_time_is_a_moment_in_its_zone() -> None:
    assert utc(moment_of("2026-12-01T20:00", BERLIN)) == "2026-12-01T19:00:00+00:00"
    assert utc(moment_of("2026-07-01 20:00:30", BERLIN)) == "2026-07-01T18:00:30+00:00"
    assert utc(moment_from_rfc3339("2026-12-01T20:00:00+01:00")) == "2026-12-01T19:00:00+00:00"


def test_an_hour_that_the_clocks_skip_is_refused_and_one_that_comes_twice_is_asked_about() -> None:
    with pytest.raises(BadValue, match="does not exist in Europe/Berlin"):
        moment_of("2027-03-28T02:30", BERLIN)
    with pytest.raises(BadValue, match="comes twice in Europe/Berlin"):
        moment_of("2026-10-25T02:30", BERLIN)
    first, second = (moment_of("2026-10-25T02:30", BERLIN, fold) for fold in ("first", "second"))
    assert (utc(first), utc(second)) == ("2026-10-25T00:30:00+00:00", "2026-10-25T01:30:00+00:00")


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01T20:00", "2026-12-01", "2026-12-01T25:00", "20:00"])
def test_what_is_no_time_is_named(text: str) -> None:
    with pytest.raises(BadValue, match="is no time"):
        moment_of(text, BERLIN)
    with pytest.raises(BadValue, match="is no time with its offset"):
        moment_from_rfc3339(text)


@pytest.mark.parametrize("name", ["", "Mars/Base", "../etc/passwd", "Europe/Berlin\n", "x" * 80])
def test_what_is_no_zone_is_named(name: str) -> None:
    with pytest.raises(BadValue, match="is no time zone"):
        zone_named(name)


def step(at_ms: int, step_id: str = "s", **what: Any) -> Step:
    return Step(step_id, "sale", at_ms, what.get("changes"), what.get("action", ""), "mai", 0)


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (Wanted(600_000, None, "pause"), "already to open in that minute"),
        (Wanted(660_000, {"admit_per_minute": 9}, ""), "admit_per_minute already changes"),
        (Wanted(QUEUE.closes_at_ms or 0, None, "open"), "closes_at is before that"),
    ],
)
def test_steps_that_cannot_both_be_meant_clash(wanted: Wanted, says: str) -> None:
    others = [step(630_000, action="open"), step(660_000, changes={"admit_per_minute": 30})]
    with pytest.raises(Clash, match=says):
        schedule.check_against(wanted, QUEUE, others)


def test_what_goes_together_does_not_clash() -> None:
    others = [step(630_000, action="open"), step(660_000, changes={"admit_per_minute": 30})]
    schedule.check_against(Wanted(630_000, {"admit_per_minute": 90}, ""), QUEUE, others)
    schedule.check_against(Wanted(660_000, {"max_active": 9}, ""), QUEUE, others)
    schedule.check_against(Wanted(720_000, {"admit_per_minute": 9}, ""), QUEUE, others)


def test_limits_that_would_mean_nothing_then_are_refused() -> None:
    before = step(60_000, changes={"admit_per_minute": None})
    with pytest.raises(BadValue, match="no limit at all"):
        schedule.check_against(Wanted(900_000, {"max_active": None}, ""), QUEUE, [before])


def test_a_step_lies_ahead_and_says_one_thing() -> None:
    for at_ms, changes, action, says in (
        (5, {"burst": 1}, None, "lies in the past"), (10**15, None, "open", "more than 400 days"),
        (20, None, None, "either changes"), (20, {"burst": 1}, "open", "either changes"),
        (20, None, "reset", "cannot be scheduled"), (20, {"colour": 1}, None, "is no limit"),
    ):  # fmt: skip
        with pytest.raises(BadValue, match=says):
            schedule.check(at_ms, changes, action, 10)


def until(condition: Callable[[], bool], within_s: float = 10) -> None:
    ends = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.1)


def at(admin: Admin, in_s: float) -> str:
    return moment_text(int((admin.clock.unix_s() + in_s) * 1000))


def over(admin: Admin) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = admin.api("GET", "/queues/sale/schedule").json()["over"]
    return found


def test_steps_happen_at_their_time_and_are_in_the_audit_log(admin: Admin) -> None:
    admin.start()
    admin.clock.ahead_s += 2
    first = {"at": at(admin, 60), "changes": {"admit_per_minute": 200}}
    told = admin.api("POST", "/queues/sale/schedule", json=first, headers={"Idempotency-Key": "k"})
    assert told.status_code == 201
    again = admin.api("POST", "/queues/sale/schedule", json=first, headers={"Idempotency-Key": "k"})
    assert again.json()["id"] == told.json()["id"]
    assert admin.api("POST", "/queues/sale/schedule", json=first).json()["clashes_with"] == told.json()["id"]
    assert admin.api("POST", "/queues/sale/schedule", json={"at": at(admin, 120), "action": "pause"}).status_code == 201
    admin.clock.ahead_s += 61
    until(lambda: len(over(admin)) == 1)
    limits = admin.api("GET", "/queues/sale").json()["limits"]
    assert (limits["admit_per_minute"], limits["live"]) == (200, ["admit_per_minute"])
    admin.clock.ahead_s += 60
    until(lambda: len(over(admin)) == 2)
    assert admin.api("GET", "/queues/sale").json()["status"] == "paused"
    assert [each["outcome"][:4] for each in over(admin)] == ["done", "done"]
    change = admin.api("GET", "/queues/sale/change").json()["last"]
    assert (change["action"], change["who"]) == ("queue.pause", "token")


def test_a_step_is_taken_back_before_its_time_only(admin: Admin) -> None:
    admin.start()
    made = admin.api("POST", "/queues/sale/schedule", json={"at": at(admin, 60), "action": "pause"}).json()
    path = f"/queues/sale/schedule/{made['id']}"
    assert admin.api("DELETE", path).status_code == 204
    assert admin.api("DELETE", path).status_code == 409
    assert admin.api("GET", "/schedule").json() == {"to_come": [], "over": []}


class Performing:
    """Performers on the database of a running app whose own one is too slow to notice: their clock is ahead."""

    def __init__(self, admin: Admin, ahead_s: float) -> None:
        self.admin = admin
        self.db = admin.app.state.desk.db
        self.now_s = admin.clock.unix_s() + ahead_s

    def performer(self, operations: type[Operations] = Operations) -> Performer:
        """One with connections of its own, for the loop that it runs in."""
        store = Store(self.admin.settings.redis_url, self.admin.settings.redis_token, "redis")
        source = ConfigurationSource(self.admin.kv, lambda: self.now_s)
        does = operations(source, store)
        return Performer(self.db, does, Watch(source, does, lambda: self.now_s), lambda: self.now_s)


def add(admin: Admin, *steps: Step) -> None:
    for each in steps:
        admin.app.state.desk.db.run_now(lambda session, one=each: table.add(session, one))


def soon(admin: Admin, in_s: float, step_id: str, **what: Any) -> Step:
    return step(int((admin.clock.unix_s() + in_s) * 1000), step_id, **what)


def outcomes(admin: Admin) -> dict[str, str]:
    return {each.id: each.outcome for each in admin.app.state.desk.db.run_now(lambda session: table.done(session, None, 50))}


def test_two_admin_apps_do_a_step_once_and_in_order(admin: Admin) -> None:
    admin.start()
    add(admin, *(soon(admin, 100 + number, f"s{number}", changes={"admit_per_minute": 10 + number}) for number in range(6)))
    scene = Performing(admin, 200)
    done: list[int] = []

    class Noted(Operations):
        async def change_limits(self, queue_id: str, changes: Any, request_id: str, seen: Any = None) -> Any:
            done.append(changes["admit_per_minute"])
            await asyncio.sleep(0.01)
            return await super().change_limits(queue_id, changes, request_id, seen)

    async def both() -> None:
        one, other = scene.performer(Noted), scene.performer(Noted)
        for _ in range(6):
            await asyncio.gather(one.tick(), other.tick())

    asyncio.run(both())
    assert done == [10, 11, 12, 13, 14, 15]
    assert admin.visitors.state(admin.queues["sale"])["rate"] == "15"


def test_after_a_silence_late_steps_are_done_in_order_and_too_late_ones_skipped(admin: Admin) -> None:
    admin.start()
    add(
        admin, soon(admin, 10, "old", changes={"admit_per_minute": 999}), soon(admin, 1000, "b", action="pause"),
        soon(admin, 1100, "c", action="open"), soon(admin, 1200, "d", changes={"admit_per_minute": 77}),
    )  # fmt: skip
    asyncio.run(Performing(admin, 10 + LATE_AT_MOST_S + 300).performer().tick())
    told = outcomes(admin)
    assert told["old"].startswith("missed")
    assert all(told[name].startswith("done, ") for name in "bcd"), told
    state = admin.visitors.state(admin.queues["sale"])
    assert (state["status"], state["rate"]) == ("open", "77")


def test_a_step_that_the_queue_refuses_says_why(admin: Admin) -> None:
    add(admin, soon(admin, 10, "s", action="pause"))
    asyncio.run(Performing(admin, 11).performer().tick())
    assert outcomes(admin)["s"].startswith("refused: Redis has no state")


def test_a_claim_that_nobody_finished_runs_out(admin: Admin) -> None:
    admin.start()
    add(admin, soon(admin, 10, "s", action="pause"))
    scene = Performing(admin, 11)
    now_ms = int(scene.now_s * 1000)
    assert scene.db.run_now(lambda session: table.claim(session, now_ms, CLAIM_S * 1000)).id == "s"
    asyncio.run(scene.performer().tick())
    assert outcomes(admin) == {}
    assert not scene.db.run_now(lambda session: table.remove(session, "s")), "somebody works on it"
    scene.now_s += CLAIM_S + 1
    asyncio.run(scene.performer().tick())
    assert outcomes(admin)["s"].startswith("done")


def test_from_the_console(admin: Admin, browser: Browser) -> None:
    admin.start()
    page = "/schedule/sale"
    when = datetime.fromtimestamp(admin.clock.unix_s() + 86_400, BERLIN).strftime("%Y-%m-%dT%H:%M")
    fields = {"what": "rate", "value": "120", "at": when, "zone": "Europe/Berlin"}
    assert browser.send(page, f"{page}/add", **fields).status_code == 303
    text = text_of(browser.get(page))
    assert "It will happen on" in text
    assert "rate 120" in text
    clash = browser.send(page, f"{page}/add", **{**fields, "value": "130"})
    assert (clash.status_code, "already changes in that minute" in clash.text, 'value="130"' in clash.text) == (409, True, True)
    for wrong, says in (({"at": "2027-03-28T02:30"}, "does not exist"), ({"zone": "Mars"}, "is no time zone"),
                        ({"value": "fast"}, "A whole number"), ({"at": "2020-01-01T00:00"}, "Lies in the past")):  # fmt: skip
        answer = browser.send(page, f"{page}/add", **{**fields, **wrong})
        assert answer.status_code == 422
        assert says in text_of(answer.text)
    twice = browser.send(page, f"{page}/add", **{**fields, "at": "2027-10-31T02:30"})
    assert 'name="fold"' in twice.text
    assert "sale" in text_of(browser.get("/schedule"))
    assert browser.send(page, f"{page}/remove", step=admin.api("GET", "/schedule").json()["to_come"][0]["id"]).status_code == 303
    assert "Nothing is scheduled for this queue" in text_of(browser.get(page))
