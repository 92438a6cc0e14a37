"""The log: one JSON object a line, bounded, and quiet about repetition."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.edge import log as log_module
from host.edge.log import JsonLog


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the log goes."""
    return tmp_path / "log"


@pytest.fixture
def log(file: Path) -> Iterator[JsonLog]:
    """A log into a file."""
    fd = os.open(file, os.O_WRONLY | os.O_CREAT)
    log = JsonLog(fd)
    yield log
    log.close()
    os.close(fd)


def lines(log: JsonLog, file: Path) -> list[dict[str, object]]:
    """All that was logged."""
    log.close()
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_events_are_lines_with_a_name_and_a_time(log: JsonLog, file: Path) -> None:
    log.event("a.b", {"text": "Grüße\n\u2028\ud800", "number": 1})
    log.event("c", {})
    told = lines(log, file)
    assert [line["event"] for line in told] == ["a.b", "c"]
    assert told[0]["text"] == "Grüße\n\u2028\ud800"
    assert isinstance(told[0]["at"], float)


@pytest.mark.parametrize("text", ["no json", "{", '{"a":1}\n{"b":2}', '{"a":1}\r{', ""])
def test_a_line_of_the_guest_that_is_none_is_wrapped(log: JsonLog, file: Path, text: str) -> None:
    log.line('{"guest":"ä"}')
    log.line(text)
    told = lines(log, file)
    assert told[0] == {"guest": "ä"}
    assert (told[1]["event"], told[1]["text"]) == ("gate.log", text)


def test_a_repeated_event_is_told_once_a_second_with_what_was_left_out(file: Path) -> None:
    now_s = [1000.0]
    with file.open("wb") as out:
        log = JsonLog(out.fileno(), lambda: now_s[0])
        for _ in range(50):
            log.limited("store.failed", {"kind": "away"})
        log.limited("other", {})
        now_s[0] += log_module.LIMITED_EVERY_S
        log.limited("store.failed", {"kind": "slow"})
        told = [line for line in lines(log, file) if line["event"] == "store.failed"]
    assert [line["kind"] for line in told] == ["away", "slow"]
    assert told[1]["left_out"] == 49


def test_a_log_that_nobody_reads_drops_lines_and_counts_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_module, "MAX_WAITING_LINES", 100)
    reader, writer = os.pipe()
    log = JsonLog(writer)
    for number in range(1_000):
        log.event("many", {"number": number, "text": "x" * 2_000})
    received = b""
    while True:
        piece = os.read(reader, 1 << 20)
        assert piece
        received += piece
        told = [json.loads(line) for line in received.split(b"\n")[:-1]]
        kept = [line["number"] for line in told if line["event"] == "many"]
        dropped = sum(line["lines"] for line in told if line["event"] == "log.dropped")
        if len(kept) + dropped == 1_000:
            break
    assert dropped > 800
    assert kept == sorted(kept)
    log.close()
    os.close(writer)
    os.close(reader)


def test_a_reader_that_is_gone_does_no_harm() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    log = JsonLog(writer)
    for _ in range(10):
        log.event("x", {})
    log.close()
    os.close(writer)
