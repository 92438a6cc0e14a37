"""Steps as values: keys of one slot, the script by name or in full, and answers read or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edge.core import calls, commands, scripts
from edge.core.calls import Answer
from edge.core.config import check_config
from edge.core.errors import StoreBusy
from tests.core.support import World, queue

RANDOM = "ab" * 12
SHORT = ["e1", "1790000000000", "open", "9", "3", "7", "2", "10", ""]


def test_all_keys_of_a_scope_are_in_one_slot_and_none_is_twice() -> None:
    keys = calls.keys("launch")
    assert len(set(keys)) == len(keys)
    assert all("{launch}" in key for key in keys)
    assert calls.keys("drop")[0] != keys[0]


CALLS = {
    "join": commands.join("q", "v", RANDOM),
    "touch": commands.touch("q", "e", 3, "v", RANDOM),
    "renew": commands.renew("q", "e", 3, "v", 5, RANDOM),
    "end": commands.end("q", "e", 3, "v", "left", RANDOM),
    "snapshot": commands.take_snapshot("q", RANDOM),
    "control": commands.control("q", "pause", "id", RANDOM),
    "admit": commands.admit("q", 3, "id", RANDOM),
    "limits": commands.set_limits("q", {"admit_per_minute": 3, "burst": None, "max_active": "="}, RANDOM),
    "look": commands.look("q", "e", 3, "v", RANDOM),
    "open": commands.open_queue("q", "e", "5eed", "ce1", 5, RANDOM),
    "checkout": commands.checkout("q", "e", 3, "v", "start", RANDOM),
    "configure": commands.configure(check_config({"queues": [queue()]}).queues[0], RANDOM),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_by_name_and_in_full(name: str) -> None:
    call = CALLS[name]
    assert call.script.name == name
    for flavour in ("redis", "upstash"):
        by_name, in_full = call.evalsha(flavour), call.eval(flavour)
        assert by_name[2:] == in_full[2:] == [str(len(call.keys)), *call.keys, *call.args]
        assert by_name[1] == call.script.sha[flavour]
        assert in_full[1] == call.script.text[flavour]
        assert all(isinstance(part, str) for part in in_full)
    assert call.args[:2] == ("", RANDOM)  # the edge never gives the time
    assert call.script.text["upstash"].startswith("#!lua flags=allow-key-locking\n")
    assert not call.script.text["redis"].startswith("#!")


AWKWARD = ["", 'a "word"', "back\\slash", "tab\tand\x7f", '","', "\\u007f", "ü€\U0001f600", "\ud800"]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("text", AWKWARD)
def test_what_goes_over_the_wire_is_the_same_written_at_once(text: str, whole: bool) -> None:
    asked = [*CALLS.values(), commands.control("q", "message", text, RANDOM, text=text), commands.join(f"q{text}", text, RANDOM)]
    for flavour in ("redis", "upstash"):
        plain = [call.eval(flavour) if whole else call.evalsha(flavour) for call in asked]
        assert calls.pipeline_body(asked, flavour, whole=whole) == json.dumps(plain, separators=(",", ":"))


def test_every_script_has_a_call() -> None:
    assert {script.name for script in scripts.ALL} == set(CALLS)


def test_a_simulation_may_give_the_time() -> None:
    assert commands.take_snapshot("q", RANDOM, now_ms=5).args[0] == "5"


def test_limits_by_their_public_names() -> None:
    call = commands.set_limits("q", {"admit_per_minute": 3, "burst": None, "inventory": "="}, RANDOM)
    assert call.args[-6:] == ("rate", "3", "burst", "", "inventory", "=")
    with pytest.raises(KeyError):
        commands.set_limits("q", {"rate": 3}, RANDOM)


def test_a_pipeline_is_a_list_of_commands() -> None:
    assert calls.pipeline([CALLS["join"], CALLS["end"]]) == [CALLS["join"].evalsha(), CALLS["end"].evalsha()]


def test_the_limits_in_force_are_read_by_a_plain_command() -> None:
    world = World()
    world.run(commands.set_limits("launch", {"admit_per_minute": 7}, world.hex()))
    values = world.redis.execute_command(*commands.read_limits("launch"))  # type: ignore[no-untyped-call]
    assert values[: len(commands.LIMITS)] == ["7", "2", "", ""]
    assert values[len(commands.LIMITS)] == "rate"
    assert values[-2:] == ["0", "0"]


def test_a_place_names_its_line_and_whether_it_is_a_number_of_arrival() -> None:
    places = [("57", 57, 0, False), ("2:57", 57, 2, False), ("a57", 57, 0, True), ("a2:57", 57, 2, True)]
    assert [calls.member(position, line, arrival=arrival) for _, position, line, arrival in places] == [p[0] for p in places]
    assert [calls.read_member(name) for name in ("57", "2:57")] == [(0, 57), (2, 57)]
    answer = Answer.read([["waiting", "2:57", "arrival"], []])
    assert (answer.number(0), answer.line, answer.is_arrival) == (57, 2, True)
    assert not Answer.read([["waiting", "57"], []]).is_arrival


def test_an_answer_has_a_verdict_details_and_a_snapshot() -> None:
    answer = Answer.read([["called", 3, "20000", "0"], SHORT])
    assert (answer.verdict, answer.details, answer.number(0), answer.number(1)) == ("called", ("3", "20000", "0"), 3, 20000)
    assert answer.snapshot is not None
    assert answer.snapshot.epoch == "e1"
    assert Answer.read([["missing"], []]).snapshot is None


@pytest.mark.parametrize(
    "reply",
    [None, "OK", 5, [], [[]], [[], []], ["ok", []], [["ok"]], [["ok"], None], [["ok"], ["x"]], [["ok"], "x"], {"a": 1},
     [["ok"], [*SHORT[:3], "x", *SHORT[4:]]], [[["ok"]], []][:1], True],
)  # fmt: skip
def test_an_answer_that_is_none_of_ours_is_trouble_of_the_store(reply: Any) -> None:
    with pytest.raises(StoreBusy) as caught:
        Answer.read(reply)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("details", [[], ["x"], [""], ["1.5"]])
def test_an_answer_without_its_numbers_is_trouble_of_the_store(details: list[str]) -> None:
    with pytest.raises(StoreBusy, match="without its numbers"):
        Answer.read([["waiting", *details], []]).number(0)


def test_the_configuration_arrives_as_milliseconds() -> None:
    call = CALLS["configure"]
    assert call.args[2:13] == ("", "1", "10", "2", "", "", "", "", "", "0", "0")
    assert call.args[13:21] == ("120000", "300000", "60000", "75000", "150000", "5000", "900000", "500")
    assert call.args[21:] == ("0", "0", "0", "0", "0", "30000", "0", "0", "head", "1")
    assert commands.configure(check_config({"queues": [queue()]}).queues[0], RANDOM, new=True).args[2] == "1"


def test_the_default_burst_is_a_sixth_of_the_rate_and_at_least_one() -> None:
    for rate, burst in ((60, 10), (65, 10), (5, 1), (1, 1)):
        world = World(queue(admit_per_minute=rate, burst=None))
        verdicts = [
            world.run(commands.join("launch", f"v{n}", world.hex(), direct=True, wants_in=True)).verdict for n in range(burst + 1)
        ]
        assert verdicts[:-1] == ["inside"] * burst
        assert verdicts[-1] == "candidate"
