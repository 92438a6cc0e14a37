"""`stanchion publish`: pages into a folder or another store, the list of versions, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.kv.redis_kv import RedisStore
from cli.main import main
from tests.host.rest.servers import TOKEN, running_door


def run(*arguments: str, code: int = 0, **environ: str) -> str:
    result = CliRunner().invoke(main, ["publish", *arguments], env=environ)
    assert result.exit_code == code, result.output
    return result.output


def test_an_unknown_brand_is_refused(tmp_path: Path) -> None:
    assert "nobody" in run("nobody", "--to", str(tmp_path), code=1)
    assert not list(tmp_path.rglob("*.html"))


def test_every_page_is_put_in_force_and_there_is_a_way_back(tmp_path: Path) -> None:
    def default(*options: str, code: int = 0) -> str:
        return run("default", *options, "--to", str(tmp_path), code=code)

    assert "0 versions" in default("--versions")
    assert "version 1 is in force" in default("--language", "en")
    assert (tmp_path / "pages/default/1/en/waiting.html").exists()
    assert "version 2 is in force" in default("--language", "en")
    assert "version 1 is in force again, in en" in default("--rollback")
    assert "no translation for 'none'" in default("--language", "none", code=1)
    assert "version 2 is in force again" in default("--rollback", "--version", "2")
    assert "there is no version 7: there is 1, 2" in default("--rollback", "--version", "7", code=1)
    said, newest, oldest = default("--versions").splitlines()
    assert said.endswith("2 versions")
    assert newest.split()[:3] == ["2", "in", "force"]
    assert " UTC by " in oldest
    (tmp_path / "pages/default/current.json").write_text("no")
    assert "note: pages/default/current.json:1: damaged" in default("--rollback")


@pytest.mark.parametrize("options", [("--rollback", "--language", "en"), ("--versions", "--language", "en"), ("--version", "1"),
                                     ("--rollback", "--versions"), ("--rollback", "--version", "0")])  # fmt: skip
def test_options_that_say_nothing_together_are_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    run("default", "--language", "en", "--to", str(tmp_path))
    before = {file: file.read_text() for file in tmp_path.rglob("*.json")}
    assert "Usage:" in run("default", *options, "--to", str(tmp_path), code=2)
    assert {file: file.read_text() for file in tmp_path.rglob("*.json")} == before


@pytest.fixture
def redis() -> Iterator[RedisStore]:
    with running_door() as door:
        store = RedisStore(door.url, TOKEN, "kv:test")
        yield store
        store.close()


def test_pages_go_straight_into_another_store(redis: RedisStore) -> None:
    environ = {"UPSTASH_REDIS_REST_URL": redis._url, "UPSTASH_REDIS_REST_TOKEN": TOKEN}
    assert "hash kv:test: version 1 is in force" in run("default", "--language", "ja", "--to", "redis:kv:test", **environ)
    assert "1/ja/called.html" in " ".join(redis.list())
    assert "1 versions" in run("default", "--versions", "--to", "redis:kv:test", **environ)
    assert "UPSTASH_REDIS_REST_TOKEN" in run("default", "--versions", "--to", "redis", code=1, UPSTASH_REDIS_REST_URL=redis._url,
                                             UPSTASH_REDIS_REST_TOKEN="")  # fmt: skip
