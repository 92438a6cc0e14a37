"""Every command that a page names exists, with its options: `stanchion ...`, `python -m ...`, `make ...`."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.main import main
from cli.reference import DOCS
from tests.conformance.hosts.jco_serve import PACKAGE

ROOT = DOCS.parent
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
#: Texts that are signed, and no commands.
LABELS = ("stanchion draw <", "stanchion origin")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def commands(page: Path) -> Iterator[str]:
    """What stands in code, line by line, without comments; lines that go on are one."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    for block in re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield from (re.sub(r"\s+#.*", "", line) for line in block.splitlines())
    inline = re.findall(r"`((?:stanchion|python -m|make) [^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    yield from (line for line in inline if not line.startswith(LABELS))


def fault(words: list[str]) -> str | None:
    """What about a command of ours does not exist."""
    command: click.Command = main
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return f"{words[0]!r} is no command of {command.name}"
        command, words = found, words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    unknown = [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]
    return f"{command.name} has no {', '.join(unknown)}" if unknown else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_our_commands_exist(page: Path) -> None:
    faults = []
    for line in commands(page):
        for part in re.findall(r"(?:^|[;|&]\s*|\.venv/bin/)stanchion (.+?)(?=$|[;|&])", line):
            if (wrong := fault(shlex.split(part, posix=True))) is not None:
                faults.append(f"{line}: {wrong}")
        for module in re.findall(r"python -m ([a-z_.]+[a-z_])", line):
            faults += [] if importlib.util.find_spec(module) else [f"{line}: there is no module {module}"]
        for target in re.findall(r"^make ([a-z-]+)(?!/)", line):
            faults += [] if target in TARGETS else [f"{line}: there is no target {target}"]
    assert faults == []


@pytest.mark.parametrize(("line", "is_good"), [
    ("kv push fastly:shop --all-versions", True), ("kv push --al", False), ("kv pusch redis", False), ("kv diff -u redis", True),
    ("deploy fastly --help", True), ("dploy", False), ("publish shop --to=redis", True), ("publish shop --too=redis", False),
])  # fmt: skip
def test_what_does_not_exist_is_seen(line: str, is_good: bool) -> None:
    assert (fault(line.split()) is None) == is_good


def test_what_is_run_by_hand_is_what_the_suite_runs() -> None:
    page = (DOCS / "hosts.md").read_text(encoding="utf-8")
    package = json.loads((PACKAGE / "package.json").read_text())
    assert set(re.findall(r"@bytecodealliance/jco@([\d.]+)", page)) == {package["dependencies"]["@bytecodealliance/jco"]}
    majors = {version.partition(".")[0] for version in package["optionalDependencies"].values()}
    assert set(re.findall(r"--package=node@(\d+)", page)) == majors
