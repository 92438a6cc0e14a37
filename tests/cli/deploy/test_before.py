"""What a deploy looks at before it writes: which pages are needed, the changes of an hour, Redis, settings of a trial."""

from __future__ import annotations

import json

import pytest

import cli.deploy.hourly
from cli.deploy.trial import TRIAL_SETTINGS
from host.settings import SETTINGS
from tests.cli.deploy.world import Desk, configuration


def publish(desk: Desk, brand: str, version: int, previous: int = 0) -> None:
    """A version of a brand as publishing writes it, and a queue that shows the brand."""
    folder = desk.kv / "pages" / brand
    queues = json.loads((desk.kv / "config.json").read_text())["queues"]
    if brand not in {queue.get("page") for queue in queues}:
        queues.append(json.loads(configuration(f"of-{brand}", page=brand))["queues"][0])
        (desk.kv / "config.json").write_text(json.dumps({"queues": queues}))
    page = folder / str(version) / "en" / "waiting.html"
    page.parent.mkdir(parents=True)
    page.write_text(f"<p>{brand} {version}</p>")
    (folder / "current.json").write_text(json.dumps({"version": version, "previous": previous, "languages": ["en"]}))


def pages(desk: Desk, brand: str) -> set[str]:
    return {key.split("/")[2] for key in desk.held("kv") if key.startswith(f"pages/{brand}/") and key.count("/") == 4}


def test_only_the_version_in_force_is_brought(desk: Desk) -> None:
    for version in (1, 2, 3):
        publish(desk, "shop", version, version - 1)
    publish(desk, "concert", 7)
    desk.act()
    assert (pages(desk, "shop"), pages(desk, "concert")) == ({"3"}, {"7"})
    assert "pages/shop/current.json" in desk.held("kv")
    assert "nothing to do" in desk.act()


def test_a_brand_that_no_queue_shows_stays_here(desk: Desk) -> None:
    publish(desk, "shop", 1)
    (desk.kv / "config.json").write_text(configuration("sale"))
    desk.act()
    assert not [key for key in desk.held("kv") if key.startswith("pages/shop/")]
    (desk.kv / "config.json").write_text(configuration("sale", page="shop", config_version=2))
    desk.act()
    assert pages(desk, "shop") == {"1"}


def test_the_version_before_is_kept_right_where_it_is_there_already(desk: Desk) -> None:
    publish(desk, "shop", 1)
    desk.act()
    publish(desk, "shop", 2, 1)
    (desk.kv / "pages/shop/1/en/waiting.html").write_text("<p>mended</p>")
    desk.act()
    assert desk.held("kv")["pages/shop/1/en/waiting.html"] == b"<p>mended</p>"
    assert pages(desk, "shop") == {"1", "2"}


def test_rolling_back_brings_the_older_pages_before_the_value_that_names_them(desk: Desk) -> None:
    publish(desk, "shop", 1)
    publish(desk, "shop", 2, 1)
    desk.act()
    (desk.kv / "pages/shop/current.json").write_text('{"version": 1, "previous": 2, "languages": ["en"]}')
    before = len(desk.fastly.writes())
    desk.act()
    written = [write.partition("/keys/")[2] for write in desk.fastly.writes()[before:]]
    assert written == ["pages/shop/1/en/waiting.html", "pages/shop/current.json"]


def test_a_damaged_set_of_pages_is_named(desk: Desk) -> None:
    publish(desk, "shop", 1)
    (desk.kv / "pages/shop/current.json").write_text("{")
    code, output = desk.deploy("--yes")
    assert (code, "pages/shop/current.json" in output, desk.fastly.writes()) == (1, True, [])


@pytest.mark.parametrize("argument", ["--dry-run", "--yes"])
def test_more_than_an_hours_changes_are_said_before_acting(desk: Desk, monkeypatch: pytest.MonkeyPatch, argument: str) -> None:
    assert "note:" not in desk.deploy("--dry-run")[1]
    monkeypatch.setattr(cli.deploy.hourly, "CHANGES_PER_HOUR", 5)
    code, output = desk.deploy(argument)
    assert code == 0
    note = output[output.index("note: ") :].splitlines()[0]
    assert "changes, and Fastly takes 5 an hour" in note
    assert "4 runs, each an hour after the last" in note, note
    assert "goes on where it stopped" in note


def test_nothing_is_written_while_redis_does_not_answer(desk: Desk) -> None:
    desk.redis_trouble = "Redis over REST does not take the token"
    code, output = desk.deploy("--yes")
    assert (code, desk.fastly.writes()) == (1, [])
    assert "nothing was changed: Redis over REST does not take the token" in output
    code, output = desk.deploy("--dry-run")
    assert (code, desk.fastly.writes()) == (1, [])
    assert "this would stop it: Redis over REST does not take the token" in output


@pytest.mark.parametrize("name", sorted(TRIAL_SETTINGS))
def test_settings_of_a_trial_are_refused_unless_it_is_one(desk: Desk, name: str) -> None:
    desk.environ[name] = "1"
    code, output = desk.deploy("--yes")
    assert (code, desk.fastly.writes()) == (1, [])
    assert f"{name}=1 is for trying out" in output
    assert "--trial" in output
    desk.act("--trial")
    desk.environ[name] = "0"
    assert desk.deploy("--dry-run")[0] == 0


def test_every_setting_that_is_never_for_production_is_one_of_them() -> None:
    assert {setting.name for setting in SETTINGS if "never in production" in setting.meaning.lower()} == set(TRIAL_SETTINGS)


def test_ten_versions_of_four_brands_are_one_version_of_each(desk: Desk) -> None:
    for brand in range(4):
        for version in range(1, 11):
            publish(desk, f"brand{brand}", version, version - 1)
    _, output = desk.deploy("--dry-run")
    for brand in range(4):
        assert f"write pages/brand{brand}/10/en/waiting.html" in output
    assert "/9/en/waiting.html" not in output


def test_a_link_that_leads_out_of_the_folder_stops_it(desk: Desk) -> None:
    (desk.folder / "other.html").write_text("<p>elsewhere</p>")
    (desk.kv / "pages/default/en/ended.html").symlink_to(desk.folder / "other.html")
    code, output = desk.deploy("--yes")
    assert (code, desk.fastly.writes()) == (1, [])
    assert "ended.html leads out of the folder" in output
