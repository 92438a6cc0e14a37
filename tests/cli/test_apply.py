"""`stanchion config apply` against a running REST door over the embedded Redis: what the state takes is what counts."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from admin.configure.numbering import numbered
from cli.main import main
from cli.redis_rest import send
from edge.core.commands import take_snapshot
from edge.core.config import load_config
from edge.core.model import Queue
from edge.core.snapshot import Snapshot
from tests.host.rest.servers import TOKEN, Door, running_door


def queue(queue_id: str, **settings: Any) -> dict[str, Any]:
    return {"id": queue_id, "name": queue_id, "routes": [{"path": f"/{queue_id}/*"}], "admit_per_minute": 6} | settings


@dataclass
class Desk:
    """A folder in which `config apply` is run, and the Redis that it talks to."""

    folder: Path
    environ: dict[str, str]

    def apply(self, *queues: dict[str, Any], groups: list[dict[str, Any]] | None = None) -> tuple[int, str]:
        file = self.folder / "next.json"
        file.write_text(json.dumps({"queues": list(queues), **({"groups": groups} if groups else {})}))
        result = CliRunner().invoke(main, ["config", "apply", str(file)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    def state(self, queue_id: str) -> Snapshot:
        found = send(take_snapshot(queue_id, secrets.token_hex(16)), self.environ).snapshot
        assert found is not None
        return found

    def kept(self, queue_id: str) -> Queue:
        found = load_config((self.folder / "kv" / "config.json").read_text()).queue(queue_id)
        assert found is not None
        return found


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with running_door() as running:
        yield running


@pytest.fixture
def desk(door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty folder; ids differ from test to test, so states do not meet."""
    environ = {"UPSTASH_REDIS_REST_URL": door.url, "UPSTASH_REDIS_REST_TOKEN": TOKEN, "STANCHION_KV_DIR": str(tmp_path / "kv")}
    (tmp_path / "kv").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return Desk(tmp_path, environ)


def test_a_queue_that_comes_back_gets_its_new_limits(desk: Desk) -> None:
    assert desk.apply(queue("back")) == (0, "queue back: created\nin force: back changed\n")
    desk.apply(queue("other"))
    code, output = desk.apply(queue("other"), queue("back", admit_per_minute=60))
    assert code == 0
    assert "queue back: taken" in output
    state = desk.state("back")
    assert (state.admit_per_minute, state.config_version) == (60, 2)
    assert desk.kept("back").config_version == 2


def test_an_emptied_folder_does_not_number_below_the_state(desk: Desk) -> None:
    for rate in (6, 7, 8):
        desk.apply(queue("emptied", admit_per_minute=rate))
    (desk.folder / "kv" / "config.json").unlink()
    before = desk.state("emptied").config_version
    desk.apply(queue("emptied", admit_per_minute=9))
    state = desk.state("emptied")
    assert state.admit_per_minute == 9
    assert state.config_version == desk.kept("emptied").config_version == before + 1


@pytest.mark.parametrize("rate", [6, 60])
def test_a_folder_that_is_behind_the_state_catches_up(desk: Desk, rate: int) -> None:
    queue_id = f"behind-{rate}"
    desk.apply(queue(queue_id))
    desk.apply()
    desk.apply(queue(queue_id, config_version=40))
    (desk.folder / "kv" / "config.json").write_text(json.dumps({"queues": [queue(queue_id)]}))
    code, output = desk.apply(queue(queue_id, admit_per_minute=rate))
    assert (code, output) == (0, f"in force: {queue_id} changed\n")
    assert desk.kept(queue_id).config_version == 41


def test_what_is_the_same_changes_nothing(desk: Desk) -> None:
    desk.apply(queue("same"))
    kept = (desk.folder / "kv" / "config.json").read_text()
    assert desk.apply(queue("same")) == (0, "nothing changed\n")
    assert (desk.folder / "kv" / "config.json").read_text() == kept


def test_removed_queues_are_named_with_what_they_guarded(desk: Desk) -> None:
    desk.apply(queue("stays"), queue("goes"), queue("moves"))
    code, output = desk.apply(queue("stays"))
    assert code == 0
    assert "nothing changed" not in output
    assert "removed: goes; these addresses are no longer guarded by it: */goes/*" in output
    assert "removed: moves;" in output


def test_an_address_that_another_queue_has_is_not_called_open(desk: Desk) -> None:
    desk.apply(queue("old-name"))
    _, output = desk.apply(queue("new-name", routes=[{"path": "/old-name/*"}]))
    assert "removed: old-name; other queues have its addresses" in output
    assert "no longer guarded" not in output


def test_a_group_is_begun_and_numbered_as_one(desk: Desk) -> None:
    plain = [{"id": f"g-{name}", "name": name, "routes": [{"path": f"/{name}/*"}]} for name in ("jp", "us")]
    group = {"id": "g", "name": "G", "queues": ["g-jp", "g-us"], "admit_per_minute": 6}
    assert desk.apply(*plain, groups=[group]) == (0, "group g: created\nin force: g changed\n")
    assert desk.apply(*plain, groups=[group]) == (0, "nothing changed\n")
    code, output = desk.apply(plain[0] | {"name": "日本"}, plain[1], groups=[group])
    assert (code, output) == (0, "in force: g changed\n")
    kept = desk.kept("g-us")
    assert (kept.config_version, kept.scope) == (2, "g")
    _, output = desk.apply(plain[0] | {"max_active": 5}, plain[1] | {"max_active": 5})
    assert "reset: g-jp is in another line now (g-jp, before g)" in output
    assert "queue g-us: created" in output


def test_a_number_that_cannot_go_higher_is_refused(desk: Desk) -> None:
    desk.apply(queue("last", config_version=2**53 - 1))
    code, output = desk.apply(queue("last", admit_per_minute=7))
    assert code == 1
    assert "queues[0].config_version" in output
    assert desk.kept("last").admit_per_minute == 6


def test_a_broken_configuration_in_the_folder_is_named(desk: Desk) -> None:
    desk.apply(queue("broken"))
    kept = desk.folder / "kv" / "config.json"
    kept.write_text("[" * 100_000)
    code, output = desk.apply(queue("broken"))
    assert code == 1
    assert f"{kept}, which is to be replaced, is broken" in output


def test_without_redis_nothing_is_put_in_force(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UPSTASH_REDIS_REST_URL", "http://127.0.0.1:9")
    code, output = desk.apply(queue("away"))
    assert code == 1
    assert "does not answer" in output
    assert not (desk.folder / "kv" / "config.json").exists()


def test_what_somebody_else_publishes_meanwhile_is_not_lost(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.apply(queue("raced"))
    theirs = json.dumps({"queues": [queue("raced", poll_s=9)]})

    def numbered_slowly(*arguments: Any) -> Any:
        (desk.folder / "kv" / "config.json").write_text(theirs)
        return numbered(*arguments)

    monkeypatch.setattr("cli.configuration.numbered", numbered_slowly)
    code, output = desk.apply(queue("raced", idle_s=99))
    assert code == 1
    assert "something else published" in output
    assert (desk.folder / "kv" / "config.json").read_text() == theirs
