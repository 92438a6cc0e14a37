"""docs/hosts.md: the command that it gives is the one that the conformance suite has run."""

from __future__ import annotations

import re
import shlex

from cli.reference import DOCS
from host.component.build import ROOT
from tests.conformance.hosts.wasmtime_serve import AT_ONCE, PARTS, REUSE, ROOM

PAGE = (DOCS / "hosts.md").read_text(encoding="utf-8")


def test_the_command_of_wasmtime_has_the_options_of_the_suite() -> None:
    (command,) = re.findall(r"^wasmtime serve (?:.*\\\n)*.*$", PAGE, re.MULTILINE)
    words = " ".join(shlex.split(command.replace("\\\n", " ")))
    assert " ".join(ROOM) in words
    assert " ".join(REUSE) in words
    assert " ".join(AT_ONCE) in words


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
