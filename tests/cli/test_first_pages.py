"""A fresh store gets its pages in every language by itself, and one that somebody has published to is left alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from admin.kv import FolderKv
from admin.publish.service import history, in_force, pages_of, roll_back
from admin.publish.sources import TEMPLATES
from cli.first_pages import SEEDED, FirstPages, is_untouched
from cli.run import SEED
from edge.core.page_set import PageSet, read_page_set


@pytest.fixture
def store(tmp_path: Path) -> FolderKv:
    shutil.copytree(SEED / "pages" / "shop", tmp_path / "kv" / "pages" / "shop")
    return FolderKv(tmp_path / "kv")


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """The templates, with a brand in three languages so that it takes no time."""
    folder = shutil.copytree(TEMPLATES, tmp_path / "templates")
    file = folder / "brands" / "shop" / "brand.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"languages": ["en", "de", "ja"]}))
    return Path(folder)


def run(store: FolderKv, templates: Path, brands: tuple[str, ...] = ("shop", "nobody")) -> list[str]:
    said: list[str] = []
    pages = FirstPages(store, brands, said.append, templates)
    pages.run()
    return said


def test_what_the_seed_holds_is_what_is_looked_for() -> None:
    for current in SEED.glob("pages/*/current.json"):
        assert read_page_set(current.read_text("utf-8")) == SEEDED


def test_a_fresh_store_gets_every_language(store: FolderKv, templates: Path) -> None:
    assert is_untouched(store, "shop")
    assert run(store, templates) == ["  pages   shop: now in 3 languages"]
    assert in_force(store, "shop") == PageSet(2, 1, ("en", "de", "ja"))
    assert {language for language, _ in pages_of(store, "shop", 2)} == {"en", "de", "ja"}
    assert not is_untouched(store, "shop")
    assert run(store, templates) == []


def test_who_goes_back_to_the_first_version_keeps_it(store: FolderKv, templates: Path) -> None:
    run(store, templates)
    roll_back(store, "shop", "mika", 0)
    assert in_force(store, "shop") == PageSet(1, 2, ("en", "ja"))
    assert run(store, templates) == []


def test_a_first_start_that_was_cut_short_is_made_up_for(store: FolderKv, templates: Path) -> None:
    store.put("pages/shop/2/de/waiting.html", "half")
    run(store, templates)
    assert in_force(store, "shop") == PageSet(3, 1, ("en", "de", "ja"))


def test_trouble_is_said_and_stops_nothing(store: FolderKv, templates: Path) -> None:
    (templates / "brands" / "shop" / "brand.json").write_text(json.dumps({"name": ""}))
    (said,) = run(store, templates)
    assert said.startswith("  pages   only in en and ja for now: ")
    assert "name must say something" in said
    assert in_force(store, "shop") == SEEDED
    assert history(store, "shop") == []


def test_a_stop_ends_it_quietly(store: FolderKv, templates: Path) -> None:
    said: list[str] = []
    pages = FirstPages(store, ["shop"], said.append, templates)
    pages.start()
    pages.stop()
    pages.join(timeout=30)
    assert not pages.is_alive()
    assert not any("only in" in line for line in said)
