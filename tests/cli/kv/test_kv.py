"""`stanchion kv`: the same moves against a folder, Fastly's KV store (the stand-in) and a Redis over REST (the bridge)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

import cli.deploy.hourly
from cli.deploy.api import Api
from cli.kv.compare import in_order
from cli.kv.fastly_kv import FastlyStore
from cli.kv.folder import FolderStore
from cli.kv.redis_kv import REQUEST_MAX_BYTES, RedisStore
from cli.kv.stores import Store, StoreError
from cli.main import main
from cli.run import SEED
from tests.cli.deploy.standin import TOKEN as FASTLY_TOKEN
from tests.cli.deploy.standin import Fastly, running_fastly
from tests.cli.deploy.world import configuration
from tests.host.rest.servers import TOKEN, Door, running_door

KINDS = ("folder", "fastly", "redis")


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with running_door() as running:
        yield running


@pytest.fixture
def fastly() -> Iterator[Fastly]:
    with running_fastly() as running:
        running.stores["kv"]["K1"] = {"name": "pages", "held": {}}
        yield running
        assert running.faults == []


@dataclass
class Place:
    """A KV folder, and another store of some kind under the name that the command line gives it."""

    root: Path
    name: str
    other: Store
    environ: dict[str, str]

    def run(self, verb: str, *arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["kv", verb, self.name, "--folder", str(self.root), *arguments], env=self.environ)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    def write(self, key: str, text: str) -> None:
        (self.root / key).parent.mkdir(parents=True, exist_ok=True)
        (self.root / key).write_text(text)


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, fastly: Fastly, door: Door, tmp_path: Path) -> Place:
    environ = {"FASTLY_API_TOKEN": FASTLY_TOKEN, "FASTLY_API_ENDPOINT": fastly.url, "UPSTASH_REDIS_REST_URL": door.url,
               "UPSTASH_REDIS_REST_TOKEN": TOKEN}  # fmt: skip
    root, away = tmp_path / "kv", tmp_path / "away"
    root.mkdir()
    away.mkdir()
    hash_key = f"kv:{tmp_path.name}"
    other: dict[str, tuple[str, Store]] = {
        "folder": (f"folder:{away}", FolderStore(away)),
        "fastly": ("fastly:pages", FastlyStore(Api(FASTLY_TOKEN, fastly.url), "pages")),
        "redis": (f"redis:{hash_key}", RedisStore(door.url, TOKEN, hash_key)),
    }
    made = Place(root, *other[request.param], environ)
    for number in range(5):
        made.write(f"pages/default/en/page{number}.html", f"<p>é {number}</p>\n")
    made.write("config.json", configuration("sale"))
    return made


def test_a_store_does_what_every_store_does(place: Place) -> None:
    store = place.other
    assert store.list() == []
    assert store.get("a/b") is None
    store.put("a/b", "é\n\x00 \u2028")
    store.put("a/b", "two")
    store.put("c", "")
    assert store.list() == ["a/b", "c"]
    assert (store.get("a/b"), store.get("c")) == ("two", "")
    store.delete("a/b")
    store.delete("a/b")
    assert store.list() == ["c"]


def test_push_diff_pull(place: Place, tmp_path: Path) -> None:
    assert place.run("diff")[0] == 1
    code, output = place.run("push")
    assert (code, "6 new" in output) == (0, True)
    assert place.other.get("config.json") == (place.root / "config.json").read_text()
    assert place.run("diff") == (0, f"the folder {place.root} and {place.other.name}: no difference\n")
    assert "nothing to do" in place.run("push")[1]
    place.other.put("pages/default/en/page1.html", "<p>edited there</p>")
    place.write("pages/default/fr/new.html", "new")
    place.other.put("old.txt", "old")
    code, output = place.run("diff")
    assert code == 1
    assert "~ pages/default/en/page1.html (19 bytes -> 12 bytes)\n" in output
    assert "+ pages/default/fr/new.html (3 bytes)\n" in output
    assert "- old.txt (3 bytes)\n" in output
    assert "1 new, 1 changed, 1 only there" in output
    place.run("pull")
    assert (place.root / "pages/default/en/page1.html").read_text() == "<p>edited there</p>"
    assert (place.root / "old.txt").read_text() == "old"
    assert (place.root / "pages/default/fr/new.html").exists(), "left alone without --delete"


def test_unified_differences(place: Place) -> None:
    place.run("push")
    place.write("pages/default/en/page1.html", "<p>é 1</p>\n<p>more</p>\n")
    output = place.run("diff", "-u")[1]
    assert "--- a/pages/default/en/page1.html\n+++ b/pages/default/en/page1.html\n" in output
    assert "\n <p>é 1</p>\n+<p>more</p>\n" in output


def test_what_only_the_target_has_goes_when_asked(place: Place) -> None:
    place.run("push")
    (place.root / "pages/default/en/page1.html").unlink()
    code, output = place.run("push")
    assert (code, "left alone" in output) == (0, True)
    assert place.run("push", "--delete", "--dry-run")[0] == 1
    assert "pages/default/en/page1.html" in place.other.list()
    assert place.run("push", "--delete")[0] == 0
    assert "pages/default/en/page1.html" not in place.other.list()
    (place.root / "config.json").unlink()
    code, output = place.run("push", "--delete")
    assert (code, "without a configuration" in output) == (2, True)
    assert place.other.get("config.json") is not None


def test_a_dry_run_changes_nothing_and_ends_as_diff_does(place: Place) -> None:
    code, output = place.run("push", "--dry-run")
    assert (code, "would bring 6 new" in output) == (1, True)
    assert place.other.list() == []
    place.run("push")
    assert place.run("push", "--dry-run")[0] == 0


def test_limits_that_will_not_follow_are_named(place: Place) -> None:
    place.run("push")
    place.write("config.json", configuration("sale", admit_per_minute=60))
    code, output = place.run("push")
    assert (code, "note: sale changed without a higher config_version" in output) == (0, True)


@pytest.mark.parametrize("verb", ["push", "pull"])
def test_a_broken_configuration_is_not_brought(place: Place, verb: str) -> None:
    place.run("push")
    if verb == "push":
        place.write("config.json", '{"queues": [{}]}')
    else:
        place.other.put("config.json", '{"queues": [{}]}')
    place.write("pages/x/en/new.html", "new")
    code, output = place.run(verb)
    assert (code, "config.json is broken and was not brought" in output) == (2, True)
    assert "pages/x/en/new.html" not in place.other.list(), "nothing is written when something cannot be"


def test_the_limits_of_each_store() -> None:
    for key in ("", "x" * 1025, "a#b", "..", ".well-known/acme-challenge/x", "a\nb"):
        with pytest.raises(StoreError):
            FastlyStore.limits.check(key, "", "Fastly")
    FastlyStore.limits.check("x" * 1024, "y" * 25_000_000, "Fastly")
    with pytest.raises(StoreError, match="25,000,001 bytes"):
        FastlyStore.limits.check("x", "y" * 25_000_001, "Fastly")
    for key in ("../x", ".x", "a//b", "x" * 256, "é"):
        with pytest.raises(StoreError):
            FolderStore.limits.check(key, "", "the folder")
    with pytest.raises(StoreError, match=f"{2 * 1024 * 1024:,} are allowed"):
        FolderStore.limits.check("x", "é" * (1024 * 1024 + 1), "the folder")


def test_a_value_that_grows_over_the_request_limit_on_its_way_is_refused() -> None:
    """JSON writes a control character as six bytes."""

    def nobody(request: httpx.Request) -> httpx.Response:
        raise AssertionError("it was sent")

    store = RedisStore("https://redis.example.org", "t", transport=httpx.MockTransport(nobody))
    with pytest.raises(StoreError, match=f"at most {REQUEST_MAX_BYTES:,} pass"):
        store.put("x", "\x01" * 2_000_000)


def test_a_key_that_the_folder_cannot_have_stops_the_pull(fastly: Fastly, tmp_path: Path) -> None:
    (tmp_path / "kv").mkdir()
    fastly.stores["kv"]["K1"]["held"] = {"good.txt": b"x", "ba d": b"x"}
    environ = {"FASTLY_API_TOKEN": FASTLY_TOKEN, "FASTLY_API_ENDPOINT": fastly.url}
    result = CliRunner().invoke(main, ["kv", "pull", "fastly:pages", "--folder", str(tmp_path / "kv")], env=environ)
    assert (result.exit_code, "'ba d' is not a key" in result.output) == (2, True)
    assert list((tmp_path / "kv").iterdir()) == []


def test_trouble_ends_with_two_and_one_sentence(fastly: Fastly, door: Door, tmp_path: Path) -> None:
    good = {"FASTLY_API_TOKEN": FASTLY_TOKEN, "FASTLY_API_ENDPOINT": fastly.url, "UPSTASH_REDIS_REST_URL": door.url,
            "UPSTASH_REDIS_REST_TOKEN": TOKEN}  # fmt: skip
    (tmp_path / "kv").mkdir()
    for name, changed, said in (
        ("fastly:none", {}, "there is no KV store 'none'"),
        ("fastly", {"FASTLY_API_TOKEN": "x"}, "Is FASTLY_API_TOKEN right"),
        ("fastly", {"FASTLY_API_TOKEN": ""}, "FASTLY_API_TOKEN: it is not set"),
        ("redis", {"UPSTASH_REDIS_REST_TOKEN": "wrong"}, "is UPSTASH_REDIS_REST_TOKEN right?"),
        ("redis", {"UPSTASH_REDIS_REST_URL": "http://127.0.0.1:9"}, "does not answer HKEYS"),
        ("etcd", {}, "is no store"),
        (f"folder:{tmp_path}/none", {}, "there is no such folder"),
    ):
        result = CliRunner().invoke(main, ["kv", "diff", name, "--folder", str(tmp_path / "kv")], env=good | changed)
        assert (result.exit_code, said in result.output) == (2, True), result.output
        assert "Traceback" not in result.output


def test_a_push_that_stops_half_way_goes_on(fastly: Fastly, tmp_path: Path) -> None:
    root = tmp_path / "kv"
    root.mkdir()
    for number in range(4):
        (root / f"p{number}").write_text("x")
    fastly.failing.append(["PUT .*/keys/p2", 1, 400])
    environ = {"FASTLY_API_TOKEN": FASTLY_TOKEN, "FASTLY_API_ENDPOINT": fastly.url}
    command = ["kv", "push", "fastly:pages", "--folder", str(root)]
    result = CliRunner().invoke(main, command, env=environ)
    assert (result.exit_code, "2 of 4 were written; run the same command again" in result.output) == (2, True)
    assert "2 new" in CliRunner().invoke(main, command, env=environ).output


def versions(root: Path, brand: str, *numbers: int) -> None:
    """Published versions of a brand, the last one in force."""
    for number in numbers:
        page = root / f"pages/{brand}/{number}/en/notes.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"<p>{number}</p>")
    in_force = {"version": numbers[-1], "previous": numbers[-2] if len(numbers) > 1 else 0, "languages": ["en"]}
    (root / f"pages/{brand}/current.json").write_text(json.dumps(in_force))


def push_to_fastly(fastly: Fastly, root: Path, *arguments: str, verb: str = "push") -> tuple[int, str]:
    environ = {"FASTLY_API_TOKEN": FASTLY_TOKEN, "FASTLY_API_ENDPOINT": fastly.url}
    result = CliRunner().invoke(main, ["kv", verb, "fastly:pages", "--folder", str(root), *arguments], env=environ)
    return result.exit_code, result.output


def test_fastly_gets_the_versions_in_force_and_the_others_when_asked(fastly: Fastly, tmp_path: Path) -> None:
    versions(tmp_path, "shop", 1, 2, 3)
    code, output = push_to_fastly(fastly, tmp_path)
    held = fastly.stores["kv"]["K1"]["held"]
    assert (code, set(held)) == (0, {"pages/shop/3/en/notes.html", "pages/shop/current.json"})
    assert "not compared: 2 pages of versions that are not in force or brands that no queue shows (--all-versions)" in output
    assert "changes to make: 2\n" in output
    assert push_to_fastly(fastly, tmp_path, verb="diff")[0] == 0
    assert push_to_fastly(fastly, tmp_path, "--all-versions", verb="diff")[0] == 1
    assert "changes to make: 2\n" in push_to_fastly(fastly, tmp_path, "--all-versions")[1]
    assert len(held) == 4
    assert push_to_fastly(fastly, tmp_path, "--delete")[0] == 0
    assert len(held) == 4, "what the folder has is not only there"


def test_a_brand_goes_to_fastly_with_the_configuration_that_names_it(fastly: Fastly, tmp_path: Path) -> None:
    versions(tmp_path, "shop", 1)
    versions(tmp_path, "default", 1)
    (tmp_path / "config.json").write_text(configuration("sale"))
    held = fastly.stores["kv"]["K1"]["held"]
    push_to_fastly(fastly, tmp_path)
    assert set(held) == {"config.json", "pages/default/1/en/notes.html", "pages/default/current.json"}
    (tmp_path / "config.json").write_text(configuration("sale", page="shop", config_version=2))
    before = len(fastly.writes())
    push_to_fastly(fastly, tmp_path)
    written = [write.partition("/keys/")[2] for write in fastly.writes()[before:]]
    assert written == ["pages/shop/1/en/notes.html", "pages/shop/current.json", "config.json"]
    (tmp_path / "pages/default/1/en/notes.html").write_text("mended")
    push_to_fastly(fastly, tmp_path)
    assert held["pages/default/1/en/notes.html"] == b"mended", "what the store has is kept right"


def test_a_version_gone_back_to_is_brought_before_the_value_that_names_it(fastly: Fastly, tmp_path: Path) -> None:
    versions(tmp_path, "shop", 1, 2)
    push_to_fastly(fastly, tmp_path)
    (tmp_path / "pages/shop/current.json").write_text('{"version": 1, "previous": 2, "languages": ["en"]}')
    before = len(fastly.writes())
    push_to_fastly(fastly, tmp_path)
    written = [write.partition("/keys/")[2] for write in fastly.writes()[before:]]
    assert written == ["pages/shop/1/en/notes.html", "pages/shop/current.json"]


@pytest.mark.parametrize("argument", ["--dry-run", "--delete"])
def test_more_changes_than_an_hour_takes_are_said_before_they_are_made(
    fastly: Fastly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str
) -> None:
    monkeypatch.setattr(cli.deploy.hourly, "CHANGES_PER_HOUR", 2)
    versions(tmp_path, "shop", 1)
    assert "note:" not in push_to_fastly(fastly, tmp_path, argument)[1]
    versions(tmp_path, "other", 1)
    versions(tmp_path, "third", 1)
    output = push_to_fastly(fastly, tmp_path, argument)[1]
    note = output[output.index("note: ") :].splitlines()[0]
    assert "changes, and Fastly takes 2 an hour" in note
    assert output.index("note: ") < output.index("+ pages/")


def test_the_configuration_is_written_last() -> None:
    assert in_order(["z", "config.json", "a"]) == ["a", "z", "config.json"]


GOOD = (SEED / "pages/default/1/en/closed.html").read_text("utf-8")


def edited(markup: str) -> str:
    return GOOD.replace("<main>", f"<main>\n{markup}")


HELD = "pages/default/1/en/closed.html"
REFUSED = {
    "a script from elsewhere": (HELD, edited('<script src="https://x.example/a.js"></script>'), "<script src> refers to"),
    "a picture from elsewhere": (HELD, edited('<img alt="" src="https://x.example/a.png">'), "<img src> refers to"),
    "another language": (HELD, GOOD.replace('lang="en"', 'lang="de"', 1), 'must say lang="en"'),
    "a slot that there is not": (HELD, edited("{{nobody}}"), "unknown slot 'nobody'"),
    "no page": (HELD, "hello", "needs the slots"),
    "no set of pages": ("pages/default/current.json", "{}", "pages/default/current.json: not an object with version"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_page_that_publishing_would_refuse_is_not_brought(tmp_path: Path, name: str) -> None:
    key, text, words = REFUSED[name]
    place = Place(tmp_path / "kv", f"folder:{tmp_path / 'away'}", FolderStore(tmp_path / "away"), {})
    (tmp_path / "away").mkdir()
    place.write("config.json", configuration("sale"))
    place.write(key, text)
    code, output = place.run("push")
    assert (code, key in output, words in output) == (2, True, True), output
    assert place.other.list() == []
    place.write(key, GOOD if key == HELD else '{"version": 1, "previous": 0, "languages": ["en"]}')
    assert place.run("push")[0] == 0
    assert place.other.list() == sorted(["config.json", key])


@pytest.mark.parametrize("linked", ["config.json", "pages"])
def test_a_link_that_leads_out_of_the_folder_is_not_pushed(tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    (outside / "pages").mkdir(parents=True)
    (outside / "pages/secret.txt").write_text("not for others")
    (outside / "config.json").write_text('{"queues": []}')
    folder, target = tmp_path / "kv", tmp_path / "target"
    folder.mkdir()
    target.mkdir()
    (folder / linked).symlink_to(outside / linked)
    push = ["kv", "push", f"folder:{target}", "--folder", str(folder)]
    result = CliRunner().invoke(main, push)
    assert result.exit_code == 2
    assert f"{folder / linked}" in result.output
    assert "leads out of the folder" in result.output
    assert list(target.iterdir()) == []


def test_links_within_the_folder_and_a_folder_that_is_a_link_are_fine(tmp_path: Path) -> None:
    real, folder, target = tmp_path / "real", tmp_path / "kv", tmp_path / "target"
    (real / ".data").mkdir(parents=True)
    target.mkdir()
    (real / ".data/config.json").write_text('{"queues": []}')
    (real / "config.json").symlink_to(".data/config.json")  # as Kubernetes mounts a ConfigMap
    folder.symlink_to(real)
    assert CliRunner().invoke(main, ["kv", "push", f"folder:{target}", "--folder", str(folder)]).exit_code == 0
    assert (target / "config.json").exists()
