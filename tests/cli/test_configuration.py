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
    ({**GOOD, "colour": 1}, "queues[0]"),
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


def test_publish_refuses_an_unknown_brand(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["publish", "nobody", "--to", str(tmp_path)])
    assert result.exit_code == 1
    assert "nobody" in result.output
    assert not list(tmp_path.rglob("*.html"))


def test_publish_puts_every_page_in_force(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["publish", "default", "--language", "en", "--to", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "pages" / "default" / "en" / "waiting.html").exists()
