"""A real Redis behind the real REST bridge, and visitors who act on it through the core's own scripts."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis

from edge.core import calls, commands
from edge.core.calls import Answer, Call
from edge.core.config import check_config
from edge.core.model import Queue
from tests.programs import end, start

ROOT = Path(__file__).resolve().parents[2]
REST_TOKEN = "rest-token-of-the-tests-0123456789"
START_TIMEOUT_S = 20.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without proxies and without settings of the product."""
    dropped = ("STANCHION_", "UPSTASH_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped) and not k.lower().endswith("_proxy")}
    return {**kept, "PYTHONUNBUFFERED": "1", **more}


@dataclass
class RedisServer:
    """redis-server on a free port, with nothing on disk."""

    program: str
    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(self.folder)]
        self.process = start([self.program, *options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                self.client().ping()
                return
            except redis.ConnectionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def stop(self) -> None:
        if self.process:
            end(self.process)
            self.process = None

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, decode_responses=True, socket_timeout=5)


@dataclass
class Bridge:
    """`python -m host.rest` before a Redis."""

    redis_port: int
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        environment = clean_environment(
            STANCHION_REDIS_PORT=str(self.port),
            STANCHION_REDIS_URL=f"redis://127.0.0.1:{self.redis_port}",
            UPSTASH_REDIS_REST_TOKEN=REST_TOKEN,
        )
        self.process = start(
            [sys.executable, "-m", "host.rest"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert json.loads(line or b"{}").get("event") == "listening", line

    def stop(self) -> None:
        if self.process:
            end(self.process)
            self.process = None


def queue_json(queue_id: str, **values: Any) -> dict[str, Any]:
    """A queue's configuration with what it must have."""
    base = {"id": queue_id, "name": queue_id.replace("-", " ").title(), "routes": [{"path": f"/{queue_id}/*"}]}
    limits = {"admit_per_minute": 60} if not {"manual", "admit_per_minute"} & set(values) else {}
    return {**base, **limits, **values}


def config_text(*queues: dict[str, Any], groups: Sequence[dict[str, Any]] = ()) -> str:
    return json.dumps({"queues": list(queues), "groups": list(groups)})


def queues_of(text: str) -> Sequence[Queue]:
    return check_config(json.loads(text)).queues


class Visitors:
    """People, by the core's own calls on the same Redis."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def run(self, call: Call) -> Answer:
        try:
            return Answer.read(self.command(*call.evalsha()))
        except redis.exceptions.NoScriptError:
            return Answer.read(self.command(*call.eval()))

    def command(self, *words: str) -> Any:
        """Sends one command as it is."""
        return self.client.execute_command(*words)  # type: ignore[no-untyped-call]

    def start(self, queue: Queue) -> None:
        """Lets the queue begin, as a first deployment does."""
        assert self.run(commands.configure(queue, "0" * 32, new=True)).verdict == "created"

    def join(self, queue: Queue, count: int, first: int = 0, *, wants_in: bool = False) -> list[Answer]:
        names = [f"visitor-{number:08d}" for number in range(first, first + count)]
        return [self.run(commands.join(queue.scope, name, "0" * 32, wants_in=wants_in)) for name in names]

    def state(self, queue: Queue) -> dict[str, str]:
        found: dict[str, str] = self.client.hgetall(calls.keys(queue.scope)[0])  # type: ignore[assignment]
        return found
