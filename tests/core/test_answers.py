"""The gate's own answers: headers that keep them out of every cache, slots filled, and the answer without a configuration."""

from __future__ import annotations

import json

import pytest

from edge.core import answers, pages, problems
from edge.core.admission import WaitRange
from edge.core.messages import Request, Respond
from edge.core.standing import Standing
from tests.core.support import HTML, JSON, START_MS, World

WORLD = World(start=False)
QUEUE = WORLD.queue()


def request(method: str = "GET", accept: str = HTML, target: str = "/launch/?a=1&b=2") -> Request:
    return Request(method, target, "https", "shop", "192.0.2.1", "", START_MS, "5a" * 32, "req-7", {"accept": accept})


def names(answer: Respond) -> list[str]:
    return [name for name, _ in answer.headers]


@pytest.mark.parametrize("accept", [HTML, JSON])
def test_no_cache_anywhere_keeps_an_answer_of_ours(accept: str) -> None:
    where = Standing(QUEUE, "waiting", START_MS)
    for answer in (
        answers.held(where, request(accept=accept), WORLD.node.context, "why"),
        answers.status_answer(where, request(accept=accept), "why"),
        answers.problem(request(), 404, "x", "y"),
        answers.without_configuration(request(accept=accept), "why", 10),
        answers.json_answer(200, {}, "why"),
    ):
        said = dict(answer.headers)
        assert said["Cache-Control"] == "private, no-store"
        assert said["CDN-Cache-Control"] == said["Surrogate-Control"] == "no-store"
        assert said["X-Robots-Tag"] == "noindex"
        assert len(names(answer)) == len(set(names(answer)))


def test_every_slot_of_the_list_is_filled_or_meant_to_be_empty() -> None:
    where = Standing(QUEUE, "waiting", START_MS, "e1", 17, 12, WaitRange(119, 300), 7, 33)
    values = answers._values(where, request(), "nonce")
    assert set(pages.SLOTS) == set(values)
    assert values["position"] == "17"
    assert (values["wait_known"], values["wait_low_min"], values["wait_high_min"]) == ("yes", "1", "5")
    assert values["poll_s"] == values["retry_s"] == values["refresh_s"] == "7"
    assert values["updated_iso"] == "2026-09-21T14:13:20Z"
    assert values["updated_utc"] == "14:13:20"
    assert values["status_url"] == "/.stanchion/launch/status"
    assert values["target_url"] == "/launch/?a=1&b=2"
    assert values["request_id"] == "req-7"
    assert (values["grace"], values["grace_unit"]) == ("24", "h")
    assert (values["claim_left_s"], values["claim_left_clock"]) == ("33", "0:33")
    assert json.loads(values["status_json"])["position"] == 17


def test_before_the_opening_the_time_is_said_by_the_clock_that_opens() -> None:
    where = Standing(QUEUE, "prequeue", START_MS + 700, opens_at_ms=START_MS + 90_000, arrival=4, message="Doors at noon")
    values = answers._values(where, request(), "n")
    assert (values["opens_iso"], values["opens_utc"]) == ("2026-09-21T14:14:50Z", "2026-09-21 14:14")
    assert (values["opens_in_s"], values["arrival_number"], values["message"]) == ("90", "4", "Doors at noon")
    late = Standing(QUEUE, "prequeue", START_MS, opens_at_ms=START_MS - 1)
    assert answers._values(late, request(), "n")["opens_in_s"] == "0"


def test_minutes_are_rounded_to_the_honest_side() -> None:
    def minutes(low_s: int, high_s: int) -> tuple[str, str]:
        values = answers._values(Standing(QUEUE, "waiting", 0, wait=WaitRange(low_s, high_s)), request(), "n")
        return values["wait_low_min"], values["wait_high_min"]

    assert minutes(0, 0) == ("0", "1")
    assert minutes(59, 61) == ("0", "2")
    assert minutes(60, 60) == ("1", "1")
    assert minutes(3600, 5401) == ("60", "91")
    values = answers._values(Standing(QUEUE, "waiting", 0), request(), "n")
    assert (values["wait_known"], values["wait_low_min"], values["wait_high_min"]) == ("no", "", "")


@pytest.mark.parametrize(
    ("low_s", "high_s", "said"),
    [(480, 720, ("8", "12", "min")), (0, 90, ("0", "2", "min")), (3540, 7200, ("59", "120", "min")),
     (3600, 5400, ("1", "2", "h")), (9000, 14_401, ("2", "5", "h"))],
)  # fmt: skip
def test_a_long_wait_is_said_in_hours(low_s: int, high_s: int, said: tuple[str, str, str]) -> None:
    values = answers._values(Standing(QUEUE, "waiting", 0, wait=WaitRange(low_s, high_s)), request(), "n")
    assert (values["wait_low"], values["wait_high"], values["wait_unit"]) == said


