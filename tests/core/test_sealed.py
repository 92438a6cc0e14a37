from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge.core import sealed
from edge.core.config import check_config, load_config
from edge.core.errors import ConfigError
from edge.core.routing import Router
from edge.core.sealed import is_sealed, seal

ROUTES = st.lists(
    st.fixed_dictionaries(
        {"path": st.from_regex(r"/[a-z]{1,8}/\*", fullmatch=True)},
        optional={"host": st.sampled_from(["*", "a.example"]), "methods": st.just(["GET"]), "ignore_case": st.booleans()},
    ),
    min_size=1, max_size=3, unique_by=lambda route: route["path"],
)  # fmt: skip
LANES = [{"name": "all"}, {"name": "vip", "share": 3.0, "invite": True}, {"name": "b", "rule": "cookie:b"}]
QUEUES = st.fixed_dictionaries(
    {"id": st.from_regex(r"[a-z]{1,9}", fullmatch=True), "name": st.just("名"), "routes": ROUTES, "manual": st.just(True)},
    optional={"countries": st.just(["JP", "US"]), "bypass": st.just(["/x"]), "asset_extensions": st.just([]),
              "burst": st.just(None), "max_active": st.integers(1, 9), "config_version": st.integers(1, 99),
              "opens_at": st.sampled_from([None, "2026-12-01T10:00:00Z"]), "closes_at": st.just("2026-12-01T18:00:00.5Z"),
              "lanes": st.just(LANES)},
)  # fmt: skip


@given(QUEUES)
def test_a_sealed_text_reads_as_the_checked_value(queue: dict[str, object]) -> None:
    value = {"queues": [queue]}
    text = seal(value)
    assert is_sealed(text)
    assert load_config(text) == check_config(value) == load_config(json.dumps(value))
    assert check_config(json.loads(text)) == check_config(value), "it is plain JSON for everybody else"


@given(QUEUES, st.data())
def test_an_edit_by_hand_breaks_the_seal_and_is_checked(queue: dict[str, object], data: st.DataObject) -> None:
    text = seal({"queues": [queue]})
    edited = text.replace('"manual":true', '"manual":1')
    assert not is_sealed(edited)
    with pytest.raises(ConfigError, match="manual"):
        load_config(edited)
    at = data.draw(st.integers(0, len(text) - 1))
    assert not is_sealed(text[:at] + ("x" if text[at] != "x" else "y") + text[at + 1 :])


def test_a_sealed_text_of_a_version_with_other_keys_is_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    text = seal({"queues": [{"id": "a", "name": "A", "routes": [{"path": "/a"}], "manual": True, "colour": "red"}]})
    assert is_sealed(text)
    monkeypatch.setattr(sealed, "_VERSION", sealed._VERSION + 1)
    with pytest.raises(ConfigError, match="unknown key"):
        load_config(text)


def test_a_number_written_with_a_point_is_a_whole_number_here_too() -> None:
    entry = {"id": "a", "name": "A", "routes": [{"path": "/a"}], "manual": True, "poll_s": 5.0, "held_status": 503.0}
    value = {"queues": [entry]}
    (queue,) = load_config(seal(value)).queues
    assert isinstance(queue.poll_s, int)
    assert isinstance(queue.held_status, int)
    assert (queue,) == check_config(value).queues


@given(st.integers(1, 5), st.booleans(), st.sampled_from([{}, {"us": 3}, {"jp": 2, "us": 5}, {"us": 2.0}]))
def test_a_sealed_group_reads_as_the_checked_one(version: int, drawn: bool, quotas: dict[str, object]) -> None:
    schedule = {"prequeue_at": "2026-12-01T09:00:00Z", "opens_at": "2026-12-01T10:00:00Z"} if drawn else {}
    lanes = [{"name": "all", "share": 3}, {"name": "vip", "invite": True}]
    jp: dict[str, object] = {"id": "jp", "name": "J", "routes": [{"path": "/j"}], "lanes": lanes}
    queues = [jp, {"id": "us", "name": "U", "routes": [{"path": "/u"}]}]
    group = {"id": "sale", "name": "Sale", "queues": ["us", "jp"], "admit_per_minute": 60, "quotas": quotas}
    value = {"queues": queues, "groups": [group | schedule | {"config_version": version}]}
    config = load_config(seal(value))
    assert config == check_config(value)
    assert {queue.scope for queue in config.queues} == {"sale"}
    assert {queue.config_version for queue in config.queues} == {version}


MANY = [
    {"id": f"q{at}", "name": "Q", "routes": [{"path": f"/s{at}/*"}, {"path": f"/s{at + 1}/x"}], "countries": None, "manual": True}
    for at in range(40)
]
OPEN = {"id": "open", "name": "O", "manual": True, "routes": [{"path": "/*"}]}
ODD_ROUTES = [{"path": "/%C3%A9t%C3%A9/*"}, {"path": "/a:b,c/*"}, {"path": "/S3/y", "ignore_case": True}]
ODD = {"id": "odd", "name": "O", "manual": True, "routes": ODD_ROUTES}
TARGETS = [
    "/s3/x", "/S3/y", "/s39/", "/", "/nowhere", "/%73%33/x", "/%C3%A9t%C3%A9/1", "/a:b,c/1", "/a%3Ab,c/1", "/*", "/s3:q3%20/s4",
    "//s5//x",
]  # fmt: skip


@pytest.mark.parametrize("queues", [MANY, [*MANY, OPEN], [ODD, *MANY], [ODD, OPEN], []], ids=len)
def test_a_request_finds_the_same_queues_whether_one_is_read_or_all(queues: list[dict[str, object]]) -> None:
    value = {"queues": queues}
    for target in TARGETS:
        found = [Router(config).match("h", target, "GET") for config in (check_config(value), load_config(seal(value)))]
        assert found[0] == found[1], target


def test_a_request_reads_the_queues_that_it_is_about_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = sealed._queue
    monkeypatch.setattr(sealed, "_queue", lambda value: read.append(value["id"]) or real(value))
    config = load_config(seal({"queues": MANY}))
    assert Router(config).match("h", "/s7/x", "GET") is not None
    assert sorted(read) == ["q6", "q7"]
    assert config.queue("q9") is config.queue("q9")
    assert config.scope("q9") == (config.queue("q9"),)
    assert read[2:] == ["q9"]
    assert config.queues[9] is config.queue("q9")


@pytest.mark.parametrize("name", ["", "q", "q1,", 'q1","name":"Q', "q1\n", "sale", "*", "q100"])
def test_what_is_no_queue_is_not_found_by_its_name(name: str) -> None:
    group = {"id": "sale", "name": "S", "queues": ["q1", "q2"]}
    config = load_config(seal({"queues": MANY, "groups": [group]}))
    assert config.queue(name) is None
    assert [queue.id for queue in config.scope("sale")] == ["q1", "q2"]
    assert config.scope("q1") == (), "its scope is the group"


@pytest.mark.parametrize("countries", [None, ["JP"]])
def test_it_is_known_without_reading_whether_countries_matter(countries: list[str] | None) -> None:
    value = {"queues": [*MANY[:2], OPEN | {"countries": countries}]}
    assert load_config(seal(value)).names_countries is check_config(value).names_countries is (countries is not None)
