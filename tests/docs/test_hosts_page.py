"""docs/hosts.md: the command that it gives is the one that the conformance suite has run."""

from __future__ import annotations

import re
import shlex

import pytest

from cli.reference import DOCS
from host.component.build import ROOT
from host.settings import load
from tests.conformance.hosts import double, jco_serve, viceroy, wasmtime_serve
from tests.conformance.hosts.wasmtime_serve import AT_ONCE, PARTS, REUSE, ROOM

PAGE = (DOCS / "hosts.md").read_text(encoding="utf-8")


def test_the_command_of_wasmtime_has_the_options_of_the_suite() -> None:
    (command,) = re.findall(r"^wasmtime serve (?:.*\\\n)*.*$", PAGE, re.MULTILINE)
    words = " ".join(shlex.split(command.replace("\\\n", " ")))
    assert " ".join(ROOM) in words
    assert " ".join(REUSE) in words
    assert " ".join(AT_ONCE) in words


def test_the_command_of_wasmtime_works_when_it_is_copied_with_what_is_before_it() -> None:
    """What it hands on is set in the blocks before, the folder that it lends is the one that is read, and its port is its own."""
    before, _, after = PAGE.partition("wasmtime serve -S")
    words = shlex.split(after.partition("```")[0].replace("\\\n", " "))
    given = {name: words[index + 1] for index, name in enumerate(words) if name in ("--addr", "--dir")}
    handed = [words[index + 1] for index, word in enumerate(words) if word == "--env"]
    blocks = "".join(re.findall(r"^```\n(.*?)(?:^```|\Z)", before, re.MULTILINE | re.DOTALL))
    exported = re.findall(r"\b([A-Z_]+)=", " ".join(re.findall(r"^export (.*)$", blocks, re.MULTILINE)))
    assert len(handed) == 6
    assert set(handed) <= set(exported)
    assert f"STANCHION_KV_DIR={given['--dir']} " in blocks
    taken = {str(load({})[f"STANCHION_{part}_PORT"]) for part in ("EDGE", "ADMIN", "REDIS", "ORIGIN")}
    assert len(taken) == 4
    ports = re.findall(r"--(?:port |addr [\d.]+:)(\d+)", PAGE)
    assert len(set(ports) - taken) == len(ports) == 3


@pytest.mark.parametrize(("host", "name"), sorted(
    (host, name) for host, limits in (("jco serve", jco_serve.LIMITS), ("wasmtime serve", wasmtime_serve.LIMITS),
                                      ("Viceroy", viceroy.LIMITS), ("double", double.LIMITS)) for name in limits))  # fmt: skip
def test_every_loss_that_the_suite_knows_is_named(host: str, name: str) -> None:
    rows = re.findall(r"^\| ([^|]+) \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert any(name == told and host in hosts.split(", ") for hosts, told in rows)


def test_every_setting_that_the_component_reads_is_named() -> None:
    guests = ROOT / "edge" / "guests"
    files = [*(guests / "on_wasi").glob("*.py"), *guests.glob("wasi_http*.py"), guests / "knowledge.py"]
    read = {name for file in files for name in re.findall(r"\b(?:STANCHION|UPSTASH)_[A-Z_]+\b", file.read_text("utf-8"))}
    assert len(read) > 10
    assert sorted(name for name in read if name not in PAGE) == []


def test_the_bound_is_within_the_room() -> None:
    at_once = int(AT_ONCE[1])
    assert all(at_once * PARTS < int(room) for room in re.findall(r"=(\d+)", " ".join(ROOM)))
    assert f"count {PARTS} for each" in PAGE
    assert f"more than {at_once} connections" in PAGE
