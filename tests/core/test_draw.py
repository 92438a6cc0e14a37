"""The draw: a permutation for every N, even enough, the same for ever; and the published record, checked as anyone would."""

from __future__ import annotations

import hashlib
import hmac
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cli.main import main
from edge.core import draw
from edge.core.draw_check import BadRecord, check_chain, place_in, read_record
from edge.core.draw_record import Opening, record

MASTER = b"0123456789abcdef0123456789abcdef"
SEED = "9e38bebb0ae65e46eeac91398aa03861c56a05e13bf7b46c6be1c6f1fa736c5e"
KEY = "f7bf318e8f7e9fd1867f55cb1517d3bf0fdbeb51a5b4fb16010f75e07802e406"
OPENS_MS = 1_796_119_200_000


def test_pinned_vectors() -> None:
    """Fixed for ever: a change of any of them makes published draws unverifiable."""
    assert draw.seed(MASTER, "tickets", "abc123", OPENS_MS) == SEED
    assert draw.commitment(SEED) == "6349634f40ad49db2e36d7431df8e8f297500401431987ae0db06ad0cb6efcf0"
    assert draw.key(SEED) == KEY
    assert draw.key(SEED, "round 5") == "5993e051fdf1a775e4fbfbc66def0ca54c2f7467c8aade704487564331a98846"
    assert [draw.place(KEY, 0, number, 10) for number in range(1, 11)] == [9, 10, 5, 6, 8, 7, 4, 1, 2, 3]
    assert [draw.place(KEY, 3, number, 5) for number in range(1, 6)] == [2, 1, 4, 5, 3]
    assert (draw.place(KEY, 0, 57, 100_000), draw.place(KEY, 0, 1, 1)) == (61_438, 1)
    assert draw.chain_step("", 0, 1, draw.visitor_hash("v")) == "30beba2fb8817785832bcb5c898c0518f8d5249e"


def test_seed_commitment_and_key_are_plain_hashes() -> None:
    message = f"stanchion draw tickets abc123 {OPENS_MS}".encode()
    assert hmac.new(MASTER, message, "sha256").hexdigest() == SEED
    assert draw.commitment(SEED) == hashlib.sha256(bytes.fromhex(SEED)).hexdigest()
    assert draw.key(SEED, "é") == hmac.new(bytes.fromhex(SEED), "é".encode(), "sha256").hexdigest()


def test_every_small_n_is_permuted() -> None:
    for count in range(1, 130):
        assert sorted(draw.place(KEY, 0, number, count) for number in range(1, count + 1)) == list(range(1, count + 1))


@given(st.text("0123456789abcdef", min_size=64, max_size=64), st.integers(0, 15), st.integers(1, 400))
def test_any_key_line_and_n_make_a_permutation(key: str, line: int, count: int) -> None:
    assert sorted(draw.place(key, line, number, count) for number in range(1, count + 1)) == list(range(1, count + 1))


@given(st.integers(1, 2**31), st.data())
def test_a_place_of_many_is_one_of_them(count: int, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(1, count), min_size=1, max_size=5, unique=True))
    places = {draw.place(KEY, 0, number, count) for number in numbers}
    assert len(places) == len(numbers)
    assert all(1 <= place <= count for place in places)


@pytest.mark.parametrize(("number", "count"), [(0, 5), (6, 5), (-1, 5), (1, 0)])
def test_a_number_outside_is_refused(number: int, count: int) -> None:
    with pytest.raises(ValueError, match="not among the"):
        draw.place(KEY, 0, number, count)


# The 99.9 % point of chi-square with count - 1 degrees of freedom: with fixed keys this either holds for ever or never.
CHI_SQUARE = {2: 10.83, 3: 13.82, 5: 18.47, 8: 24.32, 17: 39.25}


@pytest.mark.parametrize("count", CHI_SQUARE)
def test_every_place_is_about_as_likely_for_each_arrival(count: int) -> None:
    keys = [hashlib.sha256(f"key {index}".encode()).hexdigest() for index in range(100 * count)]
    for number in (1, count):
        seen = [0] * count
        for key in keys:
            seen[draw.place(key, 0, number, count) - 1] += 1
        expected = len(keys) / count
        assert sum((found - expected) ** 2 / expected for found in seen) < CHI_SQUARE[count]


