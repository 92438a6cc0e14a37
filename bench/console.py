"""The console with a thousand queues and ten thousand audit rows, against the same pages with fifty and a hundred.

A list shows fifty queues a page, so what more of them cost is what the app does beside showing them.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import redis

from admin.access.passwords import hash_password
from admin.state import audit
from admin.state.audit import Entry
from admin.state.db import Database
from admin.state.migrate import migrate
from bench.programs import free_port, redis_command, running
from bench.report import Report
from edge.core import commands
from edge.core.config import check_config

PASSWORD = "only for this measurement"
TOKEN = "only-for-this-measurement-0123456789"
ROUNDS = 15
PATHS = {
    "the list": "/", "the list's live numbers": "/live", "a queue": "/queues/q0007",
    "a queue's live numbers": "/queues/q0007/live",
    "a queue found by its name": "/?q=queue+49", "settings": "/configuration", "the audit log": "/audit",
    "the audit log of one queue": "/audit?target=queue:q0007",
}  # fmt: skip
#: What a large house may cost against a small one.
TIMES_AT_MOST = 2.0


@dataclass(frozen=True)
class Size:
    """How much there is."""

    queues: int
    audit_rows: int


SMALL, LARGE = Size(50, 100), Size(1_000, 10_000)


def add_to(report: Report) -> None:
    """Adds a row for each page."""
    with ExitStack() as both:
        small, large = (both.enter_context(_console(size)) for size in (SMALL, LARGE))
        for what, path in PATHS.items():
            times = {SMALL: [], LARGE: []}  # type: dict[Size, list[float]]
            # In turns, so that a busy moment of the machine meets both.
            for _ in range(ROUNDS):
                for size, client in ((SMALL, small), (LARGE, large)):
                    times[size].append(_took(client, path))
            base, much = (statistics.median(times[size]) for size in (SMALL, LARGE))
            report.at_most(f"console, 1,000 queues against 50: {what}", much / base, TIMES_AT_MOST, "x")
            report.at_most(f"  {what}", 1000 * much, None, "ms")


def _took(client: httpx.Client, path: str) -> float:
    begun = time.perf_counter()
    answer = client.get(path)
    took = time.perf_counter() - begun
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answered {answer.status_code}")
    return took


@contextmanager
def _console(size: Size) -> Iterator[httpx.Client]:
    """A signed-in browser at an admin app with this much in it."""
    with ExitStack() as parts:
        folder = Path(parts.enter_context(tempfile.TemporaryDirectory()))
        redis_port, rest_port, admin_port = free_port(), free_port(), free_port()
        queues = [_queue(number) for number in range(size.queues)]
        (folder / "kv").mkdir()
        (folder / "kv" / "config.json").write_text(json.dumps({"queues": queues}))
        parts.enter_context(running(redis_command(redis_port), redis_port, {}))
        _begin(redis.Redis(port=redis_port), queues)
        _fill(folder, size.audit_rows)
        environ = {
            "STANCHION_REDIS_URL": f"redis://127.0.0.1:{redis_port}", "STANCHION_REDIS_PORT": str(rest_port),
            "UPSTASH_REDIS_REST_URL": f"http://127.0.0.1:{rest_port}", "UPSTASH_REDIS_REST_TOKEN": TOKEN,
            "STANCHION_ADMIN_PORT": str(admin_port), "STANCHION_ADMIN_DIR": str(folder / "admin"),
            "STANCHION_KV_DIR": str(folder / "kv"), "STANCHION_ADMIN_PASSWORD_HASH": hash_password(PASSWORD),
            "STANCHION_ADMIN_TOKEN": TOKEN,
        }  # fmt: skip
        for module, port in (("host.rest", rest_port), ("admin", admin_port)):
            parts.enter_context(running([sys.executable, "-m", module], port, environ))
        client = parts.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{admin_port}", trust_env=False, timeout=60))
        _sign_in(client)
        yield client


def _queue(number: int) -> dict[str, object]:
    return {"id": f"q{number:04}", "name": f"Queue {number}", "routes": [{"path": f"/q{number}/*"}], "admit_per_minute": 60}


def _begin(client: redis.Redis, queues: list[dict[str, object]]) -> None:
    for queue in check_config({"queues": queues}).queues:
        call = commands.configure(queue, "0" * 32, new=True)
        client.execute_command(*call.eval())  # type: ignore[no-untyped-call]


def _fill(folder: Path, rows: int) -> None:
    (folder / "admin").mkdir()
    db = Database(f"sqlite:///{folder}/admin/admin.db")
    migrate(db)
    now_ms = int(time.time() * 1000)
    entries = [
        Entry(now_ms - 1000 * (rows - at), f"person-{at % 7}", "operator", "console", "queue.limits", f"queue:q{at % 1000:04}",
              {"admit_per_minute": at}, {"admit_per_minute": at + 1})
        for at in range(rows)
    ]  # fmt: skip
    db.run_now(lambda session: [audit.add(session, entry) for entry in entries])
    db.close()


def _sign_in(client: httpx.Client) -> None:
    token = re.search(r'name="csrf" value="([^"]+)"', client.get("/sign-in").text)
    assert token
    answer = client.post("/sign-in", data={"user": "admin", "password": PASSWORD, "csrf": token[1]})
    if answer.status_code != 303:
        raise RuntimeError(f"signing in answered {answer.status_code}")


if __name__ == "__main__":
    made = Report()
    add_to(made)
    print(made.text())
    sys.exit(1 if made.missed else 0)
