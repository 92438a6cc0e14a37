"""The pages that a guest keeps: versions, the way back, and a store in trouble."""

from __future__ import annotations

import pytest

from edge.core.page_set import PageSet, page_set_key, read_page_set, write_page_set
from edge.core.pages import page_key
from edge.guests.page_shelf import PageShelf

SET = page_set_key("default")
ONE, TWO = (page_key("default", version, "en", "waiting") for version in (1, 2))
BROKEN = "<html><body><script>{{queue_name}}</script></body></html>"


def page(words: str) -> str:
    return f"<html><body><p>{words} {{{{queue_name}}}}</p></body></html>"


class Store(dict[str, str]):
    """A store that a test changes. `broken`: keys that cannot be read."""

    def __init__(self, values: dict[str, str]) -> None:
        super().__init__(values)
        self.broken: set[str] = set()
        self.reads: list[str] = []
        self.events: list[str] = []
        self.shelf = PageShelf(self._read, lambda event, problem: self.events.append(event))

    def _read(self, key: str) -> str | None:
        self.reads.append(key)
        if key in self.broken:
            raise OSError(f"{key}: the disk is on fire")
        return self.get(key)

    def shown(self) -> str:
        """What a visitor would read, in one word."""
        text = self.shelf.page("default", "en", "waiting").fill({})
        return "builtin" if "You are in line" in text else text.partition("<p>")[2].partition(" ")[0]


def in_force(version: int, previous: int = 0, *languages: str) -> str:
    return write_page_set(PageSet(version, previous, languages or ("en",)))


def test_a_page_is_compiled_once_until_the_store_changes() -> None:
    store = Store({SET: in_force(1), ONE: page("first")})
    assert store.shown() == store.shown() == "first"
    assert store.reads == [SET, ONE]
    store[ONE] = page("edited")
    assert store.shown() == "first"
    store.shelf.clear()
    assert store.shown() == "edited"


def test_the_version_in_force_is_the_one_that_is_shown() -> None:
    store = Store({SET: in_force(1), ONE: page("first"), TWO: page("second")})
    assert store.shown() == "first"
    store[SET] = in_force(2, 1)
    store.shelf.clear()
    assert store.shown() == "second"
    store[SET] = in_force(1, 2)
    store.shelf.clear()
    assert store.shown() == "first"
    assert store.events == []


def test_without_pages_the_builtin_one_serves_and_says_its_language() -> None:
    store = Store({})
    assert store.shown() == "builtin"
    assert store.shelf.page("default", "ja", "waiting").language == "en"
    assert store.shelf.offered("default") == ()
    store |= {SET: in_force(1), ONE: page("first")}
    store.shelf.clear()
    assert store.shown() == "first"
    assert store.shelf.page("default", "en", "waiting").language == ""
    del store[SET]
    store.shelf.clear()
    assert store.shown() == "builtin"


@pytest.mark.parametrize("trouble", [BROKEN, None, "", " ", "hello", page("cut off")[:40], "x" * 5_000])
def test_a_page_that_cannot_be_used_leaves_the_last_good_one(trouble: str | None) -> None:
    store = Store({SET: in_force(2, 1), ONE: page("first"), TWO: page("second")})
    assert store.shown() == "second"
    store.pop(TWO)
    if trouble is not None:
        store[TWO] = trouble
    store.shelf.clear()
    assert store.shown() == store.shown() == "second"
    assert store.events == ["page missing" if trouble is None else "page not taken"]


def test_an_edited_page_that_loads_something_from_elsewhere_leaves_the_last_good_one() -> None:
    store = Store({SET: in_force(2, 1), ONE: page("first"), TWO: page("second")})
    assert store.shown() == "second"
    store[TWO] = store[TWO].replace("</html>", '<script src="https://x.example/a.js"></script></html>')
    store.shelf.clear()
    assert store.shown() == "second"
    assert store.events == ["page not taken"]


def test_one_who_never_saw_a_good_one_takes_the_version_before() -> None:
    store = Store({SET: in_force(2, 1), ONE: page("first"), TWO: BROKEN})
    assert store.shown() == "first"
    other = Store({SET: in_force(2, 1), ONE: BROKEN, TWO: BROKEN})
    assert other.shown() == "builtin"


def test_a_page_that_cannot_be_read_is_tried_again_at_the_next_request() -> None:
    store = Store({SET: in_force(1), ONE: page("first")})
    store.broken = {ONE}
    assert store.shown() == "builtin"
    store.broken = set()
    assert store.shown() == "first"
    store.broken = {ONE, SET}
    store.shelf.clear()
    assert store.shown() == "first"
    assert store.shelf.offered("default") == ("en",)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "null", '{"version": "1", "previous": 0, "languages": ["en"]}',
     '{"version": true, "previous": 0, "languages": ["en"]}',
     '{"version": 1, "previous": -1, "languages": ["en"]}', '{"version": 1, "previous": 0, "languages": []}',
     '{"version": 1, "previous": 0, "languages": ["../en"]}', '{"version": 1, "previous": 0, "languages": [["en"]]}',
     '{"version": 1, "previous": 0, "languages": "en"}'],
)  # fmt: skip
def test_a_set_that_is_none_is_refused_and_the_last_good_one_stays(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_page_set(text)
    store = Store({SET: in_force(1, 0, "en", "ja"), ONE: page("first")})
    assert store.shelf.offered("default") == ("en", "ja")
    store[SET] = text
    store.shelf.clear()
    assert store.shown() == "first"
    assert store.shelf.offered("default") == ("en", "ja")
    assert store.events == ["page not taken"]


def test_what_is_written_is_read() -> None:
    assert read_page_set(in_force(7, 5, "zh-Hans", "en")) == PageSet(7, 5, ("zh-Hans", "en"))
    with pytest.raises(ValueError, match="page"):
        page_set_key("../x")


def test_what_is_kept_is_bounded() -> None:
    store = Store({page_set_key(f"p{number}"): in_force(1) for number in range(600)})
    for number in range(600):
        store.shelf.page(f"p{number}", "en", "waiting")
    shelf = store.shelf
    assert max(len(kept) for kept in (shelf._pages, shelf._good_pages, shelf._sets, shelf._good_sets)) <= 512
