"""`stanchion queues` against a running admin app with a real Redis."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import click
import httpx
import pytest
from click.testing import CliRunner, Result

from cli.main import main
from cli.queues.client import AdminApi
from tests.admin.conftest import API_TOKEN, Admin
from tests.admin.world import free_port, queue_json

Run = Callable[..., "Said"]


@dataclass(frozen=True)
class Said:
    """What a command answered; the log of the app, which runs in the same process, left out."""

    exit_code: int
    output: str

    @classmethod
    def of(cls, result: Result) -> Said:
        lines = result.output.splitlines(keepends=True)
        return cls(result.exit_code, "".join(line for line in lines if not line.startswith('{"room"')))


@pytest.fixture
def run(admin: Admin) -> Run:
    def call(*words: str, token: str = API_TOKEN, stdin: str | None = None) -> Said:
        environment = {"STANCHION_ADMIN_URL": admin.url, "STANCHION_ADMIN_TOKEN": token}
        return Said.of(CliRunner().invoke(main, ["queues", *words], env=environment, input=stdin))

    return call


@pytest.fixture
def line(admin: Admin) -> Admin:
    """A manual queue in which forty wait, and one that never ran."""
    admin.publish(queue_json("sale", name="Sale", manual=True, max_active=100, admit_per_minute=600), queue_json("later"))
    admin.start("sale")
    admin.visitors.join(admin.queues["sale"], 40)
    admin.clock.ahead_s += 2
    return admin


def test_a_sale_from_the_shell(line: Admin, run: Run) -> None:
    assert run("admit", "sale", "15").output == "15 of 15 called\n"
    listed = run("list").output.splitlines()
    assert listed[0].split() == ["queue", "state", "waiting", "called", "inside", "of", "last", "minute", "of", "units", "left"]
    assert listed[1].split() == ["sale", "open", "25", "15", "0", "100", "0", "600", "-"]
    assert listed[2].split()[:2] == ["later", "missing"]

    assert run("pause", "sale").output == "sale: paused\n"
    refused = run("admit", "sale", "1")
    assert refused.exit_code == 1
    assert "paused: nobody is called" in refused.output
    assert run("open", "sale").output == "sale: open\n"

    changed = run("set", "sale", "admit_per_minute=90", "max_active=config")
    assert "admit_per_minute  90, set by an operator" in changed.output
    assert "max_active        100\n" in changed.output
    assert run("message", "sale", "Soon").output == "sale: Soon\n"
    assert run("message", "sale", "").output == "sale: no message\n"
    assert "25 of 40 who got a place" in run("show", "sale").output


def test_what_programs_read(line: Admin, run: Run) -> None:
    assert [queue["id"] for queue in json.loads(run("--json", "list").output)] == ["sale", "later"]
    assert json.loads(run("--json", "show", "sale").output)["waiting"] == 40
    assert json.loads(run("--json", "admit", "sale", "3").output)["called"] == 3


def test_a_reset_asks_for_the_id(line: Admin, run: Run) -> None:
    asked = run("reset", "sale", stdin="sole\n")
    assert "40 waiting lose their places" in asked.output
    assert (asked.exit_code, json.loads(run("--json", "show", "sale").output)["waiting"]) == (1, 40)
    assert run("reset", "sale", "--yes", "later").exit_code == 1
    assert run("reset", "sale", "--yes", "sale").output == "sale: a new line has begun\n"
    assert json.loads(run("--json", "show", "sale").output)["waiting"] == 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("show", "nobody"), 1, "No published queue has the id 'nobody'"),
        (("show", "a/../b?c"), 1, "There is nothing at this address"),
        (("set", "sale", "rate=3"), 2, "LIMIT is one of admit_per_minute"),
        (("set", "sale", "max_active"), 2, "write LIMIT=VALUE"),
        (("set", "sale", "max_active=-3"), 2, "a whole number, none or config"),
        (("set", "sale", "max_active=٣"), 2, "a whole number"),
        (("set", "sale", "max_active=999999999999"), 1, "is not allowed"),
        (("admit", "sale", "0"), 2, "0 is not in the range"),
        (("admit", "sale", "1", "--lane", "gold"), 1, "is no lane of this queue"),
        (("--url", "localhost:1", "list"), 2, "must begin with http"),
    ],
)
def test_what_cannot_be_is_said(line: Admin, run: Run, words: tuple[str, ...], code: int, says: str) -> None:
    result = run(*words)
    assert (result.exit_code, says in result.output) == (code, True), result.output


def test_tokens_that_are_none(run: Run) -> None:
    wrong = run("list", token="no-such-token")
    assert wrong.exit_code == 1
    assert "Set STANCHION_ADMIN_TOKEN" in wrong.output
    assert run("list", token="").exit_code == 2


def test_nobody_there() -> None:
    address = f"http://127.0.0.1:{free_port()}"
    result = CliRunner().invoke(main, ["queues", "--url", address, "--token", "x", "list"])
    assert result.exit_code == 1
    assert f"{address} does not answer" in result.output


def test_a_broken_connection_is_tried_once_more_under_the_same_key() -> None:
    keys: list[str] = []

    def breaks_once(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            raise httpx.ReadError("gone")
        return httpx.Response(200, json={"called": 1})

    api = AdminApi("http://admin.example", "token", httpx.MockTransport(breaks_once))
    assert api.send("POST", "/queues/sale/admit", {"count": 1}) == {"called": 1}
    assert len(set(keys)) == 1
    assert len(keys) == 2


def test_what_is_no_admin_is_said() -> None:
    def other(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, html="<h1>hello</h1>")

    with pytest.raises(click.ClickException, match="is that the admin's address"):
        AdminApi("http://admin.example", "token", httpx.MockTransport(other)).queues()
