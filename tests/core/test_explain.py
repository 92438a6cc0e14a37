"""`explain` says what `decide` does: over configurations, requests and tokens; and says why, in words that are there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from edge.core.config import check_config
from edge.core.crawlers import check_crawlers
from edge.core.errors import ConfigError
from edge.core.explain import explain
from edge.core.explain_words import OUTCOMES, WORDS, Explanation
from edge.core.messages import Forward
from edge.core.question import BadQuestion, question
from tests.core.support import MANUAL, Browser, World, queue

CRAWLER = "66.249.64.7"
_ROUTE = st.fixed_dictionaries(
    {"path": st.sampled_from(["/a", "/a/*", "/a/b/*", "/*", "/A/*", "/c"])},
    optional={
        "host": st.sampled_from(["shop.example.org", "*.example.org"]),
        "methods": st.sampled_from([["GET"], ["POST"]]),
        "ignore_case": st.booleans(),
    },
)
_QUEUE = st.fixed_dictionaries(
    {"routes": st.lists(_ROUTE, min_size=1, max_size=2, unique_by=str), "limits": st.sampled_from([
        {"admit_per_minute": 600}, {"admit_per_minute": 6, "burst": 1}, {"max_active": 1}, MANUAL,
        {"admit_per_minute": 600, "visitor_key": "cookie:account", "visitor_key_required": True},
        MANUAL | {"proof_of_work_bits": 8},
        {"always_queue": True, "admit_per_minute": 60}, {"admit_per_minute": 60, "opens_at": "2999-01-01T00:00:00Z"},
    ])},
    optional={
        "countries": st.sampled_from([["DE"], ["JP", "US"]]),
        "unknown_country": st.sampled_from(["enter", "pass", "refuse"]),
        "other_countries": st.sampled_from(["enter", "pass", "refuse"]),
        "bypass": st.sampled_from([["/a/hook"], ["/a/b/*"]]),
        "return_paths": st.just(["/a/paid"]),
        "crawlers": st.sampled_from(["as_people", "hold", "pass"]),
    },
)  # fmt: skip
_TARGETS = ["/a", "/a/", "/a/b/c", "/A/x", "/c", "/z", "/a/pic.png", "/a/hook", "/a/paid", "/a//b/../hook", "/a/b/%2e%2e/x",
            "/.stanchion/health", "/a/b/x.css"]  # fmt: skip
_HEADERS = [{}, {"origin": "https://pay.example", "access-control-request-method": "GET"}, {"sec-purpose": "prefetch"},
            {"origin": "https://pay.example", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}]  # fmt: skip
_REQUEST = st.tuples(
    st.sampled_from(_TARGETS), st.sampled_from(["shop.example.org", "www.example.org", "other.test"]),
    st.sampled_from(["GET", "POST", "HEAD", "OPTIONS"]), st.sampled_from(["", "DE", "JP", "FR"]), st.sampled_from(_HEADERS),
    st.sampled_from(["198.51.100.1", CRAWLER]), st.booleans(),
)  # fmt: skip


def _values(index: int, given: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in given.items() if key != "limits"}
    return {"id": f"q{index}", "name": f"Q {index}"} | rest | given["limits"]


def _world(queues: list[dict[str, Any]]) -> World:
    values = [_values(index, each) for index, each in enumerate(queues)]
    try:
        check_config({"queues": values})
    except ConfigError:
        assume(False)
    return World(*values)


def _asked(world: World, node: Any, target: str, host: str, method: str, country: str, headers: dict[str, str], client: str,
           cookie: str) -> tuple[Explanation, Any]:  # fmt: skip
    request = question(f"https://{host}{target}", method=method, country=country, client=client, now_ms=world.now_ms,
                       headers=headers | ({"cookie": cookie} if cookie else {}))  # fmt: skip
    request.random = world.hex()
    seen = explain(request, node.context)
    return seen, world.decide(request, node)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.lists(_QUEUE, min_size=1, max_size=3), st.lists(_REQUEST, min_size=1, max_size=8), st.booleans())
def test_the_explanation_is_the_decision(queues: list[dict[str, Any]], requests: list[Any], knows_state: bool) -> None:
    world = _world(queues)
    visitor = Browser(world, country="DE", client="203.0.113.9")
    for _ in range(2):
        visitor.get("/a/b/c")
    crawlers = check_crawlers({"bot": ["66.249.64.0/19"]})
    for target, host, method, country, headers, client, with_cookie in requests:
        node = world.new_node()
        node.context.crawlers = lambda: crawlers
        for scope in {each.scope for each in world.config.queues} if knows_state else ():
            node.context.snapshots.keep(scope, world.now_ms, world.snapshot(scope))
        cookie = visitor.cookie() if with_cookie else ""
        seen, decision = _asked(world, node, target, host, method, country, headers, client, cookie)
        assert all(step.words for step in seen.steps)
        is_through = isinstance(decision, Forward)
        asked = {batch.name.partition(":")[2] for batch in node.batches if batch.name.startswith("snapshot:")}
        if seen.outcome in ("bypass", "admit"):
            assert is_through, (seen, decision)
        elif seen.outcome in ("hold", "refuse", "answer"):
            assert not is_through, (seen, decision)
        else:
            assert seen.outcome == "depends"
        if seen.queue_id:
            assert f"of {seen.queue_id}" in decision.why, (seen, decision.why)
        if seen.outcome == "bypass":
            assert not asked, (seen, asked)
            assert decision.why.partition(";")[0] in ("no rule", "asset or bypass", "preflight", "return from another site",
                                                      "country passes", "a verified crawler")  # fmt: skip
        if seen.outcome == "refuse":
            assert decision.why.startswith("country ")
        if asked:
            assert asked == {seen.queue_id}


def _explained(world: World, url: str, **more: Any) -> Explanation:
    return explain(question(url, now_ms=world.now_ms, **more), world.node.context)


def _codes(explanation: Explanation) -> list[str]:
    return [step.code for step in explanation.steps]


JP, US = queue(id="jp", countries=["JP"]), queue(id="us", countries=["US"], other_countries="enter")


def test_the_country_and_what_decides_it_are_named() -> None:
    world = World(JP, US)
    seen = _explained(world, "https://shop.example.org/launch/x", country="jp")
    assert (seen.outcome, seen.queue_id) == ("depends", "jp")
    assert "Queue jp names the country JP." in [step.words for step in seen.steps]
    seen = _explained(world, "/launch/x", country="FR")
    assert seen.queue_id == "us"
    assert any("other_countries of queue us says enter" in step.words for step in seen.steps)
    seen = _explained(world, "/launch/x")
    assert (seen.outcome, seen.queue_id) == ("refuse", "jp")


def test_the_most_specific_rule_is_named_and_why() -> None:
    world = World(queue(id="wide", routes=[{"path": "/*"}]), queue(id="near", routes=[{"path": "/shop/*"}]),
                  queue(id="host", routes=[{"path": "/*", "host": "a.example.org"}]))  # fmt: skip
    assert _codes(_explained(world, "/shop/x"))[1] == "no_host"
    seen = _explained(world, "https://b.example.org/shop/x")
    assert seen.queue_id == "near"
    assert ("rule_path_length", "near") in [(step.code, step.values.get("queue")) for step in seen.steps]
    assert ("rule_holds", "wide") in [(step.code, step.values.get("queue")) for step in seen.steps]
    assert "rule_host" in _codes(_explained(world, "https://a.example.org/shop/x"))
    assert "rule_only" in _codes(_explained(world, "https://b.example.org/other"))


def test_tokens_are_judged_one_by_one() -> None:
    world = World(queue(**MANUAL))
    browser = Browser(world)
    browser.get()
    browser.get()
    seen = _explained(world, "https://shop.example.org/launch/", headers={"cookie": browser.cookie()})
    assert "by_token" in _codes(seen)
    assert any(step.code == "token_good" and step.values["kind"] == "place" for step in seen.steps)
    kept = browser.cookie()
    mangled = kept[:-3] + "AAA"
    seen = _explained(world, "https://shop.example.org/launch/", headers={"cookie": mangled})
    assert "token_bad" in _codes(seen)
    world.pass_time(30 * 3600)
    later = replace(world.snapshot(), clock_ms=world.now_ms)  # the clock of the scripts has come along
    world.node.context.snapshots.keep("launch", world.now_ms, later)
    assert "token_expired" in _codes(_explained(world, "https://shop.example.org/launch/", headers={"cookie": kept}))


def test_accounts_and_work_are_named() -> None:
    world = World(queue(visitor_key="cookie:account", visitor_key_required=True, proof_of_work_bits=12))
    browser = Browser(world)
    seen = explain(browser.request("/launch/"), world.node.context)
    assert (seen.outcome, [step.code for step in seen.steps[-2:]]) == ("hold", ["account", "sign_in"])
    assert browser.get().state == "sign_in"
    browser.jar["account"] = ("a.b.c", 2**53)
    browser.get("/launch/", "HEAD")
    seen = explain(browser.request("/launch/"), world.node.context)
    assert seen.outcome == "depends"
    assert {"account", "work"} <= {step.code for step in seen.steps}


def test_the_limit_that_holds_people_is_named() -> None:
    world = World(queue(admit_per_minute=None, burst=None, max_active=1))
    first = Browser(world)
    assert first.get().forwarded
    world.node.context.snapshots.keep("launch", world.now_ms, world.snapshot())
    seen = _explained(world, "/launch/")
    assert seen.outcome == "hold"
    assert any(step.code == "full" and "max_active 1" in step.words for step in seen.steps)


@pytest.mark.parametrize(
    ("url", "more", "path"),
    [("", {}, "url"), ("ftp://x/", {}, "url"), ("https://", {}, "url"), ("https://a b/", {}, "url"), ("/x\n", {}, ""),
     ("/a\x01b", {}, "url"), ("/x", {"country": "DEU"}, "country"), ("/x", {"method": "G T"}, "method"),
     ("/x", {"headers": {"a b": "c"}}, "headers"), ("/x", {"headers": {"a": "c\nd"}}, "headers"),
     ("/x", {"headers": {f"h{number}": "" for number in range(51)}}, "headers")],
)  # fmt: skip
def test_a_bad_question_names_what_is_wrong(url: str, more: dict[str, Any], path: str) -> None:
    if not path:
        question(url, **more)
        return
    with pytest.raises(BadQuestion) as caught:
        question(url, **more)
    assert caught.value.path == path


def test_addresses_are_read_as_browsers_read_them() -> None:
    request = question("HTTPS://user@Bücher.example:8443/straße?q=ü#top")
    assert (request.scheme, request.host) == ("https", "xn--bcher-kva.example:8443")
    assert request.target == "/stra%C3%9Fe?q=%C3%BC"
    assert question("shop.example.org/launch").host == "shop.example.org"
    assert question("https://[::1]:80?x").target == "/?x"
    assert question("/x", country="XX").country == ""


def test_every_code_has_words_and_every_outcome_too() -> None:
    assert all(words.endswith(".") for words in (*WORDS.values(), *OUTCOMES.values()))
