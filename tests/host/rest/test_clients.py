"""The public clients of the protocol against a running door: upstash-redis for Python, @upstash/redis for node."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from upstash_redis import Redis
from upstash_redis.asyncio import Redis as AsyncRedis
from upstash_redis.errors import UpstashError

from host.programs import run
from tests.host.rest.servers import PATIENCE_S, REPOSITORY, TOKEN, Door
from tests.needs import needs

INCREASE = "local n = redis.call('INCRBY', KEYS[1], ARGV[1]) return {n, redis.call('TIME')[1]}"


def test_the_python_client(door: Door) -> None:
    with Redis(url=door.url, token=TOKEN, allow_telemetry=False) as redis:
        assert redis.flushall()
        assert redis.set("greeting", "Grüße 👋", ex=100)
        assert redis.get("greeting") == "Grüße 👋"
        assert redis.get("none") is None
        assert 0 < redis.ttl("greeting") <= 100
        assert redis.hset("h", values={"f": "1", "g": "2"}) == 2
        assert redis.hgetall("h") == {"f": "1", "g": "2"}
        assert redis.zadd("z", {"a": 1.5, "b": 2}) == 2
        assert redis.zrange("z", 0, -1, withscores=True) == [("a", 1.5), ("b", 2.0)]
        sha = redis.script_load(INCREASE)
        assert sha == hashlib.sha1(INCREASE.encode()).hexdigest()
        assert redis.evalsha(sha, keys=["n"], args=["5"])[0] == 5
        assert redis.eval(INCREASE, keys=["n"], args=["5"])[0] == 10
        assert redis.script_exists(sha, "0" * 40) == [True, False]
        assert redis.publish("nobody", "hears") == 0
        with pytest.raises(UpstashError, match=r"^WRONGTYPE Operation"):
            redis.hget("greeting", "f")


def test_pipelines_of_the_python_client(door: Door) -> None:
    with Redis(url=door.url, token=TOKEN, allow_telemetry=False) as redis:
        assert redis.flushall()
        pipeline = redis.pipeline()
        pipeline.set("k", "v").incr("n").get("k")
        assert pipeline.exec() == [True, 1, "v"]
        transaction = redis.multi()
        transaction.incr("n").incr("n")
        assert transaction.exec() == [2, 3]
        failing = redis.pipeline()
        failing.get("k").hget("k", "f")
        with pytest.raises(UpstashError, match=r"^WRONGTYPE"):
            failing.exec()


def test_the_python_client_without_base64(door: Door) -> None:
    with Redis(url=door.url, token=TOKEN, rest_encoding=None) as redis:
        assert redis.set("k", "v")
        assert redis.get("k") == "v"


def test_the_python_client_with_a_wrong_token(door: Door) -> None:
    with (
        Redis(url=door.url, token="wrong" + TOKEN) as redis,
        pytest.raises(UpstashError, match="WRONGPASS invalid or missing auth token"),
    ):
        redis.get("k")


def test_the_asynchronous_python_client(door: Door) -> None:
    async def run() -> None:
        async with AsyncRedis(url=door.url, token=TOKEN, allow_telemetry=False) as redis:
            assert await redis.flushall()
            await asyncio.gather(*(redis.incr("n") for _ in range(50)))
            assert await redis.get("n") == "50"
            transaction = redis.multi()
            transaction.set("k", "v").get("k")
            assert await transaction.exec() == [True, "v"]

    asyncio.run(run())


@pytest.fixture(scope="session")
def node_client() -> Path:
    """A folder with the pinned npm client, installed once for each lock file."""
    needs("node")
    source = Path(__file__).parent / "node"
    lock = (source / "package-lock.json").read_bytes()
    folder = REPOSITORY / ".cache" / "node" / f"upstash-{hashlib.sha256(lock).hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "check.mjs"):
        shutil.copy(source / name, folder / name)
    if not (folder / "node_modules" / "@upstash" / "redis" / "package.json").exists():
        npm = shutil.which("npm")
        assert npm is not None, "npm is not installed beside node"
        install = run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], timeout_s=120, cwd=folder)
        if install.returncode != 0:
            message = f"npm ci cannot fetch @upstash/redis: {install.stderr[-300:]}"
            if "node" in os.environ.get("STANCHION_TEST_REQUIRE", "").split(","):
                pytest.fail(message)
            pytest.skip(message)
    return folder


def test_the_node_client(door: Door, node_client: Path) -> None:
    done = subprocess.run(
        [needs("node"), "check.mjs"],
        cwd=node_client,
        env={"PATH": os.environ["PATH"], "URL": door.url, "TOKEN": TOKEN, "UPSTASH_DISABLE_TELEMETRY": "1"},
        capture_output=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().splitlines()[-1] == "all checks passed"
