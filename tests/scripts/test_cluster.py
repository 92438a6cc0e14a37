"""The scripts as they are on a Redis Cluster of three plain nodes: one walk through all of them, behind the REST door."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import redis

from edge.core import calls, draw, scripts
from edge.core.calls import Answer, Call
from tests.host.rest.servers import PATIENCE_S, TOKEN, RedisServer, running_door
from tests.host.rest.test_cluster import cluster
from tests.scripts import line as lines
from tests.scripts.backends import _Store
from tests.scripts.line import START_MS, Line

__all__ = ["cluster"]
LANES = [{"name": "standard", "share": 3}, {"name": "vip", "share": 1}]


class Door(_Store):
    """A store behind the REST door. Notes which scripts were run."""

    name = "cluster"

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_S)
        self.ran: set[str] = set()

    def command(self, *words: str) -> Any:
        told = self._http.post("/", json=list(words)).json()
        if "error" in told:
            raise redis.ResponseError(told["error"])
        return told["result"]

    def script(self, call: Call) -> Answer:
        self.ran.add(call.script.name)
        return super().script(call)

    def close(self) -> None:
        self._http.close()


@pytest.fixture
def door(cluster: list[RedisServer]) -> Iterator[Door]:
    with running_door(f"redis+cluster://127.0.0.1:{cluster[0].port}") as running:
        assert running.backend == "redis-cluster"
        store = Door(running.url)
        store.command("FLUSHALL")
        yield store
        store.close()


@pytest.fixture(params=["q", "other", "third-scope"])
def scope(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Scopes that live on different nodes."""
    monkeypatch.setattr(lines, "SCOPE", request.param)
    return str(request.param)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(START_MS / 1000 + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_one_walk_through_all_scripts_on_a_three_node_cluster(door: Door, scope: str) -> None:
    times = {"prequeue_at": _moment(0), "opens_at": _moment(60), "spread_s": 20}
    line = Line(door, id=scope, lanes=LANES, **times, admit_per_minute=None, max_active=3, checkout_s=60, events=True)
    arrivals = [*line.places(5), *line.places(2, "vip", line=1)]
    assert all(ticket.is_arrival for ticket in arrivals)
    line.wait(60)
    seed = draw.seed(b"k" * 32, scope, line.state()["epoch"], START_MS + 60_000)
    assert line.open_queue(seed, draw.key(seed)).details == ("7",)
    snapshot = line.seen()
    assert [each.length for each in snapshot.lines] == [5, 2]
    places = [line.touch(ticket).number(0) for ticket in arrivals]
    assert (sorted(places[:5]), sorted(places[5:])) == ([1, 2, 3, 4, 5], [1, 2])
    assert places[:5] == [draw.place(draw.key(seed), 0, number, 5) for number in range(1, 6)]

    assert line.look(arrivals[0]).details[1:] == (), "no number of arrival any more"
    for _ in range(4):  # everybody has had the spread to show life
        line.wait(5)
        for ticket in arrivals:
            line.touch(ticket)
    inside = [line.ticket(one.visitor, said) for one in arrivals if (said := line.touch(one, wants_in=True)).verdict == "inside"]
    assert len(inside) == 3
    assert len(line.members("active")) == 3
    assert line.renew(inside[0]).verdict == "inside"
    assert line.checkout(inside[0]).verdict == "checkout"
    assert line.end(inside[0], "completed").verdict == "freed"
    assert line.end(inside[1], "revoked").verdict == "freed"
    assert (line.number("held") + line.number("held1")) == len(line.members("active")) + len(line.members("called"))
    line.set_limits(max_active=10)
    assert line.admit(5).verdict == "ok"
    assert line.configure(admit_per_minute=600).verdict == "taken"
    assert line.control("pause").details[0] == "paused"
    assert line.control("reset").verdict == "ok"
    assert door.ran == {script.name for script in scripts.ALL}


def test_the_scopes_of_this_walk_are_on_more_than_one_node(cluster: list[RedisServer]) -> None:
    asked = [cluster[0].command("CLUSTER", "KEYSLOT", calls.keys(name)[0]) for name in ("q", "other", "third-scope")]
    assert len({int(slot.removeprefix(":")) // 5461 for slot in asked}) > 1
