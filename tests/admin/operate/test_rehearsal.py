"""Rehearsals: the sale that is held, one at a time, in a process of its own that can be ended; and a real one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from admin.limits import BadValue
from admin.operate.rehearsal import Rehearsals
from admin.operate.rehearsal_report import report_of
from admin.operate.rehearsal_sale import NUMBERS, check, sale_text
from admin.queue_view import QueueView
from admin.store import Limits
from sim.sale_file import load_sale
from tests.admin.conftest import Admin, Browser, text_of
from tests.admin.world import config_text, queue_json, queues_of
from tests.needs import needs

PATH = "/queues/sale/rehearsals"
_STANDS_IN = """
import sys, time, json, pathlib, os
pathlib.Path(os.environ["PIDS"]).write_text(str(os.getpid()))
file, _json, figures, tell = sys.argv[1:]
assert (_json, tell) == ("--json", "--tell")
sale = pathlib.Path(file).read_text()
print("progress 250", file=sys.stderr, flush=True)
if "seed = 666" in sale:
    sys.exit("a law is broken: nobody knows which")
while "seed = 555" in sale:
    time.sleep(0.05)
pathlib.Path(figures).write_text(json.dumps({"funnel": {"came_in": 7}, "curves": {"waiting": [[0, 0], [60, 5]]}}))
print("In words: all is well")
"""


@pytest.fixture
def stand_in(admin: Admin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The simulation is a small program that says what it is told; the file has its process id."""
    program, pids = tmp_path / "stands_in.py", tmp_path / "pid"
    program.write_text(_STANDS_IN)
    monkeypatch.setenv("PIDS", str(pids))
    monkeypatch.setattr(admin.app.state.desk.operate.rehearsals, "_command", (sys.executable, str(program)))
    admin.start()
    return pids


def until(condition: Callable[[], bool], within_s: float = 20) -> None:
    ends = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


def begin(admin: Admin, **values: Any) -> dict[str, Any]:
    answer = admin.api("POST", PATH, json=values)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ended(admin: Admin, rehearsal_id: str) -> dict[str, Any]:
    until(lambda: admin.api("GET", f"{PATH}/{rehearsal_id}").json()["status"] != "running")
    found: dict[str, Any] = admin.api("GET", f"{PATH}/{rehearsal_id}").json()
    return found


def test_the_sale_is_one_that_the_simulation_takes(tmp_path: Path) -> None:
    settings = queue_json("sale", name='The "big" one\\', admit_per_minute=60, max_active=9, claim_within_s=45,
                          lanes=[{"name": "all", "share": 9}, {"name": "vip", "share": 1, "invite": True}])  # fmt: skip
    queue = queues_of(config_text(settings))[0]
    view = QueueView(queue, "open", "e", 0, 0, 0, 0, 0, 0, Limits(90, None, 9, None, False, False), 1)
    file = tmp_path / "sale.toml"
    file.write_text(sale_text(view, check({"people": 50, "seed": 9})))
    sale = load_sale(file)
    assert (sale.seed, sale.arrivals[0].people, sale.people.closers_percent) == (9, 50, 20)
    rehearsed = sale.queues[0]
    assert (rehearsed.admit_per_minute, rehearsed.claim_within_s, len(rehearsed.lanes)) == (90, 45, 2)


@pytest.mark.parametrize(("name", "bounds"), NUMBERS.items())
def test_every_number_has_bounds(name: str, bounds: tuple[int, int, int]) -> None:
    for wrong in (bounds[0] - 1, bounds[1] + 1, 1.5, "7", None, True):
        with pytest.raises(BadValue, match=f"{name}: must be a whole number from {bounds[0]} to {bounds[1]}"):
            check({name: wrong})


def test_what_means_nothing_is_refused() -> None:
    for given, says in (({"shape": "star"}, "must be one of"), ({"colour": 1}, "is not known here"),
                        ({"arrive_within_s": 600, "lasts_s": 600}, "some arrive after the end")):  # fmt: skip
        with pytest.raises(BadValue, match=says):
            check(given)


def test_one_is_held_and_its_report_is_kept(admin: Admin, stand_in: Path) -> None:
    made = begin(admin, people=50)
    assert (made["status"], made["by"]) == ("running", "token")
    told = ended(admin, made["id"])
    assert (told["status"], told["done_percent"], told["report"]["data"]["funnel"]) == ("done", 100, {"came_in": 7})
    assert told["report"]["text"] == "In words: all is well\n"
    assert [one["id"] for one in admin.api("GET", PATH).json()["rehearsals"]] == [made["id"]]
    report = report_of(told["report"])
    assert report is not None
    assert (report.funnel, report.waiting.path, report.claims.path) == ([("came in", 7)], "M0 100 L900 4", "")


def test_one_at_a_time_with_progress_and_it_can_be_ended(admin: Admin, stand_in: Path) -> None:
    made = begin(admin, seed=555)
    until(lambda: admin.api("GET", f"{PATH}/{made['id']}").json()["done_percent"] == 25)
    assert admin.api("POST", PATH, json={}).status_code == 409
    pid = int(stand_in.read_text())
    assert admin.api("DELETE", f"{PATH}/{made['id']}").status_code == 204
    assert ended(admin, made["id"])["status"] == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert admin.api("DELETE", f"{PATH}/{made['id']}").status_code == 409
    assert ended(admin, begin(admin)["id"])["status"] == "done"


def test_one_that_fails_says_what_the_simulation_said(admin: Admin, stand_in: Path) -> None:
    told = ended(admin, begin(admin, seed=666)["id"])
    assert (told["status"], told["report"]) == ("failed", {"problem": "a law is broken: nobody knows which"})


def test_bad_asks_are_named(admin: Admin) -> None:
    assert admin.api("POST", PATH, json={}).status_code == 409, "it never ran"
    admin.start()
    assert admin.api("POST", PATH, json={"people": 10**9}).json()["errors"][0]["at"] == "people"
    assert admin.api("POST", PATH, json=[]).status_code == 422
    assert admin.api("GET", f"{PATH}/none").status_code == 404


def test_from_the_console(admin: Admin, browser: Browser, stand_in: Path) -> None:
    page = "/rehearsals/sale"
    form = {name: str(default) for name, (_low, _high, default) in NUMBERS.items()} | {"shape": "rush"}
    wrong = browser.send(page, f"{page}/begin", **{**form, "people": "many"})
    assert (wrong.status_code, "whole number from 10" in wrong.text, 'value="many"' in wrong.text) == (422, True, True)
    made = browser.send(page, f"{page}/begin", **{**form, "seed": "555"})
    assert made.status_code == 303
    where = made.headers["location"]
    assert "It runs" in text_of(browser.get(where))
    assert browser.send(where, f"{where}/cancel").status_code == 303
    assert "It was cancelled." in text_of(browser.get(where))
    assert "cancelled" in text_of(browser.get(page))
    where = browser.send(page, f"{page}/begin", **form).headers["location"]
    until(lambda: "It runs" not in browser.get(where))
    assert "came in 7" in text_of(browser.get(where))


def test_a_real_one(admin: Admin) -> None:
    needs("redis")
    assert isinstance(admin.app.state.desk.operate.rehearsals, Rehearsals)
    admin.start()
    told = ended(admin, begin(admin, people=10, arrive_within_s=5, lasts_s=120, visit_s=5)["id"])
    assert told["status"] == "done", told["report"]
    assert "wait until called" in told["report"]["text"]
    assert admin.api("GET", "/queues/sale").json()["length"] == 0, "the queue itself is not touched"
