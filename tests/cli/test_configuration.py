from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.configuration import problems
from cli.main import main

GOOD: dict[str, Any] = {"id": "sale", "name": "Sale", "routes": [{"path": "/sale/*"}], "admit_per_minute": 6}


def text(*queues: dict[str, Any]) -> str:
    return json.dumps({"queues": list(queues)})


@pytest.mark.parametrize(("queue", "place"), [
    ({**GOOD, "colour": 1}, "queues[0].colour"),
    ({**GOOD, "id": "Not An Id"}, "queues[0].id"),
    ({**GOOD, "id": "x" * 49}, "queues[0].id"),
    ({**GOOD, "admit_per_minute": -1}, "queues[0].admit_per_minute"),
    ({**GOOD, "routes": [{"path": "sale"}]}, "queues[0].routes[0].path"),
    ({**GOOD, "routes": [{"path": "/a*b"}]}, "queues[0].routes[0].path"),
    ({**GOOD, "admit_per_minute": None}, "queues[0].admit_per_minute"),
    ({**GOOD, "on_store_error": "admit", "store_error_admit_per_minute": 5, "inventory": 9}, "queues[0].on_store_error"),
])  # fmt: skip
def test_each_fault_names_its_place(queue: dict[str, Any], place: str) -> None:
    (found,) = problems(text(queue))
    assert found.startswith(f"{place}:"), found


def test_all_structural_faults_are_told_at_once() -> None:
    found = problems(text({**GOOD, "id": "A"}, {**GOOD, "poll_s": "x"}))
    assert [problem.partition(":")[0] for problem in found] == ["queues[0].id", "queues[1].poll_s"]


def test_a_fault_says_what_is_allowed() -> None:
    found = problems(text({**GOOD, "id": "A_b", "held_status": 500, "colour": 1, "size": 2}, {"id": "b", "routes": [{}]}))
    told = {problem.partition(": ")[0]: problem.partition(": ")[2] for problem in found}
    assert told["queues[0].id"] == "'A_b' is not allowed: only a-z, 0-9 and -, at most 48 characters"
    assert told["queues[0].held_status"] == "500 is not allowed: one of 200, 202, 429, 503"
    assert told["queues[0].colour"].startswith("unknown key; known are admit_per_minute")
    assert "queues[0].size" in told
    assert told["queues[1].name"].startswith("is missing: ")
    assert told["queues[1].routes[0].path"].startswith("is missing: ")
    assert len(told) == len(found) == 6


def test_what_does_not_go_together_is_told_of_every_queue() -> None:
    found = problems(text({**GOOD, "poll_s": "x"}, {**GOOD, "admit_per_minute": None}, {**GOOD, "burst": 1, "poll_s": 60}))
    assert [problem.partition(":")[0] for problem in found] == ["queues[0].poll_s", "queues[1].admit_per_minute",
                                                               "queues[2].settle_s"]  # fmt: skip


@pytest.mark.parametrize(("content", "fault"), [
    ("[]", "the whole: must be an object"),
    ("{}", "queues: is missing: all queues"),
    ('{"queues": 3}', "queues: must be a list of 0 to 10000 members"),
    ('{"queues": [3]}', "queues[0]: must be an object"),
    ('{"queues": [], "checked": 4}', "checked: 4 is not allowed: a checksum and an index, at most 2000000 characters"),
])  # fmt: skip
def test_another_shape_is_told_in_words(content: str, fault: str) -> None:
    assert problems(content) == [fault]


@pytest.mark.parametrize("command", ["check", "apply"])
@pytest.mark.parametrize("content", ["[" * 100_000, '{"queues": [' + '{"id":' * 50_000])
def test_what_is_nested_too_deeply_is_told(tmp_path: Path, command: str, content: str) -> None:
    file = tmp_path / "deep.json"
    file.write_text(content)
    result = CliRunner().invoke(main, ["config", command, str(file)])
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1
    assert f"{file}: has objects and lists deeper than 32" in result.output


def test_a_queue_of_a_group_is_judged_with_its_group() -> None:
    member = {key: value for key, value in GOOD.items() if key != "admit_per_minute"}
    queues = [member, member | {"id": "b", "routes": [{"path": "/b"}]}]
    group = {"id": "g", "name": "G", "queues": [member["id"], "b"], "max_active": 5}
    assert problems(json.dumps({"queues": queues, "groups": [group]})) == []
    (found,) = problems(json.dumps({"queues": queues, "groups": [group | {"max_active": None}]}))
    assert found.startswith("groups[0].admit_per_minute: the queue has no limit")
    (found,) = problems(json.dumps({"queues": queues, "groups": [group | {"quotas": {"b": 0}}]}))
    assert found == "groups[0].quotas.b: 0 is not allowed: a whole number from 1 to 1000"


def test_two_queues_of_one_id_are_refused() -> None:
    (found,) = problems(text(GOOD, GOOD | {"routes": [{"path": "/other"}]}))
    assert found.startswith("queues[1].id:")
    assert "taken" in found


def test_check_says_the_file(tmp_path: Path) -> None:
    file = tmp_path / "q.json"
    file.write_text("{")
    result = CliRunner().invoke(main, ["config", "check", str(file)])
    assert result.exit_code == 1
    assert f"{file}: is not JSON" in result.output
    file.write_text(text(GOOD))
    assert CliRunner().invoke(main, ["config", "check", str(file)]).exit_code == 0
    missing = CliRunner().invoke(main, ["config", "check", str(tmp_path / "none")])
    assert missing.exit_code == 1
    assert "none" in missing.output


def test_the_schema_is_printed() -> None:
    assert json.loads(CliRunner().invoke(main, ["config", "schema"]).output)["title"] == "Stanchion configuration"
