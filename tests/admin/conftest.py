"""The admin app, running, before a real Redis and the real REST bridge."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from argon2 import PasswordHasher
from fastapi import FastAPI

from admin.__main__ import _uvicorn_config
from admin.access import people
from admin.app import create_app
from admin.credentials import Credentials, load
from admin.kv import FolderKv
from admin.settings import Settings
from admin.state.users import Person
from edge.core.model import Queue
from tests.admin.world import REST_TOKEN, Bridge, RedisServer, Visitors, config_text, queue_json, queues_of
from tests.needs import needs

API_TOKEN = "api-token-of-the-tests"
PASSWORD = "correct horse battery"
PASSWORD_HASH = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)


@dataclass
class Clock:
    """Time that a test can move."""

    ahead_s: float = 0.0

    def unix_s(self) -> float:
        return time.time() + self.ahead_s

    def monotonic_s(self) -> float:
        return time.monotonic() + self.ahead_s


@dataclass
class Admin:
    """A running app with its surroundings."""

    url: str
    app: FastAPI
    settings: Settings
    credentials: Credentials
    clock: Clock
    visitors: Visitors
    kv: FolderKv
    queues: dict[str, Queue] = field(default_factory=dict)
    clock_fields: set[str] = field(default_factory=set)

    def publish(self, *queues: dict[str, Any], groups: Sequence[dict[str, Any]] = ()) -> None:
        """Publishes a configuration and waits until the app would read it again."""
        text = config_text(*queues, groups=groups)
        self.kv.put("config.json", text)
        self.queues = {queue.id: queue for queue in queues_of(text)}
        self.clock.ahead_s += 2

    def start(self, *queue_ids: str) -> None:
        for queue_id in queue_ids or tuple(self.queues):
            self.visitors.start(self.queues[queue_id])
        self.clock.ahead_s += 2

    def person(self, name: str, role: str) -> Person:
        """Somebody with the password PASSWORD."""
        db = self.app.state.desk.db
        made: Person = db.run_now(lambda session: people.add(session, name, role, 1_000, password_hash=PASSWORD_HASH))
        return made

    @contextlib.contextmanager
    def as_role(self, role: str) -> Iterator[Browser]:
        """Somebody of this role, signed in."""
        self.person(f"some-{role}", role)
        with self.anyone() as client:
            assert sign_in(client, user=f"some-{role}").status_code == 303
            yield Browser(client)

    def api(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {more.pop('token', API_TOKEN)}", **more.pop("headers", {})}
        with httpx.Client(base_url=self.url, trust_env=False, timeout=20) as client:
            return client.request(method, f"/api/v1{path}", headers=headers, **more)

    def anyone(self) -> httpx.Client:
        """A browser without JavaScript; nobody is signed in."""
        return httpx.Client(base_url=self.url, trust_env=False, timeout=20)


@dataclass
class Browser:
    """A signed-in browser without JavaScript."""

    client: httpx.Client

    def get(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200, (answer.status_code, answer.text[:500])
        return answer.text

    def fields(self, page: str, action: str) -> dict[str, str]:
        """The hidden fields of the form with this action."""
        html = self.get(page)
        form = re.search(rf'<form [^>]*method="post" action="{re.escape(action)}">(.*?)</form>', html, re.S)
        assert form, f"no form {action} on {page}"
        return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[1]))

    def send(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Fills in a form of a page and sends it."""
        return self.client.post(action, data={**self.fields(page, action), **fields})


def text_of(html: str) -> str:
    """What a reader sees of a page."""
    without = re.sub(r"<(script|style|svg).*?</\1>", " ", html, flags=re.S)
    visible = re.sub(r"<[^>]+>", " ", re.sub(r"<(\w+)[^>]* hidden>.*?</\1>", " ", without, flags=re.S))
    return re.sub(r"\s+", " ", visible).replace("&#39;", "'").replace("&amp;", "&")


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(needs("redis"), tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def bridge(redis_server: RedisServer) -> Iterator[Bridge]:
    made = Bridge(redis_server.port)
    made.start()
    yield made
    made.stop()


Serve = Callable[..., Admin]


@pytest.fixture
def serve(redis_server: RedisServer, tmp_path: Path) -> Iterator[Serve]:
    """Runs the app against a Redis over REST at some address; all of them end with the test."""
    redis_server.client().flushall()
    with contextlib.ExitStack() as running:

        def run(redis_url: str, redis_token: str = REST_TOKEN, **more: Any) -> Admin:
            settings = Settings(
                bind="127.0.0.1",
                port=0,
                redis_url=redis_url,
                redis_token=redis_token,
                redis_flavour="redis",
                kv_dir=tmp_path / "kv",
                admin_dir=tmp_path / "admin",
                api_token=API_TOKEN,
                password_hash=PASSWORD_HASH,
                **more,
            )
            clock, credentials = Clock(), load(settings, lambda line: None)
            app = create_app(settings, credentials, unix_s=clock.unix_s, monotonic_s=clock.monotonic_s)
            url = running.enter_context(_running(app, settings))
            visitors = Visitors(redis_server.client())
            return Admin(url, app, settings, credentials, clock, visitors, FolderKv(settings.kv_dir))

        yield run


@contextlib.contextmanager
def _running(app: FastAPI, settings: Settings) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(_uvicorn_config(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        assert not thread.is_alive()


@pytest.fixture
def admin(serve: Serve, bridge: Bridge) -> Admin:
    """The app with one queue, `sale`, that is configured and not started."""
    running = serve(bridge.url)
    running.publish(queue_json("sale", name="Summer sale", admit_per_minute=60, max_active=100))
    return running


def sign_in(client: httpx.Client, password: str = PASSWORD, **fields: str) -> httpx.Response:
    """Signs in as a browser would."""
    token = re.search(r'name="csrf" value="([^"]+)"', client.get("/sign-in").text)
    assert token
    return client.post("/sign-in", data={"user": "admin", "password": password, "csrf": token[1], **fields})


@pytest.fixture
def browser(admin: Admin) -> Iterator[Browser]:
    with admin.anyone() as client:
        assert sign_in(client).status_code == 303
        yield Browser(client)
