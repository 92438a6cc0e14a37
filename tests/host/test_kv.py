from __future__ import annotations

import os
import shutil
import string
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host import kv_scan
from host.kv import MAX_KEY_CHARACTERS, MAX_SEGMENTS, MAX_VALUE_BYTES, SCAN_INTERVAL_S, KvError, KvFolder, check_key
from host.kv_scan import RECENT_NS, scan

segment = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,15}", fullmatch=True)
keys = st.lists(segment, min_size=1, max_size=MAX_SEGMENTS).map("/".join)


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> KvFolder:
    root = tmp_path / "kv"
    root.mkdir()
    return KvFolder(root, clock)


# -- keys


@given(keys)
def test_a_key_stays_below_the_root(key: str) -> None:
    check_key(key)
    root = Path("/store")
    assert os.path.normpath(root / key).startswith("/store/")


@given(st.text())
def test_only_plain_segments_are_keys(key: str) -> None:
    letters = set(string.ascii_letters + string.digits + "._-")
    parts = key.split("/")
    plain = all(part and set(part) <= letters and part[0] != "." for part in parts)
    if plain and len(parts) <= MAX_SEGMENTS and len(key) <= MAX_KEY_CHARACTERS:
        check_key(key)
    else:
        with pytest.raises(KvError, match="is not a key"):
            check_key(key)


@pytest.mark.parametrize(
    "key",
    ["", "/", "a/", "/a", "a//b", ".", "..", "a/../b", "a/..", ".hidden", "a/.b", "a b", "a\\b", "a\x00", "a\n", "ä", "c:d",
     "x" * (MAX_KEY_CHARACTERS + 1), "/".join("a" * (MAX_SEGMENTS + 1))],
)  # fmt: skip
@pytest.mark.parametrize("method", ["get", "put", "delete"])
def test_what_is_no_key_is_an_error(store: KvFolder, key: str, method: str) -> None:
    arguments = [key, "x"] if method == "put" else [key]
    with pytest.raises(KvError, match="is not a key"):
        getattr(store, method)(*arguments)


# -- values


