"""Lines of values in a JSON text: of every place that the value has, as a second reader finds them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.configure.faults import Fault, faults_of_text, place
from admin.configure.positions import lines_of, with_lines

TEXT = """{
  "queues": [
    {
      "id": "a",
      "routes": [{"path": "/x"},
                 {"path": "y"}],
      "bypass": ["/a", "/b"]
    }
  ],
  "groups": []
}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [("", 1), ("queues", 2), ("queues[0]", 3), ("queues[0].id", 4), ("queues[0].routes[0].path", 5),
     ("queues[0].routes[1]", 6), ("queues[0].routes[1].path", 6), ("queues[0].bypass[1]", 7), ("groups", 10)],
)  # fmt: skip
def test_each_place_has_its_line(path: str, line: int) -> None:
    assert lines_of(TEXT)[path] == line


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", 'a"b', "{x", "a,b:c", "é\n"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", 'c"{', "d,"]), inner, max_size=3),
    max_leaves=12,
)


def _places(value: Any, parts: tuple[int | str, ...] = ()) -> list[str]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place(parts), *(found for key, child in children for found in _places(child, (*parts, key)))]


@given(st.dictionaries(st.sampled_from(["a", "b"]), _JSON, max_size=2), st.sampled_from([None, 1]))
def test_every_place_of_any_value_is_found(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    found = lines_of(text)
    assert set(found) == set(_places(value))
    assert max(found.values()) <= text.count("\n") + 1


def test_faults_get_the_line_of_their_place_or_of_what_it_stands_in() -> None:
    told = {fault.path: fault.line for fault in with_lines(faults_of_text(TEXT), TEXT)}
    assert told["queues[0].routes[1].path"] == 6
    assert told["queues[0].name"] == 3
    assert with_lines([Fault("", "x", 4)], "{")[0].line == 4
    broken = '{"queues": [\n{"id": }\n]}'
    assert [fault.line for fault in with_lines(faults_of_text(broken), broken)] == [2]
