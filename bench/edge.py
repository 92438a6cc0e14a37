"""The local edge as a whole: decisions a second of one process, and the commands that a crowd of pollers costs Redis."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import redis

from bench.component import CACHE
from bench.programs import free_port, redis_command, running
from bench.report import Report
from edge.core.commands import configure
from edge.core.config import check_config
from host.component.build import build_gatekeeper

VISITORS = 1_000
CONNECTIONS = 20
POLL_FOR_S = 20
LOAD_FOR_S = 4
QUEUE = {"id": "crowd", "name": "Crowd", "routes": [{"path": "/crowd/*"}], "admit_per_minute": 60, "burst": 1,
         "places_per_network_per_minute": 1_000_000}  # fmt: skip


@contextmanager
def _stack(folder: Path) -> Iterator[tuple[int, redis.Redis]]:
    """A real Redis, the bridge before it and one edge process, all on free ports of loopback."""
    redis_port, rest_port, edge_port = free_port(), free_port(), free_port()
    (folder / "kv").mkdir()
    (folder / "kv" / "config.json").write_text(json.dumps({"queues": [QUEUE]}))
    token = secrets.token_urlsafe(24)
    environ = {
        "STANCHION_REDIS_PORT": str(rest_port),
        "STANCHION_REDIS_URL": f"redis://127.0.0.1:{redis_port}",
        "UPSTASH_REDIS_REST_URL": f"http://127.0.0.1:{rest_port}",
        "UPSTASH_REDIS_REST_TOKEN": token,
        "STANCHION_EDGE_PORT": str(edge_port),
        "STANCHION_KV_DIR": str(folder / "kv"),
        "STANCHION_ORIGIN_URL": "http://127.0.0.1:9",
        "STANCHION_SIGNING_KEYS": "b1:" + base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "STANCHION_COMPONENT": str(build_gatekeeper(CACHE)),
        "STANCHION_LOG_REQUESTS": "0",
    }
    commands = [redis_command(redis_port), [sys.executable, "-m", "host.rest"], [sys.executable, "-m", "host.edge"]]
    with ExitStack() as parts:
        for command, port in zip(commands, (redis_port, rest_port, edge_port), strict=True):
            parts.enter_context(running(command, port, environ))
        server = redis.Redis(port=redis_port)
        queue = check_config({"queues": [QUEUE]}).queues[0]
        server.execute_command(*configure(queue, secrets.token_hex(16), new=True).eval())
        yield edge_port, server


class _Client:
    """One keep-alive connection; knows just enough HTTP for answers with a length."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def open(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def get(self, path: str, cookies: dict[str, str]) -> dict[str, object]:
        jar = "; ".join(f"{name}={value}" for name, value in cookies.items())
        cookie = f"Cookie: {jar}\r\n" if jar else ""
        self._writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n{cookie}\r\n".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = 0
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(": ")
            if name.lower() == "content-length":
                length = int(value)
            elif name.lower() == "set-cookie":
                key, _, rest = value.partition("=")
                text = rest.partition(";")[0]
                if text:
                    cookies[key] = text
                else:
                    cookies.pop(key, None)
        body = await self._reader.readexactly(length)
        found: dict[str, object] = json.loads(body)
        return found

    def close(self) -> None:
        self._writer.close()


async def _clients(port: int) -> list[_Client]:
    clients = [_Client(port) for _ in range(CONNECTIONS)]
    for client in clients:
        await client.open()
    return clients


async def _join(clients: list[_Client], jars: list[dict[str, str]]) -> None:
    async def some(client: _Client, mine: list[dict[str, str]]) -> None:
        for jar in mine:
            await client.get("/crowd/", jar)
            await client.get("/.stanchion/crowd/status", jar)

    await asyncio.gather(*(some(client, jars[at::CONNECTIONS]) for at, client in enumerate(clients)))


async def _poll(clients: list[_Client], jars: list[dict[str, str]]) -> int:
    """Everyone polls when told to, for POLL_FOR_S; answers the number of polls."""
    start = time.monotonic()
    due = [start + 5 * index / len(jars) for index in range(len(jars))]
    polls = 0

    async def some(client: _Client, mine: list[int]) -> None:
        nonlocal polls
        while (now := time.monotonic()) < start + POLL_FOR_S:
            index = min(mine, key=due.__getitem__)
            if due[index] > now:
                await asyncio.sleep(min(due[index] - now, 0.2))
                continue
            answer = await client.get("/.stanchion/crowd/status", jars[index])
            polls += 1
            due[index] = time.monotonic() + float(str(answer["poll_s"]))

    await asyncio.gather(*(some(client, list(range(at, len(jars), CONNECTIONS))) for at, client in enumerate(clients)))
    return polls


async def _load(clients: list[_Client], jar: dict[str, str]) -> float:
    """Polls without pause; answers decisions a second, the best second of LOAD_FOR_S."""
    counts = [0] * (LOAD_FOR_S + 1)
    start = time.monotonic()

    async def one(client: _Client) -> None:
        mine = dict(jar)
        while (passed := time.monotonic() - start) < LOAD_FOR_S:
            await client.get("/.stanchion/crowd/status", mine)
            counts[int(passed)] += 1

    await asyncio.gather(*(one(client) for client in clients))
    return float(max(counts))


def _scripts_run(server: redis.Redis) -> int:
    stats = server.info("commandstats")
    return sum(int(stats[name]["calls"]) for name in ("cmdstat_evalsha", "cmdstat_eval") if name in stats)


async def _measure(port: int, server: redis.Redis, report: Report) -> None:
    clients = await _clients(port)
    jars: list[dict[str, str]] = [{} for _ in range(VISITORS)]
    await _join(clients, jars)
    before = _scripts_run(server)
    polls = await _poll(clients, jars)
    sent = _scripts_run(server) - before
    report.at_most(f"{VISITORS} visitors polling for {POLL_FOR_S} s: polls", polls, None, "polls")
    report.at_most("  commands sent to Redis for them", sent, None, "commands")
    # The last visitor is far outside the head window: its polls are all answered from the snapshot.
    report.at_least("local edge, one process, waiting polls", await _load(clients, jars[-1]), 1_000, "decisions/s")
    for client in clients:
        client.close()


def measure(report: Report) -> None:
    """Adds the edge's rows."""
    with tempfile.TemporaryDirectory() as folder, _stack(Path(folder)) as (port, server):
        asyncio.run(_measure(port, server, report))
