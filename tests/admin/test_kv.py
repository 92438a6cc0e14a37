"""The KV folder: whole values or none, and no way out of the folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import host.kv
from admin.kv import VALUE_MAX_BYTES, FolderKv, KvError


def test_put_and_get(tmp_path: Path) -> None:
    kv = FolderKv(tmp_path / "new" / "kv")
    with pytest.raises(KvError, match="folder of the store is missing; make it, or name another in STANCHION_KV_DIR"):
        kv.get("config.json")
    kv.put("config.json", "{}")
    assert kv.get("other.json") is None
    kv.put("pages/default/en/waiting.html", "größer")
    kv.put("config.json", '{"a": 1}')
    assert kv.get("config.json") == '{"a": 1}'
    assert kv.get("pages/default/en/waiting.html") == "größer"
    assert kv.get("config.json/inside") is None
    names = [path.name for path in (tmp_path / "new" / "kv").iterdir()]
    assert sorted(names) == ["config.json", "pages"], "something was left beside the values"


def test_a_failed_put_keeps_the_old_value(tmp_path: Path) -> None:
    kv = FolderKv(tmp_path)
    kv.put("a", "old")
    with pytest.raises(KvError, match="larger"):
        kv.put("a", "x" * (VALUE_MAX_BYTES + 1))
    with pytest.raises(KvError, match="cannot be written"):
        kv.put("a/b", "below a value")
    assert kv.get("a") == "old"


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"ok \xff")
    (tmp_path / "huge").write_bytes(b"x" * (VALUE_MAX_BYTES + 1))
    kv = FolderKv(tmp_path)
    with pytest.raises(KvError, match="byte 3"):
        kv.get("binary")
    with pytest.raises(KvError, match="larger"):
        kv.get("huge")


@pytest.mark.parametrize(
    "key",
    ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", ".hidden", "a\\b", "a\x00", "ä", "x" * 300, "a/b/c/d/e/f/g/h/i"],
)
def test_what_is_no_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(KvError, match="not a key"):
        FolderKv(tmp_path).get(key)


def test_keys_come_and_go(tmp_path: Path) -> None:
    kv = FolderKv(tmp_path / "kv")
    with pytest.raises(KvError, match="missing"):
        kv.keys()
    for key in ("a/b/c", "a/d", "e"):
        kv.put(key, "x")
    (tmp_path / "kv" / ".hidden").write_text("x")
    (tmp_path / "kv" / "a" / "b" / "c~").write_text("x")
    assert kv.keys() == ["a/b/c", "a/d", "e"]
    assert kv.keys("a/b") == ["a/b/c"]
    (tmp_path / "kv" / "a" / "b" / "c~").unlink()
    assert [kv.delete("a/b/c"), kv.delete("a/b/c"), kv.delete("a/b"), kv.delete("a")] == [True, False, False, False]
    assert not (tmp_path / "kv" / "a" / "b").exists()
    assert kv.delete("e")
    assert kv.keys() == ["a/d"]
    with pytest.raises(KvError, match="not a key"):
        kv.delete("../x")


KEYS = st.text(alphabet="ab./\\-_%~\x00A", max_size=12) | st.from_regex(r"([a-z.]{1,3}/){0,9}[a-z]", fullmatch=True)


@given(KEYS)
def test_the_edge_knows_the_same_keys(key: str) -> None:
    def takes(check: Callable[[str], object], error: type[Exception]) -> bool:
        try:
            check(key)
        except error:
            return False
        return True

    assert takes(FolderKv(Path("/srv/kv"))._path, KvError) == takes(host.kv.check_key, host.kv.KvError)


def test_the_edge_reads_what_the_admin_writes(tmp_path: Path) -> None:
    FolderKv(tmp_path).put("pages/default/en/waiting.html", "größer\n")
    assert host.kv.KvFolder(tmp_path).get("pages/default/en/waiting.html") == "größer\n"
    host.kv.KvFolder(tmp_path).put("config.json", "{}")
    assert FolderKv(tmp_path).get("config.json") == "{}"
    assert VALUE_MAX_BYTES == host.kv.MAX_VALUE_BYTES


@given(KEYS)
def test_no_key_leads_out_of_the_folder(key: str) -> None:
    folder = Path("/srv/kv")
    try:
        path = FolderKv(folder)._path(key)
    except KvError:
        return
    assert folder in path.parents
    assert ".." not in path.parts
