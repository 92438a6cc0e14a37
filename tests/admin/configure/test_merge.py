"""What merging promises, over configurations: alone one gets one's way, and what is told is what both changed."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from admin.configure.changes import differences, is_same
from admin.configure.merge import merged
from tests.admin.configure.test_document import entry

_ENTRY = st.fixed_dictionaries(
    {}, optional={"poll_s": st.integers(5, 7), "idle_s": st.integers(90, 92), "burst": st.integers(1, 2),
                  "bypass": st.sampled_from([[], ["/a"], ["/b"]])},
)  # fmt: skip
_VALUE = st.dictionaries(st.sampled_from("abcd"), _ENTRY, max_size=4).map(
    lambda entries: {"queues": [entry(queue_id, **more) for queue_id, more in sorted(entries.items())]}
)


def by_id(value: dict[str, Any]) -> dict[str, Any]:
    return {each["id"]: each for each in value["queues"]}


@settings(max_examples=200, deadline=None)
@given(_VALUE, _VALUE)
def test_who_edits_alone_gets_it_as_it_was_meant(base: dict[str, Any], mine: dict[str, Any]) -> None:
    for both, conflicts in (merged(base, mine, base), merged(base, base, mine), merged(base, mine, mine)):
        assert by_id(both) == by_id(mine)
        assert conflicts == ()
    assert is_same(base, merged(base, base, base)[0])


@settings(max_examples=200, deadline=None)
@given(_VALUE, _VALUE, _VALUE)
def test_every_change_is_kept_and_every_clash_is_told(base: dict[str, Any], mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    both, conflicts = merged(base, mine, theirs)
    told = {(each.target, each.key) for each in conflicts}
    old, own, other, result = by_id(base), by_id(mine), by_id(theirs), by_id(both)
    for queue_id in own.keys() & other.keys() & old.keys():
        for key in old[queue_id].keys() | own[queue_id].keys() | other[queue_id].keys():
            before, here, there = (each[queue_id].get(key) for each in (old, own, other))
            is_clash = here != before and there != before and here != there
            assert ((f"queue:{queue_id}", key) in told) == is_clash
            wanted = here if here != before else there
            assert result[queue_id].get(key) == wanted
    assert set(result) <= set(own) | set(other)
    assert (set(own) - set(old)) | (set(other) - set(old)) <= set(result)


@settings(max_examples=150, deadline=None)
@given(_VALUE, _VALUE)
def test_no_difference_means_the_same_and_each_is_said_in_words(one: dict[str, Any], other: dict[str, Any]) -> None:
    changes = differences(one, other)
    assert all(change.words for change in changes)
    assert {(c.target, c.key) for c in changes if c.code == "queue_key"} == {
        (c.target, c.key) for c in differences(other, one) if c.code == "queue_key"
    }
    assert differences(one, one) == ()
