"""Redis goes and comes back: a clear error at once, then recovery without a restart."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host.rest.servers import PATIENCE_S, TOKEN, RedisServer, free_port, running_door
from tests.needs import needs

BEARER = {"Authorization": f"Bearer {TOKEN}"}


@contextmanager
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers=BEARER, timeout=PATIENCE_S) as http:
        yield http


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(needs("redis"), tmp_path, free_port())
    server.start()
    yield server
    server.kill()


def test_hiett_12_18_redis_away_is_a_clear_error_at_once_and_recovers_by_itself(redis: RedisServer, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with running_door(redis.url, stderr=log) as door, client(door.url) as http:
        assert http.get("/set/a/1").json() == {"result": "OK"}
        assert http.get("/.stanchion/rest/health").json()["reachable"] is True

        redis.kill()
        for answer in (
            http.get("/get/a"),
            http.post("/pipeline", json=[["GET", "a"]]),
            http.post("/multi-exec", json=[["GET", "a"]]),
        ):
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "application/json"
            assert answer.json()["error"].startswith(f"ERR backend unavailable: Redis at 127.0.0.1:{redis.port} ")
        eventually(lambda: http.get("/.stanchion/rest/health").status_code == 503, "health does not notice the end")
        health = http.get("/.stanchion/rest/health").json()
        assert (health["backend"], health["reachable"], health["maxmemory_policy"]) == ("redis", False, "unknown")

        redis.start()
        assert http.get("/get/a").json() == {"result": None}
        assert http.get("/set/a/2").json() == {"result": "OK"}
        eventually(lambda: http.get("/.stanchion/rest/health").status_code == 200, "health does not notice the return")
        eventually(
            lambda: [event["event"] for event in events(log)] == ["redis_away", "redis_back"], f"the log says {events(log)}"
        )


def test_all_idle_connections_survive_a_restart(redis: RedisServer) -> None:
    with running_door(redis.url) as door:

        def ask(number: int, answers: list[Any]) -> None:
            answers[number] = httpx.get(f"{door.url}/ping", headers=BEARER, timeout=PATIENCE_S).json()

        def ask_at_once(count: int) -> list[Any]:
            answers: list[Any] = [None] * count
            threads = [threading.Thread(target=ask, args=(number, answers)) for number in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return answers

        assert ask_at_once(12) == [{"result": "PONG"}] * 12
        redis.kill()
        redis.start()
        assert ask_at_once(12) == [{"result": "PONG"}] * 12


def test_no_answer_goes_to_another_request(redis: RedisServer) -> None:
    """Twenty clients at once, each with its own words, while Redis is killed and started again twice."""
    statuses: set[int] = set()
    wrong: list[Any] = []

    async def ask(http: httpx.AsyncClient, name: str, stop: asyncio.Event) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            word = f"{name}-{number}"
            answer = await http.post("/pipeline", json=[["ECHO", word], ["EVAL", "return ARGV[1]", 0, word]])
            statuses.add(answer.status_code)
            if answer.status_code == 200 and answer.json() != [{"result": word}, {"result": word}]:
                wrong.append((word, answer.json()))

    async def run(url: str) -> None:
        stop = asyncio.Event()
        async with httpx.AsyncClient(base_url=url, headers=BEARER, timeout=PATIENCE_S) as http:
            clients = [asyncio.create_task(ask(http, f"c{number}", stop)) for number in range(20)]
            for _ in range(2):
                await asyncio.sleep(0.3)
                await asyncio.to_thread(redis.kill)
                await asyncio.sleep(0.1)
                await asyncio.to_thread(redis.start)
            await asyncio.sleep(0.3)
            stop.set()
            await asyncio.gather(*clients)

    with running_door(redis.url) as door:
        asyncio.run(run(door.url))
    assert statuses == {200, 503}
    assert wrong == []


def test_the_door_starts_before_redis_does(tmp_path: Path) -> None:
    redis = RedisServer(needs("redis"), tmp_path, free_port())
    with running_door(redis.url) as door, client(door.url) as http:
        assert http.get("/ping").status_code == 503
        redis.start()
        try:
            assert http.get("/ping").json() == {"result": "PONG"}
        finally:
            redis.kill()


@contextmanager
def silent_server() -> Iterator[int]:
    """Accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepted: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    accepted.append(listener.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE_S)
            for connection in accepted:
                connection.close()


