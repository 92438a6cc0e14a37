"""Proof of work: what solves a challenge, and that a place is given for nothing less."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core import commands
from edge.core.config import check_config
from edge.core.pages import compile_page
from edge.core.work import COUNT, Challenge, challenge_for, is_solved, solve
from tests.core.support import HTML, JSON, MANUAL, START_MS, Browser, Got, World, busy, only, queue

WORKING = MANUAL | {"proof_of_work_bits": 8}
TASK = Challenge("a-candidate", 5)
SOLUTION = solve(TASK)


def working(**values: Any) -> World:
    return World(queue(**WORKING | values))


def task_of(got: Got) -> Challenge:
    return Challenge(**got.json["challenge"])


def with_work(browser: Browser, solution: str, **headers: str) -> Got:
    return browser.status_as({"stanchion-work": solution, **headers})


# --- the arithmetic -----------------------------------------------------------------------------------------------------


def test_a_solution_is_eight_rising_numbers_whose_hash_begins_with_zeros() -> None:
    assert is_solved(TASK, SOLUTION)
    assert is_solved(TASK, SOLUTION.replace(",", ", "))
    # By sha256sum that of "a-candidate:14" begins with 05239c51, and none before it with five zero bits.
    assert SOLUTION.split(",")[0] == "14"


@pytest.mark.parametrize("wrong", [
    "", "0", SOLUTION + ",999999", SOLUTION.rpartition(",")[0], ",".join([SOLUTION.split(",")[0]] * COUNT),
    ",".join(reversed(SOLUTION.split(","))), SOLUTION.replace(",", ";"), "," * (COUNT - 1), SOLUTION.replace(",", ",-", 1),
    "²," + SOLUTION.partition(",")[2], "1" * 5000, SOLUTION.replace(",", ",0x", 1), "9" * 16 + "," + SOLUTION.partition(",")[2],
])  # fmt: skip
def test_nothing_else_is_one(wrong: str) -> None:
    assert not is_solved(TASK, wrong)


@given(st.text(max_size=80))
def test_no_header_is_an_error(said: str) -> None:
    assert not is_solved(TASK, said)


def test_it_is_bound_to_the_candidate_and_to_the_difficulty() -> None:
    assert not is_solved(Challenge("another", TASK.bits), SOLUTION)
    assert not is_solved(Challenge(TASK.text, 20), SOLUTION)
    each, plain = (check_config({"queues": [queue(**values)]}).queues[0] for values in (WORKING, {}))
    assert challenge_for(each, "v") == Challenge("v", 5, 8)
    assert challenge_for(plain, "v") is None


# --- the queue ----------------------------------------------------------------------------------------------------------


def test_a_place_is_given_for_the_solution_and_for_nothing_less() -> None:
    here = working()
    browser, thief = Browser(here, accept=JSON), Browser(here, accept=JSON)
    task = task_of(browser.get())
    again = browser.status()
    assert (again.state, task_of(again), again.json["poll_s"]) == ("candidate", task, 10)
    assert task_of(thief.get()) != task
    for said in ("", "1,2,3", solve(task_of(thief.status())), SOLUTION):
        assert with_work(browser, said).state == "candidate"
    assert here.snapshot().length == 0
    placed = with_work(browser, solve(task))
    assert (placed.state, placed.json["position"], placed.json["challenge"]) == ("waiting", 1, None)
    assert browser.status().json["position"] == 1, "once is enough"
    assert with_work(thief, solve(task)).state == "candidate"
    assert here.snapshot().length == 1


def test_who_waits_for_a_cookie_costs_redis_nothing() -> None:
    here = working()
    browser = Browser(here)
    browser.get()
    for _ in range(5):
        here.pass_time(0.1)
        got = browser.status_as({"stanchion-work": SOLUTION})
        assert "join" not in got.calls
        assert got.calls in ([], ["snapshot"])


def test_the_solution_counts_at_the_door_too() -> None:
    here = working()
    browser = Browser(here, accept=JSON)
    task = task_of(browser.get())
    got = browser.get(headers={"stanchion-work": solve(task)})
    assert (got.state, got.json["position"]) == ("waiting", 1)


def test_a_client_without_cookies_works_too() -> None:
    here = working()
    browser = Browser(here, accept=JSON)
    first = browser.get(headers={"stanchion-token": "new"})
    token = first.header("Stanchion-Token")
    got = browser.get(headers={"stanchion-token": token, "stanchion-work": solve(task_of(first))})
    assert (got.state, got.json["position"]) == ("waiting", 1)


def test_the_page_says_that_there_is_a_task() -> None:
    here = working()
    browser = Browser(here, accept=HTML)
    here.pages = lambda *key: compile_page("<body>{{state}} {{work}}</body>")
    assert "candidate yes" in browser.get().body
    plain = World(queue(**MANUAL))
    plain.pages = here.pages
    assert "candidate no" in Browser(plain).get().body


def test_a_closed_queue_says_so_before_any_work() -> None:
    here = working()
    browser = Browser(here)
    browser.get()
    here.run(commands.control("launch", "close", here.hex(), here.hex()))
    here.pass_time(1)
    assert browser.status().state == "closed"


def test_nobody_works_while_nobody_has_to_queue() -> None:
    here = World(queue(proof_of_work_bits=18, admit_per_minute=600, burst=50))
    assert Browser(here).get().forwarded is not None


@pytest.mark.parametrize(("above", "works"), [(None, True), (3, True), (100, False)])
def test_with_always_queue_everyone_works_below_a_threshold_nobody(above: int | None, works: bool) -> None:
    here = World(queue(proof_of_work_bits=18, rate=600, burst=50, always_queue=True, start_queueing_above=above))
    for number in range(5):
        Browser(here, client=f"198.51.{number}.1").get()
        here.pass_time(0.6)
    got = Browser(here).get(headers={"accept": JSON})
    assert (got.forwarded is None and got.json["challenge"] is not None) == works


def test_with_an_account_the_work_is_asked_for_all_the_same() -> None:
    secret = "a secret of the shop with 32 bytes and more"
    here = working(visitor_key="cookie:account", visitor_key_required=True)
    here.node.context.secret = {"lane:launch": secret}.get
    browser = Browser(here, accept=JSON)
    assert browser.get().state == "sign_in"
    browser.jar["account"] = (jwt.encode({"sub": "anna", "exp": START_MS // 1000 + 600}, secret, "HS256"), 2**53)
    task = task_of(browser.get())
    assert browser.status().state == "candidate"
    assert with_work(browser, solve(task)).json["position"] == 1


def test_an_overloaded_store_keeps_the_task() -> None:
    here = working()
    browser = Browser(here, accept=JSON)
    task = task_of(browser.get())
    here.fault = only("join", busy)
    got = with_work(browser, solve(task))
    assert (got.status, got.state, task_of(got)) == (429, "candidate", task)
    here.fault = None
    assert with_work(browser, solve(task)).json["position"] == 1
