"""What the docs say is what the code does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from admin.publish.brand import KEYS
from cli.main import main
from cli.reference import DOCS, pages
from edge.core.model import QUEUE_FIELDS
from edge.core.pages import SLOTS
from edge.core.standing import STATES
from host.settings import SETTINGS
from tests.admin import test_pictures

ROOT = DOCS.parent
README = (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", pages())
def test_the_reference_pages_are_fresh(name: str) -> None:
    assert (DOCS / name).read_text() == pages()[name], "run: make docs"


def test_every_key_and_every_setting_is_in_the_reference() -> None:
    configuration, settings = (DOCS / "configuration.md").read_text(), (DOCS / "settings.md").read_text()
    assert [field.name for field in QUEUE_FIELDS if f"`{field.name}`" not in configuration] == []
    assert [setting.name for setting in SETTINGS if f"`{setting.name}`" not in settings] == []


def test_every_state_is_in_the_contract() -> None:
    text = (DOCS / "http.md").read_text()
    assert [state for state in STATES if state not in text] == []


def test_every_slot_and_every_key_of_a_brand_is_in_the_page_about_pages() -> None:
    text = (DOCS / "pages.md").read_text()
    assert [name for name, meaning in SLOTS.items() if f"| `{name}` | {meaning} |" not in text] == []
    assert [key for key in KEYS if f"`{key}`" not in text] == []


def test_what_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert [link for link in links if not (ROOT / link).exists()] == []
    for page in DOCS.rglob("*.md"):
        broken = [link for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()) if not (page.parent / link).exists()]
        assert broken == [], page


def test_the_commands_of_the_readme_are_there() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"\bmake ([a-z]+)", README)) <= set(targets)
    for command in set(re.findall(r"\bstanchion ([a-z]+)", README)):
        result = CliRunner().invoke(main, [command, "--help"])
        assert result.exit_code == 0, f"stanchion {command}: {result.output}"


def test_every_dependency_has_its_reason_in_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    names = {re.split(r"[=\[;<> ]", line)[0].lower() for line in wanted}
    said = README.partition("## What it stands on")[2].lower()
    assert sorted(name for name in names if name not in said and not name.startswith("types-")) == []
    assert [line for line in wanted if "==" not in line] == [], "every dependency is pinned"


def test_the_example_configuration_of_the_readme_is_good(tmp_path: Path) -> None:
    file = tmp_path / "queues.json"
    file.write_text(re.findall(r"```json\n(.*?)```", README, re.DOTALL)[0])
    assert "good, 1 queues" in CliRunner().invoke(main, ["config", "check", str(file)]).output


def test_the_pictures_of_the_console_are_those_that_the_tests_make() -> None:
    named = set(re.findall(r"images/(console-[\w-]+)\.png", (DOCS / "console.md").read_text()))
    kept = {file.stem: file.stat().st_size for file in (DOCS / "images").glob("console-*.png")}
    source = (ROOT / "tests" / "admin" / "test_pictures.py").read_text()
    made = {*test_pictures.ON_LAPTOP.values(), *re.findall(r'"(console-[\w-]+)"', source)}
    assert named == set(kept) == made
    assert [name for name, size in kept.items() if size > 150_000] == []