@given(st.dictionaries(segment, st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_values_come_back_as_they_were_put(tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]) -> None:
    store = KvFolder(tmp_path_factory.mktemp("kv"))
    for key, text in values.items():
        store.put(f"pages/{key}", text)
    assert {key: store.get(f"pages/{key}") for key in values} == values
    assert store.keys() == sorted(f"pages/{key}" for key in values)


def test_line_ends_are_not_touched(store: KvFolder) -> None:
    store.put("a", "one\r\ntwo\n")
    assert store.get("a") == "one\r\ntwo\n"
    assert (store.root / "a").read_bytes() == b"one\r\ntwo\n"


def test_absent_is_none(store: KvFolder) -> None:
    store.put("pages/default", "x")
    assert store.get("config.json") is None
    assert store.get("none/at/all") is None
    assert store.get("pages") is None, "a folder is no value"
    assert store.get("pages/default/more") is None, "a file is no folder"


def test_delete_says_whether_it_was_there_and_frees_the_name(store: KvFolder) -> None:
    store.put("pages/en/waiting.html", "x")
    assert store.delete("pages") is False
    assert store.delete("pages/en/waiting.html") is True
    assert store.delete("pages/en/waiting.html") is False
    store.put("pages", "now a value")
    assert store.keys() == ["pages"]


def test_keys_are_sorted_and_filtered(store: KvFolder) -> None:
    for key in ("pages/b.html", "config.json", "pages/a.html", "pagesx"):
        store.put(key, "x")
    (store.root / "a b").write_text("not a key")
    (store.root / "config.json~").write_text("an editor's copy")
    (store.root / ".swap").write_text("hidden")
    assert store.keys() == ["config.json", "pages/a.html", "pages/b.html", "pagesx"]
    assert store.keys("pages/") == ["pages/a.html", "pages/b.html"]
    assert store.keys("none") == []


def test_a_value_is_bounded_both_ways(store: KvFolder) -> None:
    store.put("a", "x" * MAX_VALUE_BYTES)
    assert len(store.get("a") or "") == MAX_VALUE_BYTES
    with pytest.raises(KvError, match=f"has {MAX_VALUE_BYTES + 1} bytes"):
        store.put("a", "x" * (MAX_VALUE_BYTES - 1) + "é")
    (store.root / "b").write_bytes(b"x" * (MAX_VALUE_BYTES + 1))
    with pytest.raises(KvError, match="is larger than"):
        store.get("b")


def test_a_value_must_be_utf_8_both_ways(store: KvFolder) -> None:
    (store.root / "a").write_bytes(b"ok \xff")
    with pytest.raises(KvError, match=rf"{store.root}/a is not UTF-8: .* at byte 3"):
        store.get("a")
    with pytest.raises(KvError, match="UTF-8"):
        store.put("b", "\ud800")


# -- an error is never "absent"


def test_a_missing_store_is_an_error(tmp_path: Path) -> None:
    store = KvFolder(tmp_path / "none")
    with pytest.raises(KvError, match=f"{tmp_path}/none: .* make it, or name another in STANCHION_KV_DIR"):
        store.get("a")
    with pytest.raises(KvError, match="cannot be listed"):
        store.keys()


def test_a_store_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kv").write_text("x")
    with pytest.raises(KvError, match="missing"):
        KvFolder(tmp_path / "kv").get("a")


def test_a_loop_of_links_is_an_error(store: KvFolder) -> None:
    (store.root / "a").symlink_to(store.root / "a")
    with pytest.raises(KvError, match=f"{store.root}/a cannot be read: "):
        store.get("a")


def test_a_pipe_is_an_error_and_nobody_waits(store: KvFolder) -> None:
    os.mkfifo(store.root / "a")
    with pytest.raises(KvError, match="not a regular file"):
        store.get("a")


def test_a_file_without_read_permission_is_an_error(store: KvFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_args: object) -> None:  # a real one would not stop root
        raise PermissionError(13, "Permission denied")

    store.put("a", "x")
    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(KvError, match=f"{store.root}/a cannot be read: Permission denied"):
        store.get("a")


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_put_that_fails_leaves_the_old_value_and_no_litter(
    store: KvFolder, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    store.put("a", "old")

    def no_space(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, no_space)
    with pytest.raises(KvError, match=f"{store.root}/a cannot be written: No space left on device"):
        store.put("a", "new")
    monkeypatch.undo()
    assert store.get("a") == "old"
    assert [path.name for path in store.root.iterdir()] == ["a"]


def test_a_folder_in_the_way_is_an_error(store: KvFolder) -> None:
    store.put("a/b", "x")
    with pytest.raises(KvError, match=f"{store.root}/a cannot be written"):
        store.put("a", "x")
    with pytest.raises(KvError, match=f"{store.root}/a/b/c cannot be written"):
        store.put("a/b/c", "x")


def test_a_reader_sees_old_or_new_and_never_a_part(store: KvFolder) -> None:
    old, new = "o" * 300_000, "n" * 300_000
    store.put("a", old)
    stop = threading.Event()
    seen: set[str | None] = set()

    def read() -> None:
        while not stop.is_set():
            seen.add(store.get("a"))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(60):
        store.put("a", new if number % 2 else old)
    stop.set()
    reader.join()
    assert seen <= {old, new}


# -- generation


def edit_in_place(root: Path) -> None:
    with (root / "a").open("r+") as file:
        file.write("ONE")


def edit_by_rename(root: Path) -> None:
    (root / ".a.swp").write_text("ONE")
    (root / ".a.swp").rename(root / "a")


def edit_with_old_times(root: Path) -> None:
    before = (root / "a").stat()
    (root / "a").write_text("ONE")
    os.utime(root / "a", ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_folder(root: Path) -> None:
    shutil.copytree(root, root.with_name("next"))
    root.rename(root.with_name("last"))
    root.with_name("next").rename(root)


CHANGES: list[Callable[[Path], object]] = [
    edit_in_place,
    edit_by_rename,
    edit_with_old_times,
    replace_folder,
    lambda root: (root / "a").touch(),
    lambda root: (root / "b").write_text("new"),
    lambda root: (root / "a").unlink(),
    lambda root: (root / "a").rename(root / "c"),
    lambda root: (root / "deep/er").write_text("changed"),
    lambda root: shutil.rmtree(root / "deep"),
    lambda root: shutil.rmtree(root),
]


@pytest.mark.parametrize("change", CHANGES, ids=range(len(CHANGES)))
def test_every_change_by_hand_is_noticed(store: KvFolder, clock: Clock, change: Callable[[Path], object]) -> None:
    store.put("a", "one")
    store.put("deep/er", "x")
    for path in (store.root / "a", store.root / "deep/er"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    before = store.generation()
    change(store.root)
    clock.now_s += SCAN_INTERVAL_S
    assert store.generation() != before


def test_it_looks_at_most_four_times_a_second(store: KvFolder, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(root: Path, max_depth: int) -> kv_scan.Scan:
        nonlocal looks
        looks += 1
        return scan(root, max_depth)

    monkeypatch.setattr("host.kv.scan", counted)
    for _ in range(1000):
        store.generation()
        clock.now_s += 0.001
    assert looks == 4


def test_an_own_change_is_noticed_at_once(store: KvFolder) -> None:
    numbers = [store.generation()]
    store.put("a", "one")
    numbers.append(store.generation())
    store.put("a", "two")
    numbers.append(store.generation())
    store.delete("a")
    numbers.append(store.generation())
    assert len(set(numbers[:3])) == 3
    assert numbers[3] == numbers[0], "the folder is as it was"


def test_without_a_change_it_stays_and_is_the_same_for_all(store: KvFolder, clock: Clock) -> None:
    store.put("a", "one")
    later_ns = (store.root / "a").stat().st_ctime_ns + RECENT_NS + 1
    assert scan(store.root, 8, later_ns).number == scan(store.root, 8, later_ns + 10**12).number
    assert KvFolder(store.root).generation() == KvFolder(store.root).generation()
    (store.root / ".hidden").write_text("x")
    assert scan(store.root, 8, later_ns).number == scan(store.root, 8, later_ns + 1).number


def test_an_edit_that_leaves_no_trace_is_noticed_when_the_tick_is_over(store: KvFolder) -> None:
    """A second edit within one clock tick has the same size, inode and times; the later look differs all the same."""
    store.put("a", "one")
    changed_ns = (store.root / "a").stat().st_ctime_ns
    soon, late = scan(store.root, 8, changed_ns + 1), scan(store.root, 8, changed_ns + RECENT_NS + 1)
    assert soon.number != late.number


def test_it_never_raises_and_fits_63_bits(tmp_path: Path) -> None:
    numbers = {KvFolder(tmp_path / "none").generation(), KvFolder(tmp_path).generation()}
    assert len(numbers) == 2
    assert all(0 <= number < 2**63 for number in numbers)


def test_a_loop_of_folders_ends(store: KvFolder) -> None:
    store.put("a", "x")
    (store.root / "loop").symlink_to(store.root)
    assert store.generation() >= 0
    listed = store.keys()
    assert "loop/loop/a" in listed


# -- seed


@pytest.fixture
def source(tmp_path: Path) -> Path:
    source = tmp_path / "seed"
    seed = KvFolder(source)
    for key in ("config.json", "pages/default/en/waiting.html", "pages/default/de/waiting.html"):
        seed.put(key, f"the text of {key}")
    (source / ".gitkeep").touch()
    return source


def copied(store: KvFolder, source: Path) -> bool:
    seed = KvFolder(source)
    listed = seed.keys()
    return store.keys() == listed and all(store.get(key) == seed.get(key) for key in listed)


@pytest.mark.parametrize("exists", [True, False])
def test_an_empty_store_is_filled(tmp_path: Path, source: Path, exists: bool) -> None:
    store = KvFolder(tmp_path / "kv")
    if exists:
        store.root.mkdir()
        (store.root / ".hidden").touch()
    assert store.seed(source) == 3
    assert copied(store, source)
    assert not (store.root / ".seeding").exists()
    assert store.seed(source) == 0


def test_a_store_with_a_value_is_left_alone(store: KvFolder, source: Path) -> None:
    store.put("own", "x")
    assert store.seed(source) == 0
    assert store.keys() == ["own"]


def test_a_deleted_value_does_not_come_back(store: KvFolder, source: Path) -> None:
    store.seed(source)
    store.delete("config.json")
    assert store.seed(source) == 0
    assert store.get("config.json") is None


@pytest.mark.parametrize("calls", range(1, 13))
def test_after_a_crash_anywhere_the_next_call_completes_it(
    store: KvFolder, source: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    """The process dies at the n-th call that touches the disk; what it had begun does not count as seeded."""

    class Died(BaseException):
        pass

    left = calls

    def dying(real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left == 0:
                raise Died
            return real(*args, **options)

        return call

    for name in ("fsync", "link"):
        monkeypatch.setattr(os, name, dying(getattr(os, name)))
    died = False
    try:
        store.seed(source)
    except Died:
        died = True
    monkeypatch.undo()
    complete_before = copied(store, source)
    store.seed(source)
    assert copied(store, source)
    assert died or complete_before
    assert not (store.root / ".seeding").exists()
    assert store.seed(source) == 0


def test_what_someone_put_meanwhile_is_kept(store: KvFolder, source: Path) -> None:
    (store.root / ".seeding").touch()  # another process is at it, or was
    store.put("config.json", "edited")
    assert store.seed(source) == 2
    assert store.get("config.json") == "edited"


def test_without_hard_links_it_works_too(store: KvFolder, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_supported(*_args: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", not_supported)
    (store.root / ".seeding").touch()
    store.put("config.json", "edited")
    assert store.seed(source) == 2
    assert store.get("config.json") == "edited"
    assert store.get("pages/default/en/waiting.html") == "the text of pages/default/en/waiting.html"


def test_two_at_once_fill_it_once(tmp_path: Path, source: Path) -> None:
    stores = [KvFolder(tmp_path / "kv") for _ in range(4)]
    threads = [threading.Thread(target=store.seed, args=(source,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert copied(stores[0], source)
    assert sorted(path.name for path in stores[0].root.iterdir()) == ["config.json", "pages"]


@pytest.mark.parametrize(("name", "value"), [("Read Me", b"x"), ("a.html", b"\xff")])
def test_a_seed_that_cannot_be_used_is_an_error_and_does_not_count(
    store: KvFolder, source: Path, name: str, value: bytes
) -> None:
    (source / name).write_bytes(value)
    with pytest.raises(KvError, match=r"is not a key|is not UTF-8"):
        store.seed(source)
    (source / name).unlink()
    store.seed(source)
    assert copied(store, source)


def test_a_seed_folder_that_is_not_there_is_an_error(store: KvFolder, tmp_path: Path) -> None:
    with pytest.raises(KvError, match="no folder to fill the store from"):
        store.seed(tmp_path / "none")
    assert store.keys() == []


def test_the_seed_of_the_product_can_be_used(store: KvFolder) -> None:
    source = Path(__file__).parents[2] / "kv-seed"
    listed = KvFolder(source).keys()
    assert "config.json" in listed
    assert store.seed(source) == len(listed)
