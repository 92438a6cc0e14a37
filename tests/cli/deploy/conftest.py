from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import cli.deploy.command
from edge.core.model import Queue
from tests.cli.deploy.standin import running_fastly
from tests.cli.deploy.world import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    with running_fastly() as fastly:
        made = Desk(tmp_path, fastly)
        # Whether Redis begins a queue is proven in tests/cli/test_apply.py; here, that it is asked to, and when.
        def begin(queue: Queue, environ: dict[str, str], *, new: bool) -> str:
            assert new
            made.begun.append(queue.id)
            return "created"

        monkeypatch.setattr(cli.deploy.command, "start_queue", begin)
        monkeypatch.setattr(cli.deploy.command, "ping", made.ping)
        monkeypatch.setattr("cli.deploy.api.WAIT_BEFORE_AGAIN_S", (0.0, 0.0))
        yield made
