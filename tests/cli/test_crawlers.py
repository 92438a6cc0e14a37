"""`stanchion crawlers`: lists as people and search engines write them; what is refused changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from edge.core.crawlers import CRAWLERS_KEY, load_crawlers

PUBLISHED = {"creationTime": "2026-11-01T00:00:00.000000", "prefixes": [{"ipv6Prefix": "2001:db8:10::/64"},
                                                                          {"ipv4Prefix": "192.0.2.0/27"}]}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STANCHION_KV_DIR", str(tmp_path / "kv"))
    (tmp_path / "kv").mkdir()
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["crawlers", *arguments])


def apply(folder: Path, value: Any) -> Result:
    file = folder / "list.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return run("apply", str(file))


def test_a_list_is_put_in_force_and_asked(folder: Path) -> None:
    assert "no list is in force" in run("who", "192.0.2.1").output
    done = apply(folder, {"findbot": PUBLISHED, "other": ["198.51.100.0/24"]})
    assert done.output == "in force: findbot 2 networks, other 1 networks\n"
    assert load_crawlers((folder / "kv" / CRAWLERS_KEY).read_text()).names == ("findbot", "other")
    assert run("who", "192.0.2.31").output == "findbot\n"
    assert run("who", "2001:db8:10::1").output == "findbot\n"
    assert run("who", "192.0.2.32").output == "nobody's\n"


@pytest.mark.parametrize("address", ["abc", "", "192.0.2", "192.0.2.7/24", "2001:db8::g", "192.0.2.7 "])
def test_what_is_no_address_is_refused(folder: Path, address: str) -> None:
    apply(folder, {"findbot": PUBLISHED})
    asked = run("who", address)
    assert (asked.exit_code, "is no IP address, as 192.0.2.7" in asked.output) == (2, True)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": ["0.0.0.0/0"]}, "crawlers.a[0]: 0.0.0.0/0 is too wide"),
        ({"a": {"prefixes": [{"ipv4Prefix": "x"}]}}, "crawlers.a[0]"),
        ({"a": {"prefixes": []}}, "crawlers.a"),
        ({"a": {"networks": []}}, "crawlers.a"),
        ([1], "crawlers"),
        ("{", "is not JSON"),
    ],
)
def test_what_is_refused_changes_nothing(folder: Path, value: Any, said: str) -> None:
    apply(folder, {"good": ["192.0.2.0/24"]})
    refused = apply(folder, value)
    assert refused.exit_code == 1
    assert said in refused.output
    assert run("who", "192.0.2.1").output == "good\n"


def test_a_list_that_was_changed_behind_its_back_is_named(folder: Path) -> None:
    apply(folder, {"good": ["192.0.2.0/24"]})
    file = folder / "kv" / CRAWLERS_KEY
    file.write_text(file.read_text().replace("c0000200", "c0000100"))
    assert "apply the list itself again" in run("who", "192.0.2.1").output
