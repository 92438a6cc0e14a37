"""Edits of a configuration: what an edit does not speak of stays; entering and leaving a group keeps the limits right."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from admin.configure.changes import Change, differences, is_same
from admin.configure.document import (
    NoSuchEntry,
    changed_entry,
    copied_queue,
    queue_entry,
    with_group,
    with_queue,
    without_group,
    without_queue,
)
from admin.configure.faults import Fault, faults_of, faults_of_text
from admin.configure.merge import merged, merged_entry
from edge.core.config import check_config


def entry(queue_id: str, **more: Any) -> dict[str, Any]:
    return {"id": queue_id, "name": queue_id.title(), "routes": [{"path": f"/{queue_id}/*"}], "admit_per_minute": 60} | more


def member(queue_id: str, **more: Any) -> dict[str, Any]:
    return {key: value for key, value in entry(queue_id, **more).items() if key != "admit_per_minute"}


def value(*queues: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"queues": list(queues), **more}


GROUP = {"id": "world", "name": "World", "queues": ["a", "b"], "max_active": 40, "quotas": {"a": 2}}
GROUPED = value(member("a"), member("b"), entry("c"), groups=[GROUP])


def codes(changes: tuple[Change, ...]) -> list[tuple[str, str, str]]:
    return [(change.code, change.target, change.key) for change in changes]


def test_values_that_say_the_same_leave_the_entry_as_it_was_written() -> None:
    before = entry("a", poll_s=5, burst=None)
    assert changed_entry(before, {"poll_s": 5, "burst": None, "idle_s": 300, "manual": False, "name": "A"}) == before
    assert changed_entry(before, {"poll_s": 7})["poll_s"] == 7
    assert "admit_per_minute" not in changed_entry(before, {"admit_per_minute": None, "max_active": 3})
    assert changed_entry(entry("a", max_active=1), {"manual": True})["manual"] is True


def test_an_edit_never_changes_what_it_was_given() -> None:
    kept = copy.deepcopy(GROUPED)
    with_group(GROUPED, {**GROUP, "queues": ["a", "c"]}, "world")
    without_group(GROUPED, "world")
    without_queue(GROUPED, "a")
    with_queue(GROUPED, member("x"), "a")
    assert kept == GROUPED


def test_a_queue_is_put_in_its_place_or_at_the_end() -> None:
    before = value(entry("a"), entry("b"))
    assert [each["id"] for each in with_queue(before, entry("c"))["queues"]] == ["a", "b", "c"]
    assert with_queue(before, entry("a", name="New"), "a")["queues"][0]["name"] == "New"
    with pytest.raises(NoSuchEntry, match="no queue with the id 'x'"):
        queue_entry(before, "x")


def test_a_new_id_is_followed_by_the_group() -> None:
    renamed = with_queue(GROUPED, member("z"), "a")
    assert renamed["groups"][0]["queues"] == ["z", "b"]
    assert renamed["groups"][0]["quotas"] == {"z": 2}
    check_config(renamed)


def test_who_enters_a_group_gives_up_what_it_shares_and_who_leaves_takes_it_along() -> None:
    grown = with_group(GROUPED, {**GROUP, "queues": ["a", "b", "c"]}, "world")
    assert "admit_per_minute" not in queue_entry(grown, "c")
    check_config(grown)
    shrunk = with_group(GROUPED, {**GROUP, "queues": ["b", "c"], "quotas": {}}, "world")
    assert queue_entry(shrunk, "a")["max_active"] == 40
    check_config(shrunk)
    alone = without_group(GROUPED, "world")
    assert "groups" not in alone
    assert [queue_entry(alone, each).get("max_active") for each in "abc"] == [40, 40, None]
    check_config(alone)


def test_a_copy_of_a_member_stands_by_itself() -> None:
    copied = copied_queue(value(member("a", config_version=7), member("b"), groups=[GROUP]), "a", "a2")
    assert copied == {"id": "a2", "name": "A", "routes": [{"path": "/a/*"}], "max_active": 40}


def test_removing_a_member_leaves_no_trace_in_its_group() -> None:
    assert without_queue(GROUPED, "a")["groups"][0] == {**GROUP, "queues": ["b"], "quotas": {}}


def test_differences_are_told_key_by_key_and_with_what_follows() -> None:
    before = value(entry("a"), entry("b"), entry("c"))
    after = value(entry("a", admit_per_minute=90, poll_s=5), entry("c", routes=[{"path": "/c/x"}]), entry("d"))
    changes = differences(before, after)
    assert codes(changes) == [
        ("queue_key", "queue:a", "admit_per_minute"), ("queue_key", "queue:c", "routes"), ("queue_added", "queue:d", ""),
        ("queue_removed", "queue:b", ""), ("unguarded", "", ""),
    ]  # fmt: skip
    assert changes[0].words == "Queue a, admit_per_minute: 60 → 90."
    assert changes[-1].words == "No queue guards /b/*, /c/* any longer: visitors go straight to the site there."


def test_what_means_the_same_is_no_difference() -> None:
    one = value(entry("a"))
    other = value(entry("a", poll_s=5.0, config_version=9, countries=None))
    assert differences(one, other) == ()
    assert not is_same(one, other)
    assert is_same(one, {**one, "groups": [], "checked": "00000000"})


def test_entering_and_leaving_a_group_is_told_as_a_reset() -> None:
    changes = differences(GROUPED, with_group(GROUPED, {**GROUP, "queues": ["b", "c"], "quotas": {}}, "world"))
    resets = [(c.target, c.before, c.after) for c in changes if c.code == "reset"]
    assert resets == [("queue:a", "world", "a"), ("queue:c", "c", "world")]
    assert [(c.target, c.key, c.before, c.after) for c in changes if c.code == "lines"] == [("group:world", "1", "a", "b")]
    assert all(change.words for change in changes)


def test_lanes_that_move_are_told_and_the_first_ones_are_not() -> None:
    lanes = [{"name": "all"}, {"name": "vip", "invite": True}]
    assert "lines" not in [c.code for c in differences(value(entry("a")), value(entry("a", lanes=lanes)))]
    moved = [lanes[0], {"name": "new", "invite": True}, lanes[1]]
    changes = differences(value(entry("a", lanes=lanes)), value(entry("a", lanes=moved)))
    assert [(c.before, c.after) for c in changes if c.code == "lines"] == [("a vip", "a new")]


def test_an_order_that_changes_is_told() -> None:
    assert codes(differences(value(entry("a"), entry("b")), value(entry("b"), entry("a")))) == [("order", "", "")]


def test_two_people_who_change_other_keys_both_get_their_way() -> None:
    base = entry("a")
    both, conflicts = merged_entry(base, {**base, "poll_s": 9}, {**base, "idle_s": 99, "config_version": 4}, "queue:a")
    assert both == {**base, "poll_s": 9, "idle_s": 99, "config_version": 4}
    assert conflicts == ()


def test_what_both_changed_is_mine_and_told() -> None:
    base = entry("a", burst=3)
    mine = {key: item for key, item in base.items() if key != "burst"}
    both, conflicts = merged_entry(base, mine, {**base, "burst": 5}, "queue:a")
    assert "burst" not in both
    assert [(c.key, c.base, c.mine, c.theirs) for c in conflicts] == [("burst", 3, None, 5)]


def test_whole_configurations_merge_entry_by_entry() -> None:
    base = value(entry("a"), entry("b"), entry("c"))
    mine = value(entry("a", poll_s=9), entry("c"), entry("mine"))
    theirs = value(entry("a", idle_s=99), entry("b"), entry("theirs"), groups=[])
    both, conflicts = merged(base, mine, theirs)
    assert {each["id"] for each in both["queues"]} == {"a", "mine", "theirs"}
    assert queue_entry(both, "a") == entry("a", poll_s=9, idle_s=99)
    assert conflicts == ()
    _, conflicts = merged(base, value(entry("a")), value(entry("a"), entry("b", poll_s=9), entry("c")))
    assert [(c.target, c.key) for c in conflicts] == [("queue:b", "")]


def test_every_fault_has_its_place() -> None:
    wrong = value(entry("a", admit_per_minute=-1, routes=[{"path": "x"}]), entry("b", burst=0))
    paths = {fault.path for fault in faults_of(wrong)}
    assert paths == {"queues[0].admit_per_minute", "queues[0].routes[0].path", "queues[1].burst"}
    assert faults_of(value(entry("a"), entry("a", routes=[{"path": "/z"}])))[0].path == "queues[1].id"
    assert faults_of(GROUPED) == []


def test_a_text_that_is_no_json_names_the_line() -> None:
    fault = faults_of_text('{"queues": [\n  {"id": "a",\n]}')[0]
    assert fault.line == 3
    assert isinstance(fault, Fault)


@pytest.mark.parametrize("language", ["xx", "en-XX", "qaa", "tlh"])
def test_a_language_that_is_none_is_a_fault(language: str) -> None:
    whole = value(entry("a"), entry("b", language=language))
    (fault,) = faults_of(whole)
    assert fault == faults_of_text(json.dumps(whole))[0]
    assert (fault.path, f"'{language}' is no language that CLDR knows" in fault.problem) == ("queues[1].language", True)
    for good in ("en", "pt-BR", "zh-Hant", "sr-Latn", "en-GB", "sv"):
        assert faults_of(value(entry("a", language=good))) == []