def test_lines_and_neighbours_are_unrelated() -> None:
    other = [draw.place(KEY, 1, number, 1000) for number in range(1, 1001)]
    same = [draw.place(KEY, 0, number, 1000) for number in range(1, 1001)]
    assert sum(one == two for one, two in zip(same, other, strict=True)) < 10
    steps = [abs(one - two) for one, two in pairwise(same)]
    assert 280 < sum(steps) / len(steps) < 390  # a third of N, as for a random order


# --- the published record ---------------------------------------------------------------------------------------------

LANES = {"standard": 0, "guests": 1}
ARRIVALS = [(0, 1, draw.visitor_hash("a")), (1, 1, draw.visitor_hash("b")), (0, 2, draw.visitor_hash("c"))]


def opening(**values: Any) -> Opening:
    whole: dict[str, Any] = {
        "is_drawn": True, "scope": "tickets", "epoch": "abc123", "opens_at_ms": OPENS_MS, "opened_at_ms": OPENS_MS + 1,
        "seed": SEED, "beacon_name": None, "beacon": "", "counts": (2, 1), "chain": draw.chain_head(ARRIVALS),
    }  # fmt: skip
    return Opening(**whole | values)


def test_before_the_opening_nothing_is_given_away() -> None:
    shown = record("tickets", {"": 0}, opening(opened_at_ms=0))
    assert shown["commitment"] == draw.commitment(SEED)
    assert SEED not in json.dumps(shown)
    assert [shown[name] for name in ("seed", "key", "counts", "chain", "opened_at")] == [None] * 5
    assert "could add arrivals" in shown["operator_could_influence"]
    assert record("t", {}, opening(beacon_name="round 5"))["operator_could_influence"] is None


def test_an_order_of_arrival_is_no_draw() -> None:
    shown = record("tickets", LANES, opening(is_drawn=False))
    assert (shown["order"], shown["commitment"], shown["seed"]) == ("arrival", None, None)
    with pytest.raises(BadRecord, match="nothing was drawn"):
        read_record(shown)


def test_a_record_is_read_back_and_every_place_recomputed() -> None:
    drawn = read_record(json.loads(json.dumps(record("tickets", LANES, opening(beacon_name="round 5", beacon="77ab")))))
    assert place_in(drawn, 0, 2) == draw.place(draw.key(SEED, "77ab"), 0, 2, 2)
    check_chain(drawn, ARRIVALS)


@pytest.mark.parametrize(("key", "value", "words"), [
    ("seed", "00" * 32, "commitment"), ("seed", "x", "seed"), ("seed", None, "not opened"), ("commitment", "0", "commitment"),
    ("key", "0" * 64, "key"), ("counts", [2, -1], "counts"), ("counts", "2", "counts"), ("beacon_value", "other", "key"),
    ("beacon_value", 5, "beacon_value"), ("beacon", "round 5", "beacon_value"), ("counts", [], "counts"),
    ("counts", [True, 1], "counts"),
    ("counts", [2], "lines: guests is line 1"), ("counts", [0, 0], "chain: somebody came"),
    ("lines", None, "lines"), ("lines", {}, "lines"),
    ("lines", {"a": 0, "b": 0}, "lines"), ("lines", {"A b": 0}, "lines"), ("order", "Draw", "order"), ("order", None, "order"),
    ("chain", None, "chain"), ("opened_at", None, "opened_at"), ("opens_at", "soon", "opens_at"), ("how", "by hand", "how"),
    ("operator_could_influence", None, "operator_could_influence"), ("more", 1, "more: no key"), ("queue", "a b", "queue"),
])  # fmt: skip
def test_a_record_that_contradicts_itself_is_caught(key: str, value: Any, words: str) -> None:
    with pytest.raises(BadRecord, match=words):
        read_record(record("tickets", LANES, opening()) | {key: value})


