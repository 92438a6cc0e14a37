"""One rule: what it holds, how specific it is, and when two are the same."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.model import Route
from edge.core.rules import Rule, covers, is_same_rule, path_matches


def rule(path: str, host: str = "*", methods: tuple[str, ...] = (), ignore_case: bool = False) -> Rule:
    return Rule.of(Route(host, path, methods, ignore_case))


@pytest.mark.parametrize(
    ("pattern", "held", "free"),
    [
        ("/launch/*", ["/launch", "/launch/", "/launch/a/b"], ["/launc", "/launchx", "/Launch/", "/", "/a/launch/"]),
        ("/launch*", ["/launch", "/launchx", "/launch/a"], ["/launc", "/"]),
        ("/launch", ["/launch"], ["/launch/", "/launch/a"]),
        ("/*", ["/", "/a", "/a/b"], ["*"]),
        ("/", ["/"], ["/a"]),
    ],
)  # fmt: skip
def test_what_a_pattern_holds(pattern: str, held: list[str], free: list[str]) -> None:
    assert all(path_matches(pattern, path) for path in held)
    assert not any(path_matches(pattern, path) for path in free)


def test_an_exemption_needs_every_spelling() -> None:
    assert covers(("/a/*", "/b"), ("/a/x", "/b"))
    assert not covers(("/a/*",), ("/a/x", "/b"))
    assert not covers((), ())


@pytest.mark.parametrize(
    ("values", "host", "path", "method", "is_held"),
    [
        ({"path": "/sale/*"}, "shop", "/Sale/x", "GET", False),
        ({"path": "/sale/*", "ignore_case": True}, "shop", "/SALE/x", "GET", True),
        ({"path": "/SALE/*", "ignore_case": True}, "shop", "/sale", "GET", True),
        ({"path": "/x", "host": "shop.org"}, "shop.org", "/x", "GET", True),
        ({"path": "/x", "host": "shop.org"}, "a.shop.org", "/x", "GET", False),
        ({"path": "/x", "host": "*.shop.org"}, "a.b.shop.org", "/x", "GET", True),
        ({"path": "/x", "host": "*.shop.org"}, "shop.org", "/x", "GET", False),
        ({"path": "/x", "host": "*.shop.org"}, "evilshop.org", "/x", "GET", False),
        ({"path": "/x", "host": "shop.org"}, "", "/x", "GET", True),  # HTTP/1.0 without a host: no way round
        ({"path": "/x", "methods": ("POST",)}, "shop", "/x", "GET", False),
        ({"path": "/x", "methods": ("GET",)}, "shop", "/x", "HEAD", True),  # who may not GET may not HEAD
        ({"path": "/x", "methods": ("POST",)}, "shop", "/x", "HEAD", False),
        ({"path": "/x", "methods": ("GET",)}, "shop", "/x", "POST", False),
    ],
)  # fmt: skip
def test_what_a_rule_holds(values: dict[str, Any], host: str, path: str, method: str, is_held: bool) -> None:
    assert rule(**values).holds(host, path, method) is is_held


def test_the_more_specific_rule_ranks_higher() -> None:
    ordered = [
        rule("/*"), rule("/a*"), rule("/a/*"), rule("/a/b*"), rule("/a/b/*"), rule("/a/b/c"),
        rule("/*", host="*.org"), rule("/*", host="*.example.org"), rule("/a/b/c", host="*.example.org"),
        rule("/*", host="a.org"), rule("/a", host="a.org"), rule("/a", host="a.org", methods=("GET",)),
    ]  # fmt: skip
    ranks = [each.rank for each in ordered]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


def test_an_exact_path_beats_a_pattern_of_its_length() -> None:
    assert rule("/ab").rank > rule("/a*").rank
    assert rule("/a/").rank > rule("/a/*").rank


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (rule("/a/*"), rule("/a/*"), True),
        (rule("/a/*"), rule("/%61//*"), True),
        (rule("/a/*"), rule("/A/*"), False),
        (rule("/a/*"), rule("/A/*", ignore_case=True), True),
        (rule("/a", host="x.org"), rule("/a"), False),
        (rule("/a", methods=("GET",)), rule("/a", methods=("GET", "POST")), True),
        (rule("/a", methods=("GET",)), rule("/a", methods=("POST",)), False),
        (rule("/a", methods=("GET",)), rule("/a"), False),
    ],
)
def test_when_two_rules_are_the_same(one: Rule, other: Rule, is_same: bool) -> None:
    assert is_same_rule(one, other) is is_same_rule(other, one) is is_same


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"path": "/a/*"}, "/a/*"),
        ({"path": "/a", "host": "shop.org"}, "shop.org/a"),
        ({"path": "/a", "host": "shop.org", "methods": ("GET", "POST")}, "GET POST shop.org/a"),
    ],
)
def test_a_rule_in_words(values: dict[str, Any], words: str) -> None:
    assert rule(**values).words == words


@pytest.mark.parametrize(
    ("path", "segment"), [("/a/*", "a"), ("/A/b", "a"), ("/a*", None), ("/*", None), ("/", ""), ("/a", "a"), ("/%61/*", "a")]
)
def test_the_first_segment_that_every_path_of_a_rule_has(path: str, segment: str | None) -> None:
    assert rule(path).first_segment == segment
