"""Groups: what their queues have of them, the lines, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from edge.core.config import Config, check_config, json_schema
from edge.core.errors import ConfigError
from edge.core.groups import GROUP_FIELDS, SHARED
from edge.core.model import QUEUE_FIELDS, Queue

LANES = [{"name": "standard", "share": 3}, {"name": "vip", "invite": True}]


def member(queue_id: str, **values: Any) -> dict[str, Any]:
    return {"id": queue_id, "name": queue_id, "routes": [{"path": f"/{queue_id}/*"}]} | values


def group(*queues: str, **values: Any) -> dict[str, Any]:
    return {"id": "sale", "name": "Sale", "queues": list(queues), "admit_per_minute": 60} | values


def config(*queues: dict[str, Any], groups: list[dict[str, Any]]) -> Config:
    return check_config({"queues": list(queues), "groups": groups})


def found(whole: Config, queue_id: str) -> Queue:
    each = whole.queue(queue_id)
    assert each is not None
    return each


def test_the_queues_of_a_group_work_with_what_the_group_says() -> None:
    whole = config(
        member("jp"), member("us", lanes=LANES), member("alone", max_active=5),
        groups=[group("us", "jp", max_active=9, idle_s=600, config_version=7, opens_at="2026-12-01T10:00:00Z")],
    )  # fmt: skip
    for queue_id in ("jp", "us"):
        each = found(whole, queue_id)
        assert (each.scope, each.group, each.config_version) == ("sale", "sale", 7)
        assert (each.admit_per_minute, each.max_active, each.idle_s, each.opens_at_ms) == (60, 9, 600, 1_796_119_200_000)
    alone = found(whole, "alone")
    assert (alone.scope, alone.group, alone.config_version, alone.idle_s) == ("alone", "", 1, 300)


def test_each_queue_has_lines_in_the_order_of_the_group_and_shares_by_its_quota() -> None:
    whole = config(member("jp"), member("us", lanes=LANES), groups=[group("us", "jp", quotas={"us": 2})])
    jp, us = found(whole, "jp"), found(whole, "us")
    assert (us.line, us.line_count, jp.line, jp.line_count) == (0, 2, 2, 1)
    assert jp.line_shares == us.line_shares == (1500, 500, 1000)
    assert [us.lane_of(line) for line in range(3)] == ["standard", "vip", ""]
    assert whole.scope("sale") == (us, jp)
    assert whole.scope("jp") == ()


def test_a_lane_with_a_tiny_share_still_has_one() -> None:
    lanes = [{"name": f"l{i}", "share": 1000, "invite": i > 0} for i in range(12)] + [{"name": "small", "invite": True}]
    whole = config(member("us", lanes=lanes), member("jp"), groups=[group("us", "jp")])
    assert found(whole, "us").line_shares[12] == 1


WRONG: list[tuple[str, str, list[dict[str, Any]], list[dict[str, Any]]]] = [
    ("groups[0].queues[1]", "no queue 'fr'", [member("jp")], [group("jp", "fr")]),
    ("groups[1].queues[0]", "in group sale", [member("jp"), member("us"), member("fr")],
     [group("jp", "us"), group("us", "fr", id="b")]),
    ("groups[0].queues", "list of 2 to 16", [member("jp")], [group("jp")]),
    ("groups[0].queues[1]", "already", [member("jp")], [group("jp", "jp")]),
    ("groups[0].id", "taken by another queue", [member("jp"), member("us")], [group("jp", "us", id="us")]),
    ("groups[1].id", "taken by another group", [member(name) for name in "abcd"], [group("a", "b"), group("c", "d")]),
    ("groups[0].quotas.fr", "no queue of this group", [member("jp"), member("us"), member("fr", max_active=1)],
     [group("jp", "us", quotas={"fr": 1})]),
    ("groups[0].quotas.us", "not allowed", [member("jp"), member("us")], [group("jp", "us", quotas={"us": 0})]),
    ("groups[0].quotas", "must be an object", [member("jp"), member("us")], [group("jp", "us", quotas=[1])]),
    ("queues[1].idle_s", "set it in group sale", [member("jp"), member("us", idle_s=600)], [group("jp", "us")]),
    ("queues[0].max_active", "set it in group sale", [member("jp", max_active=None), member("us")], [group("jp", "us")]),
    ("groups[0].admit_per_minute", "no limit at all", [member("jp"), member("us")],
     [group("jp", "us", admit_per_minute=None)]),
    ("groups[0].closes_at", "after opens_at", [member("jp"), member("us")],
     [group("jp", "us", opens_at="2026-12-01T10:00:00Z", closes_at="2026-12-01T10:00:00Z")]),
    ("queues[1].on_store_error", "inventory",
     [member("jp"), member("us", on_store_error="admit", store_error_admit_per_minute=1)], [group("jp", "us", inventory=5)]),
    ("groups[0].queues", "18 lanes",
     [member(q, lanes=[{"name": f"l{i}", "invite": i > 0} for i in range(9)]) for q in ("jp", "us")], [group("jp", "us")]),
    ("groups[0].queues", "agree on cookie_domain",
     [member("jp"), member("us", cookie_domain="a.org", routes=[{"host": "a.org", "path": "/"}])], [group("jp", "us")]),
    ("groups[0].countries", "unknown key", [member("jp"), member("us")], [group("jp", "us", countries=["JP"])]),
]  # fmt: skip


@pytest.mark.parametrize(("path", "words", "queues", "groups"), WRONG)
def test_a_group_that_cannot_be_is_refused(path: str, words: str, queues: Any, groups: Any) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        config(*queues, groups=groups)
    assert caught.value.path == path


def test_the_keys_of_a_group_are_those_of_its_queues() -> None:
    kinds = {field.name: field for field in QUEUE_FIELDS}
    assert {field.name for field in GROUP_FIELDS} == SHARED | {"id", "name", "config_version", "queues", "quotas"}
    assert all(field is kinds[field.name] for field in GROUP_FIELDS if field.name in SHARED)
    # A queue needs none of them, or it could not leave them out.
    assert not any(kinds[name].required for name in SHARED)


def test_the_schema_knows_groups() -> None:
    schema = Draft202012Validator(json_schema())
    good = {"queues": [member("jp"), member("us")], "groups": [group("jp", "us", quotas={"us": 2})]}
    assert schema.is_valid(good)
    check_config(good)
    for key, value in (("quotas", {"US": 2}), ("quotas", {"us": 0}), ("queues", ["jp"]), ("colour", 1), ("opens_at", "soon")):
        assert not schema.is_valid({**good, "groups": [group("jp", "us") | {key: value}]})