@pytest.mark.parametrize("arrivals", [
    ARRIVALS[:2], [ARRIVALS[1], ARRIVALS[0], ARRIVALS[2]], [*ARRIVALS, (0, 3, "0" * 40)], [(0, 2, "0" * 40)], [(7, 1, "0" * 40)],
    [ARRIVALS[0], ARRIVALS[1], (0, 2, draw.visitor_hash("another"))],
])  # fmt: skip
def test_a_chain_of_other_arrivals_is_caught(arrivals: list[tuple[int, int, str]]) -> None:
    with pytest.raises(BadRecord, match=r"arrivals|chain"):
        check_chain(read_record(record("tickets", LANES, opening())), arrivals)


_PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(_PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3))
TRUE = record("tickets", LANES, opening())
NAMES_ONLY = {"queue", "scope", "epoch", "opens_at", "opened_at", "lines"}  # another one of the same shape is another draw's name


@given(st.sampled_from([*TRUE, "another"]), JSON | st.sampled_from(list(TRUE.values())))
def test_a_record_that_was_changed_is_never_called_good(key: str, value: Any) -> None:
    was = TRUE.get(key)
    if (value == was and type(value) is type(was)) or (key in NAMES_ONLY and isinstance(value, type(was))):
        return
    with pytest.raises(BadRecord):
        check_chain(read_record(TRUE | {key: value}), ARRIVALS)


@given(st.sampled_from(sorted(TRUE)))
def test_a_record_that_lacks_a_key_is_never_called_good(key: str) -> None:
    with pytest.raises(BadRecord, match=key):
        read_record({name: value for name, value in TRUE.items() if name != key})


def test_a_draw_to_which_nobody_came_is_one() -> None:
    nobody = opening(counts=(0, 0), chain="", beacon_name="round 5")
    assert read_record(record("tickets", LANES, nobody)).counts == (0, 0)


def verify(tmp_path: Path, *options: str, **changes: Any) -> Result:
    file = tmp_path / "draw.json"
    file.write_text(json.dumps(record("tickets", LANES, opening()) | changes))
    return CliRunner().invoke(main, ["draw", "verify", str(file), *options])


def test_the_command_recomputes_one_place_and_all(tmp_path: Path) -> None:
    one = verify(tmp_path, "--number", "2")
    assert one.exit_code == 0, one.output
    assert f"number 2 of line 0 has place {draw.place(KEY, 0, 2, 2)} of 2" in one.output
    (tmp_path / "arrivals.txt").write_text("".join(f"{line} {number} {sha1}\n" for line, number, sha1 in ARRIVALS))
    every = verify(tmp_path, "--all", "--arrivals", str(tmp_path / "arrivals.txt"), "--commitment", draw.commitment(SEED))
    assert every.exit_code == 0, every.output
    assert "line 1: each of 1 to 1 is given once" in every.output
    assert "chain: 3 arrivals make" in every.output


def test_without_options_what_can_be_is_checked_and_the_rest_is_named(tmp_path: Path) -> None:
    plain = verify(tmp_path)
    assert plain.exit_code == 0, plain.output
    assert f"the seed makes the commitment {draw.commitment(SEED)}" in plain.output
    assert "standard 0 (2 came), guests 1 (1 came)" in plain.output
    assert plain.output.count("not checked: ") == 3
    assert verify(tmp_path, "--all", "--commitment", draw.commitment(SEED).upper()).output.count("not checked: ") == 1


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    for options, changes, words in (
        (("--number", "3"), {}, "not among the 2"),
        (("--number", "1", "--line", "5"), {}, "lines 0 to 1"),
        (("--all",), {"key": "0" * 64}, "key: the record says"), (("--all", "--commitment", "ab"), {}, "you saw ab"),
        (("--all", "--arrivals", str(tmp_path / "none")), {}, "No such file"),
    ):  # fmt: skip
        result = verify(tmp_path, *options, **changes)
        assert result.exit_code != 0
        assert words in result.output
    assert "is not JSON" in CliRunner().invoke(main, ["draw", "verify", __file__, "--all"]).output
