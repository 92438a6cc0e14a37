"""The table of reports in docs/proof.md names tests that exist, and every test that carries a report in its name is in it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.faults.entries import FAULTS
from tests.scripts.walk.scopes import FULL

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "proof.md").read_text()
ROWS = re.findall(r"^\| [^|]+ \| [^|]+ \| `(tests/[a-z_/]+\.py)::(test_\w+)` \|$", PAGE, re.MULTILINE)
REPORTERS = (
    "aws", "redis_js", "cloudflare", "knownuser", "crowdhandler", "nugetgallery", "simstudio", "opeka", "smoketurner", "hiett",
)  # fmt: skip


def test_every_report_has_a_test_that_exists() -> None:
    assert len(set(ROWS)) == 20
    missing = [name for path, name in ROWS if f"\ndef {name}(" not in (ROOT / path).read_text()]
    assert missing == []
    assert {reporter for reporter in REPORTERS for _, name in ROWS if name.startswith(f"test_{reporter}_")} == set(REPORTERS)


def test_every_scope_of_the_full_walk_has_its_count() -> None:
    assert [scope.name for scope in FULL if f"| {scope.name} |" not in PAGE] == []


def test_the_seeded_faults_are_counted() -> None:
    assert f"`tests/faults` puts {len(FAULTS)} faults into the scripts" in PAGE
