"""Versions of pages in a store: whole or not at all, kept for the way back, found again when the store is damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from admin.kv import FolderKv
from admin.publish import Publication, PublishError
from admin.publish.service import Outcome, diff, history, in_force, pages_of, publish, roll_back, versions
from admin.publish.versions import KEPT_VERSIONS, Store, history_key
from cli.kv.redis_kv import RedisStore
from cli.kv.stores import WithPrefix
from edge.core.page_set import PageSet
from edge.core.pages import page_key
from tests.admin.publish.sources import Shelf
from tests.host.rest.servers import TOKEN, Door, running_door

STATES = ("waiting", "called")


def pages(word: str, *languages: str) -> Publication:
    made = {(name, state): f"<html>{word} {name} {state}</html>\n" for name in languages for state in STATES}
    return Publication("mine", languages, made)


def put(store: Store, word: str, *languages: str, by: str = "mika", now_ms: int = 1000) -> Outcome:
    return publish(store, pages(word, *(languages or ("en",))), by, now_ms)


def back(store: Store, to: int | None = None) -> Outcome:
    return roll_back(store, "mine", "noor", 2000, to)


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with running_door() as running:
        yield running


@pytest.fixture(params=["dict", "admin", "redis"])
def store(request: pytest.FixtureRequest, tmp_path: Path, door: Door) -> Iterator[Store]:
    if request.param == "redis":
        there = RedisStore(door.url, TOKEN, f"kv:{tmp_path.name}")
        yield WithPrefix(there)
        there.close()
    else:
        yield Shelf() if request.param == "dict" else FolderKv(tmp_path)


def test_a_version_takes_the_place_of_the_last_which_is_kept_for_the_way_back(store: Store) -> None:
    store.put("config.json", "{}")
    store.put("pages/other/1/en/waiting.html", "x")
    assert versions(store, "mine") == []
    with pytest.raises(PublishError, match="no version before"):
        back(store)
    assert put(store, "one").version == 1
    with pytest.raises(PublishError, match="no version before"):
        back(store)
    assert put(store, "two", "ja", "en").version == 2
    assert in_force(store, "mine") == PageSet(2, 1, ("ja", "en"))
    assert back(store) == Outcome(1, ("en",))
    assert in_force(store, "mine") == PageSet(1, 2, ("en",))
    assert back(store) == Outcome(2, ("ja", "en"))
    assert pages_of(store, "mine", 2) == pages("two", "ja", "en").pages
    assert store.get("config.json") == "{}"
    assert store.get("pages/other/1/en/waiting.html") == "x"


def test_who_did_what_when(store: Store) -> None:
    put(store, "one", by="mika", now_ms=1000)
    put(store, "two", "ja", "en", by="noor", now_ms=2000)
    roll_back(store, "mine", "tove", 3000)
    newest, oldest = versions(store, "mine")
    assert (newest.number, newest.is_in_force, newest.by, newest.published_at_ms) == (2, False, "noor", 2000)
    assert (newest.languages, newest.pages) == (("ja", "en"), 4)
    assert (oldest.number, oldest.is_in_force, oldest.by, oldest.published_at_ms) == (1, True, "mika", 1000)
    assert [(each.version, each.what, each.by) for each in history(store, "mine")] == [
        (1, "published", "mika"), (2, "published", "noor"), (1, "rolled back", "tove"),
    ]  # fmt: skip


def test_some_versions_stay_and_no_number_comes_again() -> None:
    store = Shelf()
    for number in range(1, 6):
        assert put(store, str(number)).version == number
    assert [each.number for each in versions(store, "mine")] == [5, 4, 3]
    assert len(versions(store, "mine")) == KEPT_VERSIONS
    back(store, 3)
    assert in_force(store, "mine") == PageSet(3, 5, ("en",))
    with pytest.raises(PublishError, match="there is no version 1: there is 3, 4, 5"):
        back(store, 1)
    assert put(store, "six").version == 6
    assert [each.number for each in versions(store, "mine")] == [6, 5, 3]
    for key in store.keys("pages/mine/6/"):
        store.delete(key)
    assert put(store, "seven").version == 7


def test_readers_see_the_old_version_until_the_new_one_is_whole() -> None:
    shelf = Shelf()
    put(shelf, "one")
    seen: list[object] = []

    class Watched(Shelf):
        def put(self, key: str, text: str) -> None:
            super().put(key, text)
            seen.append((in_force(self, "mine"), len(self.keys("pages/mine/2/"))))

    put(Watched(shelf), "two")
    old, new = PageSet(1, 0, ("en",)), PageSet(2, 1, ("en",))
    assert seen == [(old, 1), (old, 2), (new, 2), (new, 2)]


def test_of_two_who_publish_at_once_one_is_told() -> None:
    class Contested(Shelf):
        def put(self, key: str, text: str) -> None:
            super().put(key, text)
            self["pages/mine/current.json"] = '{"version": 9, "previous": 0, "languages": ["en"]}'

    with pytest.raises(PublishError, match="at the same time"):
        put(Contested(), "one")


DAMAGED = st.sampled_from(["", "no", "[]", "{}", "null", "7", '{"version": 2}',
                           '{"version": "2", "previous": 1, "languages": ["en"]}',
                           '{"version": 2, "previous": 1, "languages": []}', '{"entries": 7}', '{"entries": [{"version": "x"}]}',
                           '{"entries": [{"version": 1, "what": "x", "by": 7, "at_ms": 1, "languages": []}]}'])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(DAMAGED, st.sampled_from(["current.json", "history.json"]), st.sampled_from(["publish", "back", "back to 1"]))
def test_a_damaged_value_stops_nobody_and_loses_nothing(text: str, name: str, step: str) -> None:
    store = Shelf()
    for word in ("one", "two", "three"):
        put(store, word)
    before = {key: page for key, page in store.items() if key.endswith(".html")}
    store[f"pages/mine/{name}"] = text
    done = put(store, "four") if step == "publish" else back(store, 1 if step == "back to 1" else None)
    assert done.version == {"publish": 4, "back": 2, "back to 1": 1}[step]
    assert any(f"pages/mine/{name}:1: damaged" in note for note in done.notes)
    assert before.items() <= store.items()
    assert in_force(store, "mine") == PageSet(done.version, 3, ("en",))
    assert history(store, "mine")[-1].version == done.version
    assert put(store, "five").notes == ()


def test_a_damaged_store_with_one_version_goes_back_to_that_one() -> None:
    store = Shelf()
    put(store, "one")
    store["pages/mine/current.json"] = "no"
    assert [each.is_in_force for each in versions(store, "mine")] == [True]
    assert back(store).version == 1
    assert in_force(store, "mine") == PageSet(1, 0, ("en",))
    with pytest.raises(PublishError, match=r"no version before.*"):
        back(store)


def test_a_store_without_a_history_works_as_before() -> None:
    store = Shelf()
    put(store, "one")
    put(store, "two")
    del store[history_key("mine")]
    assert [(each.number, each.by, each.published_at_ms) for each in versions(store, "mine")] == [(2, "", None), (1, "", None)]
    assert back(store) == Outcome(1, ("en",))
    assert json.loads(store[history_key("mine")])["entries"][0]["by"] == "noor"


def test_what_differs_between_two_versions() -> None:
    mark = "<!--read in full, version 4:"
    old = {("en", "waiting"): f"a\nb\n{mark} 1-->\n", ("en", "called"): "x\n", ("ja", "waiting"): "y\n"}
    new = {("en", "waiting"): f"a\nc\n{mark} 2-->\n", ("en", "called"): f"x\n{mark} 3-->\n",
           ("de", "waiting"): "z\n"}  # fmt: skip
    found = diff(old, new)
    assert [(each.language, each.state, each.kind) for each in found] == [
        ("de", "waiting", "new"), ("en", "waiting", "changed"), ("ja", "waiting", "gone"),
    ]  # fmt: skip
    assert [line for line in found[1].lines if line[1:2] not in "-+"] == ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]
    assert diff(new, new) == []


def test_keys_of_pages_are_those_of_the_edge() -> None:
    assert page_key("mine", 3, "en", "waiting") in pages("x", "en").keyed(3)
