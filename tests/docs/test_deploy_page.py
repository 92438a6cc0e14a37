"""docs/deploy.md: its commands, options, settings and numbers are those of the code."""

from __future__ import annotations

import re

from click.testing import CliRunner

from cli.deploy.inputs import ITEM_MAX_CHARACTERS, SECRET_MAX_BYTES
from cli.deploy.package import PACKAGE_MAX_BYTES
from cli.deploy.secrets import SECRETS
from cli.deploy.wanted import SETTINGS_ITEM
from cli.kv import fastly_kv
from cli.main import main
from cli.reference import DOCS
from edge.core.asking import SNAPSHOT_MAX_AGE_MS
from edge.core.cookies import CANDIDATE_MAX_AGE_S, PLACE_MAX_AGE_S
from edge.core.cors import PREFLIGHT_MAX_AGE_S
from edge.core.model import QUEUE_FIELDS
from edge.core.standing import CANDIDATE_POLL_S
from edge.core.tokens import ORIGIN_PASS_S
from host.component.build import ROOT
from host.edge.protocol import HEAD_TIMEOUT_S, MAX_HEADER_BYTES, MAX_TARGET_BYTES
from host.edge.proxy import BODY_TIMEOUT_S
from host.edge.serve import GRACE_S
from host.kv import SCAN_INTERVAL_S
from host.settings import SETTINGS
from tests.conformance.hosts.wasmtime_serve import REUSE

PAGE = (DOCS / "deploy.md").read_text(encoding="utf-8")


def row(start: str) -> str:
    (found,) = re.findall(rf"^\| {re.escape(start)}.*$", PAGE, re.MULTILINE)
    return str(found)


def test_its_commands_and_their_options_exist() -> None:
    lines = re.findall(r"^stanchion (.*?)(?:\s+#.*)?$", PAGE, re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        words = line.split()
        names = words[:2] if words[0] in ("kv", "deploy", "config") else words[:1]
        told = CliRunner().invoke(main, [*names, "--help"])
        assert told.exit_code == 0, line
        for option in (word for word in words if word.startswith("--")):
            assert option in told.output, line
    for option in ("--package", "--yes", "--adopt", "--dry-run"):
        assert option in CliRunner().invoke(main, ["deploy", "fastly", "--help"]).output
    for option in ("--delete", "--dry-run"):
        assert option in CliRunner().invoke(main, ["kv", "push", "--help"]).output


def test_its_settings_exist() -> None:
    known = {setting.name for setting in SETTINGS} | {field.name for field in QUEUE_FIELDS}
    named = set(re.findall(r"\b(?:STANCHION|UPSTASH|FASTLY)_[A-Z_]*[A-Z]\b", PAGE))
    keys = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE)) - {"proxy_intercept_errors", "vcl_recv", "vcl_backend_response"}
    assert named
    assert (named | keys) - known == set()


def test_its_numbers_are_those_of_the_code() -> None:
    limits = PAGE[PAGE.index("**Limits.**") :].partition("\n\n")[0]
    for number in (PACKAGE_MAX_BYTES // 10**6, fastly_kv.KEY_MAX_BYTES, fastly_kv.VALUE_MAX_BYTES // 10**6,
                   SECRET_MAX_BYTES // 1024, ITEM_MAX_CHARACTERS):  # fmt: skip
        assert f" {number:,} " in limits
    assert f" {SNAPSHOT_MAX_AGE_MS} ms" in row("snapshot of a queue")
    on_fastly = (ROOT / "edge/guests/on_fastly/shared.py").read_text()  # its imports exist in Fastly's sandbox only
    ms = {name: int(value.replace("_", "")) for name, value in re.findall(r"^(\w+_MS) = ([\d_]+)$", on_fastly, re.MULTILINE)}
    point = row("| a point of presence of Fastly")
    assert f" {ms['FRESH_MS'] // 1000} s, and up to {ms['STALE_MS'] // 1000} s more" in point
    assert f" {ms['KEEP_MS'] // 3_600_000} h" in point
    on_wasi = (ROOT / "edge/guests/on_wasi/stores.py").read_text()
    (max_age_ms,) = re.findall(r"^STORE_MAX_AGE_MS = ([\d_]+)$", on_wasi, re.MULTILINE)
    ages = re.findall(r"^\| [^|]*\| each instance on a host of wasi:http \| (\d+) (m?s)", PAGE, re.MULTILINE)
    assert ages == [(str(SNAPSHOT_MAX_AGE_MS), "ms"), (str(int(max_age_ms) // 1000), "s")]
    requests, idle = REUSE[1::2]
    assert f" {int(requests):,} requests, or {idle.removesuffix('s')} s with none" in row("an instance on a host of wasi:http")
    assert f" {SCAN_INTERVAL_S * 1000:.0f} ms" in row("configuration, pages | each node")
    assert f" {PLACE_MAX_AGE_S // 3600} h" in row("a place, a pass")
    assert f" {CANDIDATE_MAX_AGE_S // 60} min" in row("a candidate")
    assert f" {ORIGIN_PASS_S} s" in row("`Stanchion-Pass`")
    assert f" {PREFLIGHT_MAX_AGE_S} s" in row("preflights")
    bounds = row("local edge | target")
    assert f"target {MAX_TARGET_BYTES // 1024} KB (414), headers {MAX_HEADER_BYTES // 1024} KB (431)" in bounds
    assert f"{HEAD_TIMEOUT_S:.0f} s for a head, {BODY_TIMEOUT_S:.0f} s for the next piece of a body" in bounds
    assert f"open answers get {GRACE_S} s" in PAGE
    assert CANDIDATE_POLL_S == 1, "the page says: once a second while it is a candidate"
    assert {name for name in SECRETS if f"`{name}`" not in PAGE} == set()
    assert f"`{SETTINGS_ITEM}`" in PAGE
