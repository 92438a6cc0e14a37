"""The surroundings of an edge under test: a real Redis behind the REST bridge, a raw origin, visitors, an operator."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from edge.core import commands
from edge.core.calls import Answer, Call
from edge.core.config import load_config
from edge.core.snapshot import Snapshot
from tests.conformance.host import Host, Site, empty_folder
from tests.conformance.origin import origin as site_origin
from tests.e2e.stack import AWKWARD_KEY, PATIENCE_S, Queue
from tests.host.edge.wire import RawServer, raw_server
from tests.host.rest.servers import TOKEN, Door, RedisServer, free_port, running_door
from tests.needs import needs

KEYS = "e2e1:" + AWKWARD_KEY


@dataclass
class World:
    """An edge at an address, and everything around it."""

    host: Host
    site: Site
    redis: RedisServer
    door: Door
    origin: RawServer
    jars: list[httpx.Client] = field(default_factory=list)

    @property
    def edge(self) -> str:
        return f"http://127.0.0.1:{self.host.port}"

    @property
    def port(self) -> int:
        return self.host.port

    def visitor(self, **headers: str) -> httpx.Client:
        """A browser with an empty cookie jar."""
        client = httpx.Client(base_url=self.edge, headers={"Accept": "text/html"} | headers, timeout=PATIENCE_S)
        self.jars.append(client)
        return client

    # --- the operator ---

    def send(self, call: Call) -> Answer:
        """One script, as the admin sends it."""
        return Answer.read(self.command(call.eval("redis")))

    def command(self, words: Sequence[str]) -> Any:
        """One command of Redis over REST."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        answer = httpx.post(self.door.url, json=list(words), headers=headers, timeout=PATIENCE_S)
        assert answer.is_success, answer.text
        return answer.json()["result"]

    def operate(self, queue_id: str, action: str) -> None:
        """Pause, resume, reset, in force when this returns."""
        told = self.send(commands.control(queue_id, action, _random(), _random()))  # type: ignore[arg-type]
        assert told.verdict == "ok", told
        self.wait_in_force()

    def admit(self, queue_id: str, count: int) -> int:
        """Calls a batch; how many were called."""
        return self.send(commands.admit(queue_id, count, _random(), _random())).number(0)

    def set_limit(self, queue_id: str, name: str, value: int) -> None:
        """A live limit, by its public name."""
        assert self.send(commands.set_limits(queue_id, {name: value}, _random())).verdict == "ok"

    def snapshot(self, queue_id: str) -> Snapshot:
        """The state of a queue."""
        found = self.send(commands.take_snapshot(queue_id, _random())).snapshot
        assert found is not None
        return found

    def redis_info(self, section: str) -> list[str]:
        """The lines of a section of INFO."""
        return str(self.command(["INFO", section])).splitlines()

    def wait_in_force(self) -> None:
        """Returns when an operator's step is in force at this host."""
        time.sleep(self.host.step_in_force_s)

    # --- the store ---

    def publish(self, queues: Sequence[Queue] | str, pages: Mapping[str, str] | None = None) -> None:
        """A configuration (or any text in its place) and pages; in force when this returns."""
        write_store(self.site.kv, queues, pages or {})
        self.host.publish(self.site)
        time.sleep(self.host.publish_in_force_s)

    def republish(self) -> None:
        """What an operator does after Redis lost its memory, where the store of a host is in Redis, too."""
        if self.host.store_is_in_redis:
            self.host.publish(self.site)

    def begin(self, queues: Sequence[Queue]) -> None:
        """Begins the state of queues that have never run."""
        for queue in load_config(json.dumps({"queues": list(queues)})).queues:
            self.send(commands.configure(queue, _random(), new=True))


def _random() -> str:
    return secrets.token_hex(16)


def write_store(kv: Path, queues: Sequence[Queue] | str, pages: Mapping[str, str]) -> None:
    """The folder that a host takes its configuration and pages from."""
    kv.mkdir(parents=True, exist_ok=True)
    text = queues if isinstance(queues, str) else json.dumps({"queues": list(queues)})
    (kv / "config.json").write_text(text)
    for key, page in pages.items():
        (kv / key).parent.mkdir(parents=True, exist_ok=True)
        (kv / key).write_text(page)


@contextmanager
def running(host: Host, folder: Path, queues: Sequence[Queue], origin_url: str = "") -> Iterator[World]:
    """The host with these queues, once it answers."""
    folder = empty_folder(folder)
    write_store(folder / "kv", queues, {})
    with ExitStack() as stack:
        redis = RedisServer(needs("redis"), folder, free_port())
        redis.start()
        stack.callback(redis.kill)
        door = stack.enter_context(running_door(redis.url))
        origin = stack.enter_context(raw_server(site_origin))
        site = Site(folder, folder / "kv", door.url, TOKEN, origin_url or origin.url, KEYS)
        world = World(host, site, redis, door, origin)
        world.begin(queues)
        host.publish(site)
        host.start(site)
        stack.callback(host.stop)
        try:
            yield world
        finally:
            for jar in world.jars:
                jar.close()


def place(world: World, queue_id: str, **headers: str) -> httpx.Client:
    """A visitor with a place."""
    visitor = world.visitor(**headers)
    visitor.get(f"/{queue_id}/")
    found = visitor.get(f"/.stanchion/{queue_id}/status", headers={"Accept": "application/json"}).json()
    assert found["position"], found
    return visitor

