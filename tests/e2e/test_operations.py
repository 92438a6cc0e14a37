"""What an operator does in the console, the API and the command line reaches visitors within a second.

What visitors see of the rest is in tests/conformance.
"""

from __future__ import annotations

import re
import time

import httpx

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


def test_a_bad_configuration_changes_nothing(stack: Stack) -> None:
    refused = stack.configure([*QUEUES, queue("odd", admit_per_minute=-1)])
    assert refused.returncode == 1
    # The stack keeps the queues of the tests before this one too.
    assert re.search(r"queues\[\d+\]\.admit_per_minute: -1 is not allowed", refused.stderr)
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


def test_the_doctor_finds_nothing_wrong(stack: Stack) -> None:
    examined = stack.command("doctor", f"{stack.edge}/hand/")
    assert examined.returncode == 0, examined.stdout + examined.stderr
    assert "BAD" not in examined.stdout
