"""What an operator and an origin do, seen from the visitor's side: in force within a second."""

from __future__ import annotations

import time

import httpx
import pytest

from tests.e2e.conftest import QUEUES
from tests.e2e.stack import Stack, enter, queue, status

IN_FORCE_S = 1.0


def place(stack: Stack, queue_id: str) -> httpx.Client:
    """A visitor with a place."""
    visitor = stack.visitor()
    visitor.get(f"/{queue_id}/")
    assert status(visitor, queue_id)["position"]
    return visitor


def test_a_batch_calls_those_waiting_and_leaves_no_credit(stack: Stack) -> None:
    visitors = [place(stack, "again") for _ in range(3)]
    assert stack.api("POST", "/queues/again/admit", {"count": 2})["called"] == 2
    time.sleep(IN_FORCE_S)
    assert [status(visitor, "again")["state"] for visitor in visitors] == ["called", "called", "waiting"]
    assert stack.api("POST", "/queues/again/admit", {"count": 100})["called"] == 1
    for visitor in visitors:
        assert enter(visitor, "/again/").status_code == 200
    late = place(stack, "again")
    time.sleep(IN_FORCE_S)
    assert status(late, "again")["state"] == "waiting"


def test_pause_and_resume(stack: Stack) -> None:
    inside = stack.visitor()
    assert inside.get("/live/").status_code == 200
    visitor = place(stack, "live")
    stack.api("POST", "/queues/live/pause")
    time.sleep(IN_FORCE_S)
    paused = status(visitor, "live")
    assert paused["state"] == "paused"
    assert paused["position"]
    assert inside.get("/live/").status_code == 200
    stack.api("POST", "/queues/live/resume")
    time.sleep(IN_FORCE_S)
    assert status(visitor, "live")["state"] in ("waiting", "called")


def test_the_rate_is_changed_live(stack: Stack) -> None:
    stack.visitor().get("/slow/")
    visitor = place(stack, "slow")
    assert visitor.get("/slow/").status_code == 503
    found = stack.api("PATCH", "/queues/slow/limits", {"admit_per_minute": 6000})
    assert found["limits"]["admit_per_minute"] == 6000
    start = time.monotonic()
    enter(visitor, "/slow/")
    assert time.monotonic() - start < 3


def test_a_reset_voids_everything_at_once_and_the_next_poll_rejoins(stack: Stack) -> None:
    visitor = place(stack, "hand")
    before = status(visitor, "hand")
    stack.api("POST", "/queues/hand/reset")
    time.sleep(IN_FORCE_S)
    after = status(visitor, "hand")
    assert after["epoch"] != before["epoch"]
    assert after["position"] == 1


def test_one_slot_goes_from_one_visitor_to_the_next(stack: Stack) -> None:
    first = stack.visitor()
    assert first.get("/cap/").status_code == 200
    second = place(stack, "cap")
    assert second.get("/cap/").status_code == 503
    first.post("/.stanchion/cap/leave")
    assert enter(second, "/cap/").status_code == 200
    assert stack.api("GET", "/queues/cap")["inside"] == 1
    assert first.get("/cap/").status_code == 503


@pytest.mark.parametrize("command", ["complete; units=1", "revoke"])
def test_the_origin_ends_a_visit(stack: Stack, command: str) -> None:
    buyer = stack.visitor()
    enter(buyer, "/done/")
    copy = dict(buyer.cookies)
    answer = buyer.post("/done/buy", headers={"X-Answer-Stanchion-Command": command})
    assert answer.status_code == 200
    assert "stanchion-command" not in answer.headers
    time.sleep(IN_FORCE_S)
    again = httpx.get(f"{stack.edge}/done/", cookies={"stanchion-done": copy["stanchion-done"]})
    # The old pass counts for nothing: its bearer is held, or let in anew with another pass.
    assert again.status_code == 503 or "stanchion-done=ey" in " ".join(again.headers.get_list("set-cookie"))
    next_one = stack.visitor()
    stack.api("POST", "/queues/done/reset")
    time.sleep(IN_FORCE_S)
    enter(next_one, "/done/")
    next_one.post("/.stanchion/done/leave")


def test_a_command_out_of_a_cache_is_ignored(stack: Stack) -> None:
    visitor = stack.visitor()
    enter(visitor, "/calm/")
    visitor.get("/calm/x", headers={"X-Answer-Stanchion-Command": "revoke", "X-Answer-Age": "7"})
    time.sleep(IN_FORCE_S)
    assert status(visitor, "calm")["state"] == "inside"


def test_a_bad_configuration_changes_nothing(stack: Stack) -> None:
    refused = stack.configure([*QUEUES, queue("odd", admit_per_minute=-1)])
    assert refused.returncode == 1
    assert "queues[15].admit_per_minute" in refused.stderr
    (stack.folder / "kv" / "config.json").write_text('{"queues": [')
    time.sleep(IN_FORCE_S)
    assert stack.visitor().get("/hand/").status_code == 503
    stack.wait_for_log("configuration not taken")
    (stack.folder / "kv" / "config.json").write_text('{"queues": ' + "[" * 100_000)
    time.sleep(IN_FORCE_S)
    assert stack.visitor().get("/hand/").status_code == 503
    assert stack.visitor().get("/about").status_code == 200
    assert stack.visitor().get("/.stanchion/health").status_code == 200
    stack.wait_for_log("deeper than")


def test_a_changed_configuration_is_in_force_within_a_second(stack: Stack) -> None:
    (stack.folder / "kv" / "config.json").unlink(missing_ok=True)
    applied = stack.configure([*QUEUES, queue("extra", manual=True)])
    assert applied.returncode == 0, applied.stderr
    time.sleep(IN_FORCE_S)
    assert stack.visitor().get("/extra/").status_code == 503
    changed = [{**q, "held_status": 202} if q["id"] == "extra" else q for q in [*QUEUES, queue("extra", manual=True)]]
    assert "extra changed" in stack.configure(changed).stdout
    time.sleep(IN_FORCE_S)
    assert stack.visitor().get("/extra/").status_code == 202
    assert stack.configure(changed).stdout.strip() == "nothing changed"


def test_a_page_that_is_edited_by_hand_is_shown_and_a_broken_one_is_not(stack: Stack) -> None:
    page = stack.folder / "kv" / "pages" / "default" / "en" / "waiting.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text('<!doctype html><html lang="en"><head><title>x</title></head><body><p>Hello {{queue_name}}</p></body></html>')
    time.sleep(IN_FORCE_S)
    assert "<p>Hello Queue hand</p>" in stack.visitor().get("/hand/").text
    page.write_text("<html><body><p>{{nonsense}}</p></body></html>")
    time.sleep(IN_FORCE_S)
    answer = stack.visitor().get("/hand/")
    assert answer.status_code == 503
    assert "<p>Hello Queue hand</p>" in answer.text
