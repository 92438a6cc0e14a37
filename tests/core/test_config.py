"""The configuration: errors on every key with the path named, combinations that mean nothing, duplicates, and the JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from edge.core.config import CONFIG_MAX_BYTES, check_config, json_schema, load_config
from edge.core.errors import ConfigError
from edge.core.model import ASSET_EXTENSIONS, QUEUE_FIELDS, ROUTE
from tests.core.support import queue

ROOT = Path(__file__).resolve().parents[2]
MOMENTS: list[Any] = [
    "2026-12-01", "2026-12-01T10:00:00", "2026-12-01T10:00:00+01:00", "2026-13-01T10:00:00Z", "", "1999-12-01T10:00:00Z",
    "2026-12-01T24:00:00Z", "2026-12-01t10:00:00z", "2026-12-01T10:00:00.1234Z", 1_790_000_000,
]  # fmt: skip
WRONG: dict[str, list[Any]] = {
    "id": ["", "A", "a_b", "a.c", "x" * 49, None, 5, "ä"],
    "name": ["", "a\nb", "x" * 121, None, " ", "\u3000\u00a0"],
    "config_version": [0, -1, 2**53, 1.5, "1", True, None],
    "routes": [[], None, {}, ["/x"], [{"path": "/x"}] * 2, [{"path": f"/{i}"} for i in range(101)]],
    "countries": [[], ["de"], ["DEU"], ["DE", "DE"], "DE", [None], ["XX"], ["DE", "ZZ"]],
    "unknown_country": ["allow", None, True, ""],
    "other_countries": ["allow", None, ["enter"]],
    "page": ["", "a/b", "..", "A", None],
    "language": ["", "e", "en_US", "en-", "../x", None],
    "admit_per_minute": [-1, 1_000_001, 0.5, "10", False],
    "burst": [0, -1, 1_000_001, "2"],
    "max_active": [0, -5, 100_000_001, "many"],
    "inventory": [0, -5, 100_000_001, True],
    "manual": [1, "true", None],
    "always_queue": [0, "false", None],
    "start_queueing_above": [0, 1_000_001, "5", True],
    "prequeue_at": MOMENTS,
    "opens_at": MOMENTS,
    "closes_at": MOMENTS,
    "prequeue_order": ["random", True, "", 5],
    "spread_s": [-1, 601, None],
    "draw_beacon": ["", " ", "a\nb", "x" * 201, 5],
    "lanes": [None, ["vip"], [{"name": "a"}] * 17, [{"name": "A"}], [{"name": "a", "share": 0}],
              [{"name": "a", "invite": 1}], [{"name": "a", "rule": "X-Vip"}], [{"name": "a", "rule": "header:a b"}], {}],
    "late_claim": ["tail", None, True],
    "late_claim_within_s": [9, 86_401, None],
    "late_share_percent": [0, 101, None],
    "checkout_s": [9, 86_401, "60"],
    "visit_max_s": [29, 604_801, False],
    "max_networks": [0, 1001, "2"],
    "visitor_key": ["account", "header:", "cookie:a b", 7],
    "visitor_key_required": ["yes", None],
    "one_visit_per_key": [1, None],
    "sign_in_url": ["login", "//elsewhere/", "javascript:alert(1)", "https://", "/a b", "/\\evil"],
    "proof_of_work_bits": [7, 19, "16"],
    "events": [1, "true", None],
    "claim_within_s": [9, 86_401, None, "60"],
    "idle_s": [29, 86_401, None],
    "renew_every_s": [9, 86_401, None],
    "poll_s": [0, 61, None, 2.5],
    "settle_s": [0, 3601, None],
    "presence_grace_s": [1, 86_401, None],
    "candidate_hold_s": [0, 61, None],
    "places_per_network_per_minute": [0, 1_000_001, None],
    "held_status": [0, 201, 302, 401, 500, "503", None],
    "same_site": ["strict", "Lax", None, ""],
    "cookie_domain": ["", ".example.org", "Example.org", "a b", "example.org:80", 5],
    "bypass": [["x"], ["/a*b"], ["/a?b"], ["/a b"], "/x", None, ["/a", "/a"], ["/a#b"]],
    "return_paths": [["x"], ["/a**"], None],
    "allowed_origins": [["*"], ["null"], ["shop.example"], ["https://shop.example/"], ["https://Shop.example"], None],
    "crawlers": ["refuse", None, True, ""],
    "asset_extensions": [[".css"], ["CSS"], [""], None, ["css", "css"], "css"],
    "on_store_error": ["pass", None, True],
    "store_error_admit_per_minute": [0, -1, 1_000_001, "5"],
}
WRONG_ROUTE: dict[str, list[Any]] = {
    "host": ["", "Shop.example.org", "shop.example.org:80", "*.*.org", "a*", "http://x", None],
    "path": ["", "x", "/a*b", "/a?b=1", "/a#b", "/a b", "/\n", "/" + "x" * 1025, None, "/**"],
    "methods": [["get"], ["TRACE"], "GET", None, ["GET", "GET"]],
    "ignore_case": [1, "true", None],
}


def error_of(*queues: dict[str, Any]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        check_config({"queues": list(queues)})
    assert isinstance(caught.value, ConfigError)
    return caught.value


def test_every_key_has_wrong_values_here() -> None:
    assert set(WRONG) == {field.name for field in QUEUE_FIELDS}
    assert set(WRONG_ROUTE) == {field.name for field in ROUTE.fields}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG.items() for value in values])
def test_a_wrong_value_is_refused_with_its_path(key: str, value: Any) -> None:
    error = error_of(queue(id="good"), queue(routes=[{"path": "/other"}]) | {key: value})
    assert error.path.startswith(f"queues[1].{key}")
    assert "allowed" in error.problem or "must be" in error.problem or "already" in error.problem
    schema = Draft202012Validator(json_schema())
    assert not schema.is_valid({"queues": [queue() | {key: value}]})


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG_ROUTE.items() for value in values])
def test_a_wrong_route_is_refused_with_its_path(key: str, value: Any) -> None:
    routes = [{"path": "/good"}, {"path": "/x"} | {key: value}]
    assert error_of(queue(routes=routes)).path.startswith(f"queues[0].routes[1].{key}")
    assert not Draft202012Validator(json_schema()).is_valid({"queues": [queue(routes=routes)]})


PRE, OPENS, CLOSES = "2026-12-01T09:00:00Z", "2026-12-01T10:00:00Z", "2026-12-02T10:00:00Z"
EVERYBODY, VIP = {"name": "standard", "share": 9}, {"name": "vip", "invite": True}
COMBINATIONS: list[tuple[str, dict[str, Any]]] = [
    ("start_queueing_above", {"start_queueing_above": 5, "manual": True}),
    ("start_queueing_above", {"start_queueing_above": 10}),
    ("admit_per_minute", {"admit_per_minute": None, "burst": None, "start_queueing_above": 10}),
    ("prequeue_at", {"prequeue_at": PRE}),
    ("prequeue_at", {"prequeue_at": OPENS, "opens_at": OPENS}),
    ("prequeue_at", {"prequeue_at": CLOSES, "opens_at": OPENS}),
    ("closes_at", {"opens_at": OPENS, "closes_at": OPENS}),
    ("closes_at", {"opens_at": OPENS, "closes_at": PRE}),
    ("prequeue_order", {"prequeue_order": "draw"}),
    ("prequeue_order", {"prequeue_order": "arrival", "opens_at": OPENS}),
    ("spread_s", {"spread_s": 60}),
    ("draw_beacon", {"draw_beacon": "drand round 5"}),
    ("draw_beacon", {"draw_beacon": "drand", "prequeue_at": PRE, "opens_at": OPENS, "prequeue_order": "arrival"}),
    ("late_claim_within_s", {"late_claim": "refused", "late_claim_within_s": 60}),
    ("late_share_percent", {"late_claim": "refused", "late_share_percent": 60}),
    ("late_share_percent", {"late_claim": "back", "late_share_percent": 60}),
    ("visit_max_s", {"visit_max_s": 299}),
    ("checkout_s", {"checkout_s": 601, "visit_max_s": 600}),
    ("lanes", {"lanes": [EVERYBODY]}),
    ("lanes[0]", {"lanes": [VIP, EVERYBODY]}),
    ("lanes[1]", {"lanes": [EVERYBODY, {"name": "b"}]}),
    ("lanes[1].name", {"lanes": [EVERYBODY, VIP | {"name": "standard"}]}),
    ("lanes[1].rule", {"lanes": [EVERYBODY, {"name": "b", "rule": "header:Stanchion-Lane"}]}),
    ("unknown_country", {"unknown_country": "enter"}),
    ("routes[0].path", {"routes": [{"path": "/.stanchion/launch/status"}]}),
    ("routes[1].path", {"routes": [{"path": "/"}, {"path": "/%2estanchion/*"}]}),
    ("routes[0].path", {"routes": [{"path": "/.stanchion"}]}),
    ("bypass[0]", {"bypass": ["/.stanchion/*"]}),
    ("return_paths[0]", {"return_paths": ["/.stanchion/back"]}),
    ("admit_per_minute", {"admit_per_minute": None, "burst": None}),
    ("burst", {"admit_per_minute": None, "max_active": 5}),
    ("poll_s", {"poll_s": 30, "claim_within_s": 59}),
    ("renew_every_s", {"renew_every_s": 300, "idle_s": 300}),
    ("presence_grace_s", {"presence_grace_s": 74}),
    ("settle_s", {"settle_s": 9, "presence_grace_s": 150}),
    ("on_store_error", {"on_store_error": "admit", "store_error_admit_per_minute": 5, "inventory": 100}),
    ("on_store_error", {"on_store_error": "admit"}),
    ("store_error_admit_per_minute", {"store_error_admit_per_minute": 5}),
    ("unknown_country", {"unknown_country": "pass"}),
    ("other_countries", {"other_countries": "enter"}),
    ("allowed_origins", {"allowed_origins": ["https://shop.example:443"]}),
    ("cookie_domain", {"cookie_domain": "example.org", "same_site": "partitioned",
                       "routes": [{"path": "/", "host": "example.org"}]}),
    ("cookie_domain", {"cookie_domain": "example.org"}),
    ("cookie_domain", {"cookie_domain": "example.org", "routes": [{"path": "/", "host": "notexample.org"}]}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "values"), COMBINATIONS)
def test_a_combination_that_means_nothing_is_refused(key: str, values: dict[str, Any]) -> None:
    assert error_of(queue(**values)).path == f"queues[0].{key}"


GOOD: list[dict[str, Any]] = [
    {},
    {"admit_per_minute": 0},
    {"admit_per_minute": None, "burst": None, "manual": True},
    {"admit_per_minute": None, "burst": None, "always_queue": True},
    {"admit_per_minute": None, "burst": None, "max_active": 1},
    {"admit_per_minute": None, "burst": None, "inventory": 1},
    {"on_store_error": "admit", "store_error_admit_per_minute": 5},
    {"countries": ["JP"], "unknown_country": "pass", "other_countries": "enter"},
    {"cookie_domain": "example.org", "routes": [{"path": "/", "host": "*.example.org"}, {"path": "/", "host": "example.org"}]},
    {"id": "x" * 48},
    {"opens_at": OPENS, "spread_s": 60},
    {"prequeue_at": PRE, "opens_at": OPENS, "closes_at": CLOSES, "draw_beacon": "round 5", "max_active": 5},
    {"prequeue_at": PRE, "opens_at": OPENS, "prequeue_order": "arrival"},
    {"closes_at": CLOSES, "start_queueing_above": 9},
    {"always_queue": True, "start_queueing_above": 9, "admit_per_minute": None, "burst": None},
    {"lanes": [EVERYBODY, VIP, {"name": "member", "rule": "cookie:member"}]},
    {"late_claim": "back", "late_claim_within_s": 60},
    {"checkout_s": 600, "visit_max_s": 600, "events": True, "max_networks": 3},
    {"visitor_key": "header:X-Account", "visitor_key_required": True, "one_visit_per_key": True, "sign_in_url": "https://a.example/"},
    {"opens_at": OPENS, "manual": True, "admit_per_minute": None, "burst": None},
    {"routes": [{"path": "/.stan*"}], "bypass": ["/.well-known/*"]},
    {"held_status": 202.0, "poll_s": 5.0},
    {"routes": [{"path": "/サイト/*"}], "language": "zh-Hant-TW"},
]


@pytest.mark.parametrize("values", GOOD)
def test_a_combination_that_means_something_is_taken(values: dict[str, Any]) -> None:
    assert len(check_config({"queues": [queue(**values)]}).queues) == 1
    assert Draft202012Validator(json_schema()).is_valid({"queues": [queue(**values)]})


def test_the_schedule_is_read_as_unix_milliseconds_and_a_day_that_is_none_is_refused() -> None:
    each = check_config({"queues": [queue(opens_at="2026-12-01T10:00:00.250Z", closes_at="2028-02-29T00:00:00Z")]}).queues[0]
    assert (each.prequeue_at_ms, each.opens_at_ms, each.closes_at_ms) == (None, 1_796_119_200_250, 1_835_395_200_000)
    error = error_of(queue(opens_at="2027-02-29T10:00:00Z"))
    assert error.path == "queues[0].opens_at"
    assert "no day of the calendar" in error.problem


def test_a_pre_queue_is_drawn_unless_it_says_otherwise() -> None:
    other = queue(id="b", routes=[{"path": "/b"}])
    drawn, plain = check_config({"queues": [queue(prequeue_at=PRE, opens_at=OPENS), other]}).queues
    assert (drawn.prequeue_order, plain.prequeue_order) == ("draw", None)


def test_lanes_are_lines() -> None:
    each = check_config({"queues": [queue(lanes=[EVERYBODY, VIP])]}).queues[0]
    assert (each.line_count, each.line_shares, each.line) == (2, (9, 1), 0)
    assert [each.lane_of(line) for line in (0, 1, 2)] == ["standard", "vip", ""]


def test_unknown_keys_are_refused_everywhere() -> None:
    assert error_of(queue(admit_per_second=1)).path == "queues[0].admit_per_second"
    assert error_of(queue(routes=[{"path": "/x", "port": 80}])).path == "queues[0].routes[0].port"
    with pytest.raises(ConfigError) as caught:
        check_config({"queues": [], "version": 1})
    assert caught.value.path == "version"


@pytest.mark.parametrize("value", [None, [], "x", 5, {"queues": None}, {"queues": {}}, {}])
def test_a_configuration_is_an_object_with_queues(value: Any) -> None:
    with pytest.raises(ConfigError):
        check_config(value)


def test_ids_are_each_taken_once() -> None:
    assert error_of(queue(), queue(routes=[{"path": "/other"}])).path == "queues[1].id"


JP, US = queue(id="jp", countries=["JP"]), queue(id="us", countries=["US"])
CLASHES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (queue(), queue(id="b"), "both take every country"),
    (JP, queue(id="b"), "one of them takes every country"),
    (JP, US | {"countries": ["US", "JP"]}, "both take JP"),
    (JP | {"unknown_country": "enter"}, US | {"unknown_country": "enter"}, "unknown_country"),
    (JP | {"other_countries": "pass"}, US | {"other_countries": "enter"}, "other_countries"),
    (queue(), queue(id="b", routes=[{"path": "/%6caunch/*"}]), "both take every country"),
    (queue(), queue(id="b", routes=[{"path": "/x/../launch//*"}]), "both take every country"),
    (queue(), queue(id="b", routes=[{"path": "/LAUNCH/*", "ignore_case": True}]), "both take every country"),
    (queue(routes=[{"path": "/a", "methods": ["GET"]}]), queue(id="b", routes=[{"path": "/a", "methods": ["HEAD", "POST"]}]),
     "both take every country"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "words"), CLASHES)
def test_two_queues_of_one_rule_are_told_apart_by_country_or_refused(one: Any, other: Any, words: str) -> None:
    error = error_of(queue(id="first", routes=[{"path": "/first"}]), one, other)
    assert error.path.startswith("queues[2].routes[0]")
    assert words in error.problem
    assert one["id"] in error.problem


APART: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (JP, US),
    (JP | {"unknown_country": "enter"}, US | {"other_countries": "enter"}),
    (JP | {"unknown_country": "pass"}, US | {"unknown_country": "pass"}),
    (queue(), queue(id="b", routes=[{"path": "/launch"}])),
    (queue(), queue(id="b", routes=[{"path": "/LAUNCH/*"}])),
    (queue(), queue(id="b", routes=[{"path": "/launch/*", "host": "a.org"}])),
    (queue(), queue(id="b", routes=[{"path": "/launch/*", "methods": ["POST"]}])),
    (queue(routes=[{"path": "/a", "methods": ["GET"]}]), queue(id="b", routes=[{"path": "/a", "methods": ["POST"]}])),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_queues_with_rules_of_their_own_are_taken(one: Any, other: Any) -> None:
    assert len(check_config({"queues": [one, other]}).queues) == 2


def test_a_queue_is_found_by_its_id() -> None:
    config = check_config({"queues": [JP, US]})
    assert config.queue("us") is config.queues[1]
    assert config.queue("de") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ('{"queues": NaN}', "NaN"),
        ('{"queues": [], "queues": []}', "queues: this key stands twice"),
        ('{"queues": [{"id": "a", "id": "b"}]}', "id: this key stands twice"),
        ("[" * 100_000, "deeper than 32"),
        ('{"queues": [{"id": ' + "9" * 5000 + "}]}", "a number of 5000 digits"),
        (" " * (CONFIG_MAX_BYTES + 1), "larger than"),
        ("null", "must be an object"),
    ],
)  # fmt: skip
def test_a_text_that_is_no_configuration_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load_config(text)


def test_thousands_of_queues_are_read() -> None:
    many = [queue(id=f"q{i}", routes=[{"path": f"/{i}/*"}]) for i in range(3000)]
    assert load_config(json.dumps({"queues": many})).queue("q2999") is not None


def test_the_configuration_that_comes_with_the_product_is_good() -> None:
    config = load_config((ROOT / "kv-seed" / "config.json").read_text(encoding="utf-8"))
    assert {each.id for each in config.queues} == {"launch", "concert-jp", "concert-us", "drop"}
    launch, drop = config.queue("launch"), config.queue("drop")
    assert launch is not None
    assert drop is not None
    assert (launch.admit_per_minute, launch.burst) == (10, 2)
    assert drop.manual


def test_the_defaults() -> None:
    each = check_config({"queues": [{"id": "a", "name": "A", "routes": [{"path": "/"}], "max_active": 1}]}).queues[0]
    assert (each.held_status, each.same_site, each.on_store_error) == (503, "lax", "hold")
    assert (each.unknown_country, each.other_countries) == ("refuse", "refuse")
    assert each.asset_extensions == ASSET_EXTENSIONS
    assert each.routes[0].host == "*"


_KEYS = [field.name for field in QUEUE_FIELDS] + ["extra"]
_ROUTES = st.fixed_dictionaries({}, optional={
    "path": st.sampled_from(["/x", "/y/*", "x", 5]),
    "host": st.sampled_from(["*", "a.org", "A"]),
    "methods": st.sampled_from([[], ["GET"], ["get"]]),
})  # fmt: skip
_VALUES = (
    st.none() | st.booleans() | st.integers(-2, 200)
    | st.sampled_from([1.0, 2.5, "", "a", "A", "/x", "/x/*", "lax", "DE", "enter", "hold"])
    | st.lists(st.sampled_from(["DE", "US", "/x", "css", 5]), max_size=3)
    | st.lists(_ROUTES, max_size=3)
)  # fmt: skip
_STRUCTURAL = ("allowed", "must be an object", "must be a list", "unknown key", "is missing")


def _fault(value: Any) -> ConfigError | None:
    try:
        check_config(value)
    except ConfigError as error:
        return error
    return None


def _is_structural(fault: ConfigError) -> bool:
    # Routes may be one and the same only once their defaults are filled in; the schema cannot know that.
    is_twice = "already" in fault.problem and ".routes[" not in fault.path
    return is_twice or any(words in fault.problem for words in _STRUCTURAL)


@given(st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=4), st.sampled_from(["", "id", "name", "routes"]))
def test_the_schema_and_the_check_agree_on_everything_but_combinations(changes: dict[str, Any], missing: str) -> None:
    base = {key: item for key, item in queue().items() if key != missing}
    value = {"queues": [base | changes]}
    fault = _fault(value)
    is_structural = fault is not None and _is_structural(fault)
    is_twice = fault is not None and "already" in fault.problem
    assert is_structural is not Draft202012Validator(json_schema()).is_valid(value) or is_twice


def test_brackets_in_texts_are_no_depth() -> None:
    name = "[" * 60 + '\\"' + "{" * 40
    text = '{"queues": [{"id": "a", "name": "' + name + '", "routes": [{"path": "/a"}], "manual": true}]}'
    assert load_config(text).queues[0].name.count("[") == 60
