"""Which queues guard a request: the most specific rule, every spelling, exemptions, countries."""

from __future__ import annotations

import random
from typing import Any

import pytest

from edge.core.config import check_config
from edge.core.model import Queue
from edge.core.routing import Match, Router, choose_by_country
from edge.core.rules import Rule
from edge.core.spelling import path_of, spellings
from tests.core.support import queue

SHOP = queue(id="shop", routes=[{"path": "/*"}])
SALE = queue(id="sale", routes=[{"path": "/sale/*"}], bypass=["/sale/open/*", "/sale/robots.txt"], return_paths=["/sale/paid/*"])
DEEP = queue(id="deep", routes=[{"path": "/sale/deep/*"}, {"path": "/sale/x"}])
HOST = queue(id="host", routes=[{"path": "/*", "host": "vip.example.org"}])


def router(*queues: dict[str, Any]) -> Router:
    return Router(check_config({"queues": list(queues)}))


def ids(match: Match | None) -> list[list[str]]:
    return [[each.id for each in group] for group in match.groups] if match else []


@pytest.mark.parametrize(
    ("target", "host", "expected"),
    [
        ("/", "a.org", [["shop"]]),
        ("/sale/", "a.org", [["sale"]]),
        ("/sale", "a.org", [["sale"]]),
        ("/sale/deep/er?x=/sale/", "a.org", [["deep"]]),
        ("/sale/x", "a.org", [["deep"]]),
        ("/sale/x/", "a.org", [["sale"]]),
        ("/sale/", "VIP.example.org:443", [["host"]]),
        ("http://vip.example.org/sale/", "vip.example.org", [["host"]]),
        ("http://a.org/sale/", "a.org", [["sale"]]),
    ],
)  # fmt: skip
def test_the_most_specific_rule_decides(target: str, host: str, expected: list[list[str]]) -> None:
    assert ids(router(SHOP, SALE, DEEP, HOST).match(host, target, "GET")) == expected
    assert ids(router(HOST, DEEP, SALE, SHOP).match(host, target, "GET")) == expected


def test_no_rule_no_match() -> None:
    assert router(SALE).match("a.org", "/about", "GET") is None
    assert router(SALE).match("a.org", "*", "OPTIONS") is None
    assert router().match("a.org", "/", "GET") is None


def test_the_case_of_a_method_is_no_way_round() -> None:
    only_get = router(queue(routes=[{"path": "/x", "methods": ["GET"]}]))
    assert only_get.match("a", "/x", "get")
    assert only_get.match("a", "/x", "HEAD")
    assert only_get.match("a", "/x", "POST") is None


def test_where_spellings_lead_to_different_queues_both_guard() -> None:
    sent = router(SHOP, SALE, DEEP).match("a.org", "/sale/deep/..%2f..%2f..%2fother", "GET")
    assert ids(sent) == [["deep"], ["shop"]]
    assert ids(router(SALE, queue(id="b", routes=[{"path": "/b/*"}])).match("a", "/b/..%2fsale/", "GET")) == [["sale"], ["b"]]


@pytest.mark.parametrize(
    ("target", "method", "is_exempt"),
    [
        ("/sale/a.css", "GET", True),
        ("/sale/a.CSS?v=1", "HEAD", True),
        ("/sale/a.css", "POST", False),
        ("/sale/a.html", "GET", False),
        ("/sale/.css", "GET", False),  # a name that is only an extension is none
        ("/sale/css", "GET", False),
        ("/sale/buy;a.css", "GET", False),
        ("/sale/buy%3ba.css", "GET", False),
        ("/sale/buy%3fa.css", "GET", False),
        ("/sale/buy%00.css", "GET", False),
        ("/sale/a.css/../buy", "GET", False),
        ("/sale/buy?x.css", "GET", False),
        ("/sale/buy#x.css", "GET", False),
        ("/sale/a.css%2f..%2fbuy", "GET", False),
        ("/sale/a%2ecss", "GET", True),
        ("/sale/open/x", "POST", True),
        ("/sale/open/../buy", "GET", False),
        ("/sale/open/..%2fbuy", "GET", False),
        ("/sale/open%2fx", "GET", True),
        ("//sale/open/x", "GET", False),  # a server may take `sale` for a host
        ("/sale//open/x", "GET", False),
        ("/sale/robots.txt", "GET", True),
        ("/sale/robots.txt/x", "GET", False),
        ("/sale/Open/x", "GET", False),
    ],
)  # fmt: skip
def test_an_exemption_counts_only_if_every_spelling_has_it(target: str, method: str, is_exempt: bool) -> None:
    match = router(SALE).match("a.org", target, method)
    assert match is not None
    assert match.is_all_exempt is is_exempt
    assert ("sale" in match.exempt) is is_exempt


