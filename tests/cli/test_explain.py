"""`stanchion explain` over a folder and a running REST door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cli.main import main
from tests.host.rest.servers import TOKEN, Door, running_door


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with running_door() as running:
        yield running


@pytest.fixture
def folder(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kv").mkdir()
    monkeypatch.chdir(tmp_path)
    environ = {"UPSTASH_REDIS_REST_URL": door.url, "UPSTASH_REDIS_REST_TOKEN": TOKEN, "STANCHION_KV_DIR": str(tmp_path / "kv")}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def apply(folder: Path, *queues: dict[str, Any]) -> None:
    (folder / "next.json").write_text(json.dumps({"queues": list(queues)}))
    assert run("config", "apply", str(folder / "next.json"))[0] == 0


def test_the_queue_its_reasons_and_its_state_are_told(folder: Path) -> None:
    apply(folder, {"id": "explained", "name": "E", "routes": [{"path": "/e/*"}], "manual": True, "countries": ["JP"]})
    code, output = run("explain", "https://shop.example.org/e/1", "--country", "jp")
    assert code == 0
    assert output.startswith("hold: The visitor gets the waiting page. Queue: explained.")
    assert "Queue explained names the country JP." in output
    assert "What holds people now: manual." in output
    code, output = run("explain", "/e/1", "--json", "--country", "JP", "--no-state")
    said = json.loads(output)
    assert (said["outcome"], said["queue"]) == ("depends", "explained")
    assert "state_unknown" in [step["code"] for step in said["steps"]]
    assert run("explain", "/e/1")[1].startswith("refuse:")
    assert run("explain", "/elsewhere")[1].startswith("bypass:")


def test_cookies_headers_and_another_configuration_count(folder: Path) -> None:
    file = folder / "try.json"
    file.write_text(json.dumps({"queues": [{"id": "tried", "name": "T", "routes": [{"path": "/t"}], "max_active": 5}]}))
    code, output = run("explain", "/t", "--config", str(file), "--cookie", "__Host-stanchion-tried=x.y.z")
    assert code == 0
    assert "proves nothing" in output
    assert "has no state in Redis yet" in output
    output = run("explain", "/t", "--config", str(file), "--method", "options", "--header", "Origin: https://x.example",
                 "--header", "Access-Control-Request-Method: GET")[1]  # fmt: skip
    assert output.startswith("bypass:")
    assert "preflight" in output


def test_trouble_is_a_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no configuration is published" in run("explain", "/x")[1]
    assert "url:" in run("explain", "ftp://x/")[1]
    assert run("explain", "/x", "--header", "no colon")[0] == 2
    apply(folder, {"id": "away", "name": "A", "routes": [{"path": "/away"}], "max_active": 5})
    monkeypatch.setenv("UPSTASH_REDIS_REST_URL", "http://127.0.0.1:9")
    code, output = run("explain", "/away")
    assert code == 0
    assert output.startswith("depends:")
    assert "the state was not read" in output
