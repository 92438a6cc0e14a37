"""Templates that a test may spoil."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.admin.publish.sources import TEMPLATES


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TEMPLATES, tmp_path / "templates"))