def test_an_exemption_of_one_country_is_not_the_other_ones() -> None:
    one = queue(id="jp", countries=["JP"], bypass=["/launch/free"])
    match = router(one, queue(id="us", countries=["US"])).match("a", "/launch/free", "GET")
    assert match is not None
    assert match.exempt == {"jp"}
    assert not match.is_all_exempt


def test_return_paths_in_every_spelling() -> None:
    rules = router(SALE)

    def returns(target: str) -> frozenset[str]:
        match = rules.match("a", target, "POST")
        assert match is not None
        return match.returns

    assert returns("/sale/paid/3?x=1") == {"sale"}
    assert returns("/sale/paid/..%2fbuy") == set()
    assert returns("/sale/other") == set()


def test_the_rule_is_named_in_words() -> None:
    match = router(SALE, HOST).match("vip.example.org", "/sale/", "GET")
    assert match is not None
    assert match.rules == {"host": "vip.example.org/*"}


JP = queue(id="jp", countries=["JP"])
US = queue(id="us", countries=["US", "CA"])


@pytest.mark.parametrize(
    ("queues", "country", "expected"),
    [
        ((JP, US), "JP", "jp"),
        ((JP, US), "CA", "us"),
        ((JP, US), "DE", "refuse"),
        ((JP, US), "", "refuse"),
        ((JP, US | {"other_countries": "enter"}), "DE", "us"),
        ((JP, US | {"other_countries": "enter"}), "", "refuse"),
        ((JP, US | {"unknown_country": "enter"}), "", "us"),
        ((JP, US | {"unknown_country": "enter"}), "DE", "refuse"),
        ((JP | {"other_countries": "pass"}, US), "DE", "pass"),
        ((JP | {"unknown_country": "pass"}, US), "", "pass"),
        ((queue(id="all"),), "DE", "all"),
        ((queue(id="all"),), "", "all"),
    ],
)
def test_countries_choose_within_a_rule(queues: Any, country: str, expected: str) -> None:
    rules = router(*queues)
    match = rules.match("a", "/launch/", "GET")
    assert match is not None
    chosen = choose_by_country(match.groups[0], country)
    assert (chosen.id if isinstance(chosen, Queue) else chosen) == expected


def test_a_queue_asked_for_by_name_takes_whom_its_rules_take() -> None:
    config = check_config({"queues": [JP, US | {"other_countries": "enter"}, queue(id="all", routes=[{"path": "/all"}])]})
    rules, (jp, us, everyone) = Router(config), config.queues
    assert rules.entry(jp, "JP") is jp
    assert rules.entry(jp, "US") == "refuse"
    assert rules.entry(jp, "DE") == "refuse"
    assert rules.entry(us, "DE") is us
    assert rules.entry(us, "JP") == "refuse"
    assert rules.entry(us, "") == "refuse"
    assert rules.entry(everyone, "") is everyone
    two = check_config({"queues": [JP | {"routes": [{"path": "/launch/*"}, {"path": "/jp/*"}], "other_countries": "pass"}, US]})
    assert Router(two).entry(two.queues[0], "US") == "pass"  # by its second rule
    assert Router(two).entry(two.queues[0], "JP") is two.queues[0]


def test_the_memory_is_bounded_and_long_targets_are_not_kept() -> None:
    rules = router(SALE)
    for number in range(6000):
        rules.match("a", f"/sale/{number}", "GET")
    assert len(rules._cache) <= 4096
    before = len(rules._cache)
    rules.match("a", "/sale/" + "x" * 300, "GET")
    rules.match("a" * 300, "/sale/", "GET")
    rules.match("a", "/sale/", "G" * 300)
    rules.match("a", "/x/..%2fsale/" + "y", "GET")
    assert len(rules._cache) == before
    assert ids(rules.match("a", "/sale/0?new", "GET")) == [["sale"]]


_TARGETS = ("/", "/a", "/A", "/a/", "/a/b", "/A/B/c", "/b", "/ab/", "//a/b", "/x/../a/b", "/%61/b", "/c/d;e/f")


@pytest.mark.parametrize("seed", range(30))
def test_the_index_finds_what_a_look_at_every_rule_finds(seed: int) -> None:
    dice = random.Random(seed)
    paths = dice.sample(["/*", "/a*", "/a/*", "/a/b", "/a/b/*", "/", "/b", "/ab/*", "/c/d*"], 5)
    routes = [{"path": path, "ignore_case": dice.random() < 0.4} for path in paths]
    config = check_config({"queues": [queue(id=f"q{number}", routes=[route]) for number, route in enumerate(routes)]})
    for target in _TARGETS:
        expected = set()
        for path in spellings(path_of(target)):
            rules = [(Rule.of(route), each.id) for each in config.queues for route in each.routes]
            held = [(rule.rank, owner) for rule, owner in rules if rule.holds("h", path, "GET")]
            expected |= {owner for rank, owner in held if rank == max(held)[0]}
        assert {owner for group in ids(Router(config).match("h", target, "GET")) for owner in group} == expected