def test_without_javascript_the_first_refresh_comes_after_two_seconds_and_none_sooner() -> None:
    assert answers._values(Standing(QUEUE, "candidate", 0, poll_s=1), request(), "n")["refresh_s"] == "2"
    assert answers._values(Standing(QUEUE, "candidate", 0, poll_s=30), request(), "n")["refresh_s"] == "30"


@pytest.mark.parametrize(
    ("asked", "offered", "shown"),
    [
        ("ja,en;q=0.5", ("en", "ja"), "ja"),
        ("fr", ("en", "ja"), "en"),
        ("", ("ja", "en"), "en"),  # the queue's own language
        ("fr", ("ja", "de"), "ja"),  # the pages have it not: the first on offer
        ("zh-TW", ("en", "zh-Hans", "zh-Hant"), "zh-Hant"),
        ("ja", (), "en"),
        (";;q=" + "x," * 5000, ("en",), "en"),
    ],
)
def test_the_page_is_in_the_language_of_the_visitor(asked: str, offered: tuple[str, ...], shown: str) -> None:
    context = World(start=False).node.context
    seen: list[str] = []

    def page(name: str, language: str, state: str) -> pages.Page:
        seen.append(language)
        return pages.compile_page("<p>x</p>")

    context.page, context.offered = page, lambda name: offered
    asking = request()
    asking.headers = {"accept": HTML, "accept-language": asked}
    answer = answers.held(Standing(QUEUE, "waiting", START_MS), asking, context, "why")
    assert seen == [shown]
    assert dict(answer.headers)["Content-Language"] == shown
    assert "Accept-Language" in dict(answer.headers)["Vary"]


@pytest.mark.parametrize(("chosen", "shown"), [("ja", "ja"), ("fr", "en"), ("<x>", "en"), ("", "en")])
def test_a_language_chosen_on_the_page_goes_before_the_header(chosen: str, shown: str) -> None:
    context = World(start=False).node.context
    context.page, context.offered = lambda name, language, state: pages.compile_page("<p>x</p>"), lambda name: ("en", "ja")
    asking = request()
    asking.headers = {"accept": HTML, "accept-language": "en", "cookie": f"a=1; stanchion-.language={chosen}"}
    answer = answers.held(Standing(QUEUE, "waiting", START_MS), asking, context, "why")
    assert dict(answer.headers)["Content-Language"] == shown
    assert context.cookies.read(asking.headers["cookie"]).others == "a=1", "the site never sees it"


def test_the_builtin_page_says_that_it_is_english() -> None:
    context = World(start=False).node.context
    context.page, context.offered = lambda page, language, wanted: pages.builtin(wanted), lambda name: ("ja",)
    answer = answers.held(Standing(QUEUE, "waiting", START_MS), request(), context, "why")
    assert dict(answer.headers)["Content-Language"] == "en"


@pytest.mark.parametrize("state", pages.STATES)
def test_the_builtin_page_serves_every_state(state: str) -> None:
    where = Standing(QUEUE, "waiting", START_MS, page=state)
    context = World(start=False).node.context
    context.page = lambda page, language, wanted: pages.builtin(wanted)
    answer = answers.held(where, request(), context, "why")
    assert "{{" not in answer.text
    assert dict(answer.headers)["Content-Security-Policy"].count("nonce-") == 2


@pytest.mark.parametrize(("method", "words"), [("GET", "right back"), ("POST", "not sent"), ("HEAD", "")])
def test_without_a_configuration_the_answer_is_a_page_too(method: str, words: str) -> None:
    answer = answers.without_configuration(request(method), "why", 10)
    assert answer.status == 503
    assert dict(answer.headers)["Retry-After"] == "10"
    assert words in answer.text
    assert (answer.text == "") is (method == "HEAD")


def test_without_a_configuration_a_script_gets_the_status_with_every_key() -> None:
    answer = answers.without_configuration(request(accept=JSON), "why", 10)
    assert json.loads(answer.text) == {
        "queue": None, "state": "unavailable", "position": None, "ahead": None, "wait_s": None, "poll_s": 10, "epoch": None,
        "now": START_MS, "type": "about:blank", "title": "Service Unavailable", "status": 503, "error": "unavailable",
        "detail": problems.UNAVAILABLE,
        "claim_left_s": None, "opens_at": None, "message": None, "arrival": None, "draw": None, "lane": None,
        "sign_in": None, "challenge": None,
    }  # fmt: skip
