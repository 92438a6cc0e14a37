"""The client loops of docs/apps.md, as they stand there, on the whole product; and what they got, by the schema."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.e2e.stack import PATIENCE_S, ROOT, Stack
from tests.needs import needs
from tests.programs import end, start

PAGE = (ROOT / "docs" / "apps.md").read_text()
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "status.schema.json").read_text()))
HEADERS = {"Accept": "application/json"}


def program(language: str) -> str:
    """The program of this language on the page."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def wait_for_length(stack: Stack, length: int, queue: str = "app") -> None:
    """Returns once that many have a place."""
    deadline = time.monotonic() + PATIENCE_S
    while stack.api("GET", f"/queues/{queue}")["length"] < length:
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.parametrize("queue", ["app", "work"])
@pytest.mark.parametrize(("language", "name"), [("python", "enter.py"), ("js", "enter.mjs")])
def test_a_loop_of_the_docs_waits_in_line_and_comes_in(stack: Stack, tmp_path: Path, language: str, name: str,
                                                       queue: str) -> None:  # fmt: skip
    runner = sys.executable if language == "python" else needs("node")
    (tmp_path / name).write_text(program(language))
    before = stack.api("GET", f"/queues/{queue}")["length"]
    command = [runner, str(tmp_path / name), f"{stack.edge}/{queue}/tickets?day=2"]
    running = start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_length(stack, before + 1, queue)
        stack.api("POST", f"/queues/{queue}/admit", {"count": 1})
        out, told = running.communicate(timeout=PATIENCE_S)
    finally:
        end(running)
    assert running.returncode == 0, told
    seen = json.loads(out)
    assert seen["target"] == f"/{queue}/tickets?day=2"
    names = [header.lower() for header, _ in seen["headers"]]
    assert "stanchion-pass" in names
    assert "stanchion-token" not in names
    states = [line.split()[0] for line in told.splitlines()]
    assert states[0] == "candidate"
    assert set(states[1:]) <= {"waiting", "called"}
    assert stack.api("GET", f"/queues/{queue}")["length"] == before + 1, "one place, however often it asked"


def test_real_answers_keep_to_the_schema(stack: Stack) -> None:
    visitor = stack.visitor(**HEADERS, **{"Stanchion-Token": "new"})
    held = visitor.get("/app/")
    token = held.headers["stanchion-token"]
    visitor.headers["Stanchion-Token"] = token
    status = visitor.get("/.stanchion/app/status")
    write = visitor.post("/app/cart", json={})
    left = visitor.post("/.stanchion/app/leave")
    for answer in (held, status, write, left):
        SCHEMA.validate(answer.json())
        assert answer.headers["stanchion-state"] == answer.json()["state"]
    assert [answer.json()["state"] for answer in (held, status, left)] == ["candidate", "waiting", "ended"]
    assert (write.headers["content-type"], write.json()["error"]) == ("application/problem+json", "not sent")
    assert left.headers["stanchion-token"] == "new"
    assert dict(visitor.cookies) == {}


def test_a_verified_crawler_is_held_without_a_place_within_a_second(stack: Stack, tmp_path: Path) -> None:
    person = stack.visitor(**{"User-Agent": "Findbot"})
    assert person.get("/bots/").headers["retry-after"] == "1"
    assert "stanchion-bots.c" in person.cookies
    file = tmp_path / "crawlers.json"
    file.write_text(json.dumps({"findbot": ["127.0.0.0/8"]}))
    done = stack.command("crawlers", "apply", str(file))
    assert done.returncode == 0, done.stderr
    try:
        deadline = time.monotonic() + PATIENCE_S
        while (answer := stack.visitor().get("/bots/")).headers["retry-after"] != "600":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert (answer.status_code, answer.headers.get("set-cookie")) == (503, None)
        assert stack.visitor().get("/app/").headers["retry-after"] == "1", "a queue that treats them as people"
    finally:
        file.write_text("{}")
        assert "no crawlers" in stack.command("crawlers", "apply", str(file)).stdout
