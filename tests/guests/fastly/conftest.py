from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.hosts.double import Double
from tests.conformance.world import World, running
from tests.double.message import Body, Message
from tests.double.sandbox import Sandbox
from tests.e2e.stack import queue
from tests.needs import needs

QUEUES = [
    queue("calm", admit_per_minute=100_000, burst=10_000, renew_every_s=200),
    queue("hand", manual=True),
    queue("jp", manual=True, routes=[{"path": "/country/*"}], countries=["JP"], other_countries="pass"),
    queue("vouch", manual=True, lanes=[{"name": "standard"}, {"name": "members", "rule": "header:X-Member"}]),
    queue("few", always_queue=True, admit_per_minute=6000, start_queueing_above=3),
    queue("let", manual=True, on_store_error="admit", store_error_admit_per_minute=2),
]


class Desk:
    """The world around the double, and single requests to it."""

    def __init__(self, world: World) -> None:
        assert isinstance(world.host, Double)
        self.world, self.double, self.platform = world, world.host, world.host.platform
        self.answers: list[tuple[Message, bytes]] = []

    def request(self, path: str, cookie: str = "", *, method: str = "GET", client: str = "192.0.2.7", accept: str = "text/html",
                headers: tuple[tuple[str, bytes], ...] = ()) -> Message:  # fmt: skip
        """What a browser sends."""
        sent = [("host", b"shop.example"), ("accept", accept.encode()), ("user-agent", b"test"), *headers]
        if cookie:
            sent.append(("cookie", cookie.encode()))
        return Message(method, f"http://shop.example{path}", headers=sent, client=client)

    def sandbox(self) -> Sandbox:
        """A sandbox whose answers are kept here."""
        return Sandbox(self.platform, self._keep)

    def _keep(self, message: Message, body: Body) -> None:
        content = b""
        while piece := body.read(65_536):
            content += piece
        self.answers.append((message, content))

    def ask(self, path: str, cookie: str = "", **more: object) -> tuple[Sandbox, Message, str]:
        """One request in a fresh sandbox: the sandbox, the answer, its body."""
        self.answers.clear()
        host = self.double.server.host
        ran = host.run(self.sandbox(), self.request(path, cookie, **more), Body())  # type: ignore[arg-type]
        assert ran.trap == "", ran.trap
        assert len(self.answers) == 1, "one request, one answer"
        answer, content = self.answers[0]
        return ran, answer, content.decode()


def cookies(answer: Message) -> str:
    """The cookies that an answer sets, as a browser would send them back."""
    pairs = [value.decode().partition(";")[0] for value in answer.values("set-cookie")]
    return "; ".join(pair for pair in pairs if not pair.endswith("="))


@pytest.fixture(scope="package")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    needs("fastly-python")
    with running(Double(), tmp_path_factory.mktemp("fastly"), QUEUES) as world:
        yield world


@pytest.fixture
def desk(started: World) -> Iterator[Desk]:
    """The double as it should be, whatever a test before did to it."""
    found = Desk(started)
    platform, settings, backends = found.platform, dict(found.platform.settings), dict(found.platform.backends)
    platform.cache.items.clear()
    platform.cache.obliged.clear()
    platform.log.clear()
    platform.sent.clear()
    yield found
    platform.settings, platform.backends, platform.broken, platform.write_at_most = settings, backends, set(), 1 << 30
    platform.countries, platform.cache.ahead_s = {}, 0.0
    found.double.find_store(started.site)