def test_a_redis_that_does_not_answer_is_given_up_in_time() -> None:
    with silent_server() as port, running_door(f"redis://127.0.0.1:{port}") as door, client(door.url) as http:
        answer = http.get("/incr/n")
        assert answer.status_code == 503
        assert "did not answer within 2 s; the command may or may not have run" in answer.json()["error"]


def test_a_password_that_redis_refuses(tmp_path: Path) -> None:
    redis = RedisServer(needs("redis"), tmp_path, free_port(), ["--requirepass", "right"])
    redis.process = None
    log = tmp_path / "log.txt"
    with protected(redis), running_door(f"redis://:wrong-password@127.0.0.1:{redis.port}", stderr=log) as door:
        with client(door.url) as http:
            answer = http.get("/ping")
            assert answer.status_code == 503
            assert answer.json()["error"].endswith("refused the user name or password")
        eventually(lambda: bool(events(log)), "nothing is logged")
        assert "wrong-password" not in log.read_text()
    with protected(redis), running_door(f"redis://:right@127.0.0.1:{redis.port}/3") as door, client(door.url) as http:
        assert http.get("/set/a/1").json() == {"result": "OK"}


@contextmanager
def protected(redis: RedisServer) -> Iterator[None]:
    """A server that wants a password: its PING answers an error, which is answer enough."""
    original = redis.command

    def command(*words: str) -> str:
        reply = original(*words)
        return "+PONG" if reply.startswith("-NOAUTH") else reply

    redis.command = command  # type: ignore[method-assign]
    try:
        redis.start()
        yield
        redis.kill()
    finally:
        redis.command = original  # type: ignore[method-assign]


def test_a_replica_is_temporary_and_its_promotion_is_noticed(tmp_path: Path) -> None:
    redis = RedisServer(needs("redis"), tmp_path, free_port(), ["--replicaof", "127.0.0.1", str(free_port())])
    redis.start()
    try:
        with running_door(redis.url) as door, client(door.url) as http:
            refused = http.get("/set/a/1")
            assert refused.status_code == 503
            assert refused.json()["error"].startswith("READONLY ")
            assert redis.command("REPLICAOF", "NO", "ONE") == "+OK"
            assert http.get("/set/a/1").json() == {"result": "OK"}
    finally:
        redis.kill()


def test_an_evicting_redis_is_a_loud_warning(tmp_path: Path) -> None:
    redis = RedisServer(needs("redis"), tmp_path, free_port(), ["--maxmemory-policy", "allkeys-lru"])
    redis.start()
    log = tmp_path / "log.txt"
    try:
        with running_door(redis.url, stderr=log) as door, client(door.url) as http:
            health = http.get("/.stanchion/rest/health")
            assert health.status_code == 200
            assert health.json()["maxmemory_policy"] == "allkeys-lru"
            assert "noeviction" in health.json()["warning"]
            eventually(lambda: bool(events(log)), "nothing is logged")
            (line,) = events(log)
            assert (line["level"], line["event"], line["policy"]) == ("warning", "redis_evicts", "allkeys-lru")
    finally:
        redis.kill()


def test_a_redis_that_refuses_config_is_unknown_and_no_warning(tmp_path: Path) -> None:
    redis = RedisServer(needs("redis"), tmp_path, free_port(), ["--rename-command", "CONFIG", ""])
    redis.start()
    try:
        with running_door(redis.url) as door, client(door.url) as http:
            expected = {"backend": "redis", "reachable": True, "maxmemory_policy": "unknown"}
            assert http.get("/.stanchion/rest/health").json() == expected
    finally:
        redis.kill()


def test_a_loading_redis_is_temporary(monkeypatch: pytest.MonkeyPatch) -> None:
    """LOADING, as told by a server that starts from a large file, is verbatim and a 503."""
    from host.rest.app import create_app
    from host.rest.embedded import EmbeddedBackend
    from host.rest.replies import Reply, ReplyError

    async def loading(_self: EmbeddedBackend, commands: list[list[bytes]]) -> list[Reply]:
        return [ReplyError("LOADING Redis is loading the dataset in memory")] * len(commands)

    monkeypatch.setattr(EmbeddedBackend, "run", loading)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(EmbeddedBackend(), TOKEN))
        async with httpx.AsyncClient(transport=transport, base_url="http://door", headers=BEARER) as http:
            return await http.get("/get/a")

    answer = asyncio.run(ask())
    assert answer.status_code == 503
    assert answer.json() == {"error": "LOADING Redis is loading the dataset in memory"}
