"""`python -m tests.scripts.walk [--full]`: walks the scopes in a redis-server of its own and prints the counts."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.needs import find
from tests.scripts.backends import redis_server
from tests.scripts.walk.run import Count, Walk
from tests.scripts.walk.scopes import BOUNDED, FULL
from tests.scripts.walk.wire import Wire


def main() -> None:
    """Walks and prints; a broken law ends it with the steps that led there."""
    arguments = argparse.ArgumentParser(prog="python -m tests.scripts.walk", description=main.__doc__)
    arguments.add_argument("--full", action="store_true", help="the scopes of docs/proof.md, to the end (many minutes)")
    arguments.add_argument("--only", default="", help="only the scope of this name")
    chosen = arguments.parse_args()
    program = find("redis")
    if program is None:
        raise SystemExit("needs redis-server")
    with tempfile.TemporaryDirectory() as folder, redis_server(program, Path(folder)) as port:
        for scope in FULL if chosen.full else BOUNDED:
            if chosen.only and scope.name != chosen.only:
                continue
            began = time.monotonic()

            def report(count: Count, name: str = scope.name, began: float = began) -> None:
                end = f"{', whole' if count.is_whole else ''} ({time.monotonic() - began:.0f} s)"
                print(f"{name}: {count.states:,} states, {count.steps:,} steps, depth {count.depth}{end}", flush=True)

            Walk(Wire(port), scope).run(report)


if __name__ == "__main__":
    main()
