"""The whole product as a user starts it: `stanchion run`, on free ports, in a folder of its own, before a raw origin."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import jwt

from host.programs import run
from tests.host.edge.wire import Message, RawServer, Stream, ok, raw_server
from tests.host.rest.servers import free_port
from tests.programs import end, start

ROOT = Path(__file__).resolve().parents[2]
# A key whose derived keys have a NUL near their start: some readers take that for UTF-16, which the component cannot read.
AWKWARD_KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAY="
ADMIN_TOKEN = "end-to-end-admin-token"
LANE_SECRET = "the-shops-secret-of-the-lanes-with-32-bytes"
START_WITHIN_S = 120
PATIENCE_S = 20.0
STOP_WITHIN_S = 45.0

CANDIDATE_HOLD_S = 1

Queue = dict[str, Any]


def queue(queue_id: str, **settings: Any) -> Queue:
    """A queue at /<id>/* whose pages ask every second."""
    quick = {"poll_s": 1, "places_per_network_per_minute": 1_000_000, "candidate_hold_s": CANDIDATE_HOLD_S}
    return {"id": queue_id, "name": f"Queue {queue_id}", "routes": [{"path": f"/{queue_id}/*"}]} | quick | settings


def echo(message: Message, stream: Stream) -> None:
    """An origin that answers with what it received; `x-answer-...` request headers become answer headers."""
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.fields]
    seen = {"target": message.target.decode("latin-1"), "headers": headers, "body": message.body.decode("latin-1")}
    asked = [f"{name[9:]}: {value}" for name, value in headers if name.lower().startswith("x-answer-")]
    answer = ok(json.dumps(seen).encode(), "Content-Type: application/json", *asked, "Set-Cookie: shop=1; Path=/",
                "Set-Cookie: cart=2; Path=/")  # fmt: skip
    stream.sock.sendall(answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if message.start.startswith(b"HEAD") else answer)


@dataclass
class Stack:
    """A running product."""

    folder: Path
    environ: dict[str, str]
    origin: RawServer
    process: subprocess.Popen[str]
    log_path: Path
    edge: str = ""
    admin: str = ""
    rest: str = ""
    jars: list[httpx.Client] = field(default_factory=list)

    @property
    def edge_port(self) -> int:
        return int(self.edge.rpartition(":")[2])

    def visitor(self, **headers: str) -> httpx.Client:
        """A browser with an empty cookie jar."""
        client = httpx.Client(base_url=self.edge, headers={"Accept": "text/html"} | headers, timeout=PATIENCE_S)
        self.jars.append(client)
        return client

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the admin API that has to succeed."""
        answer = httpx.request(method, f"{self.admin}/api/v1{path}", json=body, timeout=PATIENCE_S,
                               headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})  # fmt: skip
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def word(self, lane: str) -> str:
        """The site's word that a visitor may enter a lane of the queue `vouch`."""
        return jwt.encode({"lane": lane, "exp": int(time.time()) + 600}, LANE_SECRET, "HS256")

    def account(self, name: str) -> str:
        """The site's word for an account, for the queue `account`."""
        return jwt.encode({"sub": name, "exp": int(time.time()) + 600}, LANE_SECRET, "HS256")

    def configure(self, queues: Sequence[Queue]) -> subprocess.CompletedProcess[str]:
        """`stanchion config apply` with these queues."""
        path = self.folder / "next.json"
        path.write_text(json.dumps({"queues": list(queues)}))
        return self.command("config", "apply", str(path))

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another `stanchion` command in the same surroundings."""
        return run([sys.executable, "-m", "cli.main", *arguments], timeout_s=60, cwd=self.folder, env=self.environ)

    def log(self) -> str:
        """All that the parts printed."""
        return self.log_path.read_text(errors="replace")

    def wait_for_log(self, text: str) -> None:
        """Returns once the log holds `text`; fails after PATIENCE_S."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.log():
            assert time.monotonic() < deadline, f"not in the log: {text}"
            time.sleep(0.1)


def status(visitor: httpx.Client, queue_id: str) -> dict[str, Any]:
    """The status JSON of a visitor."""
    found: dict[str, Any] = visitor.get(f"/.stanchion/{queue_id}/status", headers={"Accept": "application/json"}).json()
    return found


def until(visitor: httpx.Client, queue_id: str, state: str) -> dict[str, Any]:
    """Polls until the state is reached; fails after PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := status(visitor, queue_id))["state"] != state:
        assert time.monotonic() < deadline, f"not {state} but {found}"
        time.sleep(0.2)
    return found


def enter(visitor: httpx.Client, path: str) -> httpx.Response:
    """Asks for a page until the origin answers it."""
    deadline = time.monotonic() + PATIENCE_S
    while (answer := visitor.get(path)).status_code != 200:
        assert time.monotonic() < deadline, f"still held: {answer.status_code} {answer.headers}"
        time.sleep(0.2)
    return answer


def _environ(folder: Path, redis_url: str, origin_url: str, settings: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STANCHION_", "UPSTASH_"))}
    ports = {f"STANCHION_{name}_PORT": str(free_port()) for name in ("EDGE", "ADMIN", "REDIS", "ORIGIN")}
    return kept | ports | {
        "PYTHONPATH": str(ROOT),
        "STANCHION_REDIS_URL": redis_url,
        "STANCHION_ORIGIN_URL": origin_url,
        "STANCHION_CACHE_DIR": str(ROOT / ".cache"),
        "STANCHION_KV_DIR": str(folder / "kv"),
        "STANCHION_ADMIN_TOKEN": ADMIN_TOKEN,
        "STANCHION_ADMIN_DIR": str(folder / "admin"),
        "STANCHION_COUNTRY_HEADER": "x-country",
        "STANCHION_COUNTRY_TRUST_ALL": "1",
        "STANCHION_SIGNING_KEYS": "e2e1:" + AWKWARD_KEY,
        "STANCHION_LANE_SECRETS": f"vouch={LANE_SECRET} account={LANE_SECRET}",
    } | settings  # fmt: skip


def _wait_started(stack: Stack) -> None:
    deadline = time.monotonic() + START_WITHIN_S
    while "Ctrl-C stops everything" not in stack.log():
        assert stack.process.poll() is None, f"ended with {stack.process.returncode}:\n{stack.log()}"
        assert time.monotonic() < deadline, f"not up after {START_WITHIN_S} s:\n{stack.log()}"
        time.sleep(0.1)


@contextmanager
def running(folder: Path, queues: Sequence[Queue], redis_url: str = "", **settings: str) -> Iterator[Stack]:
    """The product with these queues, once it answers; stopped at the end as Ctrl-C does."""
    kv = folder / "kv"
    kv.mkdir(parents=True, exist_ok=True)
    if queues:
        (kv / "config.json").write_text(json.dumps({"queues": list(queues)}))
    log_path = folder / "log"
    with raw_server(echo) as origin, log_path.open("w") as log:
        environ = _environ(folder, redis_url, settings.pop("STANCHION_ORIGIN_URL", origin.url), settings)
        process = start([sys.executable, "-m", "cli.main", "run"], cwd=folder, env=environ, stdout=log,
                        stderr=subprocess.STDOUT, text=True)  # fmt: skip
        stack = Stack(folder, environ, origin, process, log_path)
        try:
            _wait_started(stack)
            for name in ("edge", "admin", "rest"):
                port = environ[f"STANCHION_{'REDIS' if name == 'rest' else name.upper()}_PORT"]
                setattr(stack, name, f"http://127.0.0.1:{port}")
            yield stack
        finally:
            for jar in stack.jars:
                jar.close()
            end(process, signal.SIGINT, STOP_WITHIN_S)
