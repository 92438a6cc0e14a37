"""The worked example of an own strategy: a pure function, and a process around it that the caps hold back."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.stack import ROOT, Stack, enter, status

EXAMPLE = ROOT / "examples" / "strategies" / "gentle_fill.py"


def load_example() -> Any:
    spec = importlib.util.spec_from_file_location("gentle_fill", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def look(**values: Any) -> dict[str, Any]:
    cap = values.pop("max_active", 100)
    return {"status": "open", "inside": 0, "called": 0, "waiting": 1000, "limits": {"max_active": cap}} | values


@pytest.mark.parametrize(
    ("seen", "count"),
    [
        (look(), 20),
        (look(inside=60, called=10), 3),
        (look(inside=80), 0),
        (look(inside=99), 0),
        (look(waiting=4), 4),
        (look(waiting=0), 0),
        (look(status="paused"), 0),
        (look(max_active=None), 0),
        (look(max_active=1_000_000, waiting=10**6), 500),
    ],
)
def test_the_strategy_is_a_pure_function(seen: dict[str, Any], count: int) -> None:
    before = str(seen)
    assert load_example().how_many(seen) == count
    assert str(seen) == before


def test_a_run_that_is_started_again_has_keys_of_its_own() -> None:
    keys = []

    def admin(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=look() | {"epoch": "e"})
        keys.append(request.headers["Idempotency-Key"])
        return httpx.Response(200, json={"called": 1})

    with httpx.Client(base_url="http://admin", transport=httpx.MockTransport(admin)) as api:
        for module in (load_example(), load_example()):
            for number in (1, 2):
                assert module.one_round(api, "q", module.how_many, number) == 1
    assert len(set(keys)) == 4


def run_example(stack: Stack, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(EXAMPLE), stack.admin, "plan", *options], env=stack.environ, text=True,
                          capture_output=True, timeout=60, check=False)  # fmt: skip


def test_the_process_calls_by_the_strategy_and_no_more_than_the_cap(stack: Stack, tmp_path: Path) -> None:
    visitors = [stack.visitor() for _ in range(5)]
    for visitor in visitors:
        visitor.get("/plan/x")
        assert status(visitor, "plan")["state"] == "waiting"
    done = run_example(stack, "--rounds", "6", "--every-s", "0.2")
    assert done.returncode == 0, done.stderr
    # 80 % of four is three: one each round, and then none.
    assert [line.split()[2] for line in done.stdout.splitlines()] == ["1", "1", "1", "0", "0", "0"]
    states = sorted(status(visitor, "plan")["state"] for visitor in visitors)
    assert states == ["called"] * 3 + ["waiting"] * 2
    assert enter(visitors[0], "/plan/x").status_code == 200
    # A strategy that asks for everybody is held back by the cap of four.
    assert stack.api("POST", "/queues/plan/admit", {"count": 500})["called"] == 1


def test_trouble_is_said_and_the_next_round_tries_again(stack: Stack) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE), stack.admin, "no-such-queue", "--rounds", "2", "--every-s", "0"],
                          env=stack.environ, text=True, capture_output=True, timeout=60, check=False)  # fmt: skip
    assert done.returncode == 0
    assert done.stderr.count("404") >= 2
    nameless = {name: value for name, value in stack.environ.items() if name != "STANCHION_ADMIN_TOKEN"}
    done = subprocess.run([sys.executable, str(EXAMPLE), stack.admin, "plan"], env=nameless, text=True, capture_output=True,
                          timeout=60, check=False)  # fmt: skip
    assert done.returncode == 2
    assert "STANCHION_ADMIN_TOKEN" in done.stderr
