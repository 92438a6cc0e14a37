"""Three plain redis-server processes as a cluster, behind the door."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from host.rest.topology import redirection
from tests.host.rest.servers import PATIENCE_S, TOKEN, RedisServer, free_port, running_door
from tests.needs import needs

SLOTS = [(0, 5460), (5461, 10922), (10923, 16383)]


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RedisServer]]:
    program = needs("redis")
    nodes = []
    try:
        for _ in SLOTS:
            options = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
            nodes.append(RedisServer(program, tmp_path_factory.mktemp("node"), free_port(), options))
            nodes[-1].start()
        for node, (first, last) in zip(nodes, SLOTS, strict=True):
            assert node.command("CLUSTER", "ADDSLOTSRANGE", str(first), str(last)) == "+OK"
        for node in nodes[1:]:
            assert node.command("CLUSTER", "MEET", "127.0.0.1", str(nodes[0].port)) == "+OK"
        for node in nodes:
            # SET in a slot of another node is answered MOVED only when the whole cluster is known to be up.
            eventually(lambda node=node: knows_all(node), "the cluster does not come together")  # type: ignore[misc]
        yield nodes
    finally:
        for node in nodes:
            node.kill()


def knows_all(node: RedisServer) -> bool:
    answers = [node.command("GET", key) for key in ("{a}", "{b}", "{c}")]  # slots 15495, 3300, 7365
    return all(answer == "$-1" or answer.startswith("-MOVED") for answer in answers)


@pytest.fixture(scope="module", params=["redis+cluster://127.0.0.1:{port}", "redis://127.0.0.1:1,127.0.0.1:{port}"])
def door_url(request: pytest.FixtureRequest, cluster: list[RedisServer]) -> Iterator[str]:
    with running_door(request.param.format(port=cluster[0].port)) as door:
        assert door.backend == "redis-cluster"
        yield door.url


@pytest.fixture
def http(door_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=door_url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE_S) as client:
        assert client.get("/flushall").json() == {"result": "OK"}
        yield client


def test_commands_find_their_node(http: httpx.Client, cluster: list[RedisServer]) -> None:
    for number in range(60):
        assert http.get(f"/set/key{number}/{number}").json() == {"result": "OK"}
    assert [http.get(f"/get/key{number}").json()["result"] for number in range(60)] == [str(n) for n in range(60)]
    assert http.get("/dbsize").json() == {"result": 60}
    assert all(int(node.command("DBSIZE")[1:]) > 0 for node in cluster)
    assert sorted(http.get("/keys/*").json()["result"]) == sorted(f"key{number}" for number in range(60))


def test_a_pipeline_over_all_nodes_keeps_order(http: httpx.Client) -> None:
    commands = [["SET", f"key{number}", number] for number in range(50)]
    commands += [["INCR", f"key{number}"] for number in range(50)]
    commands += [["HGET", "key1", "f"], ["PING"], ["BLPOP", "l", 0]]
    results = http.post("/pipeline", json=commands).json()
    assert results[:50] == [{"result": "OK"}] * 50
    assert results[50:100] == [{"result": number + 1} for number in range(50)]
    assert results[100]["error"].startswith("WRONGTYPE")
    assert results[101] == {"result": "PONG"}
    assert "not offered" in results[102]["error"]


def test_one_hash_tag_is_one_transaction_and_one_script(http: httpx.Client) -> None:
    assert http.post("/multi-exec", json=[["SET", "{t}:a", 1], ["INCR", "{t}:a"], ["GET", "{t}:a"]]).json() == [
        {"result": "OK"}, {"result": 2}, {"result": "2"},
    ]  # fmt: skip
    text = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('MGET', KEYS[1], KEYS[2])"
    assert http.post("/", json=["EVAL", text, 2, "{t}:b", "{t}:a", "x"]).json() == {"result": ["x", "2"]}
    crossing = http.post("/", json=["MGET", "a", "b"])
    assert (crossing.status_code, crossing.json()["error"][:9]) == (400, "CROSSSLOT")
    assert http.post("/multi-exec", json=[["SET", "a", 1], ["SET", "b", 2]]).json()["error"].startswith("EXECABORT")
    assert "with a key" in http.post("/multi-exec", json=[["PING"]]).json()["error"]


def test_a_loaded_script_is_on_every_node(http: httpx.Client) -> None:
    text = "return redis.call('INCR', KEYS[1])"
    sha = http.post("/", json=["SCRIPT", "LOAD", text]).json()["result"]
    assert http.post("/", json=["SCRIPT", "EXISTS", sha, "0" * 40]).json() == {"result": [1, 0]}
    for tag in "abcdef":
        assert http.post("/", json=["EVALSHA", sha, 1, f"{{{tag}}}:n"]).json() == {"result": 1}
    assert http.get("/script/flush").json() == {"result": "OK"}
    assert http.post("/", json=["SCRIPT", "EXISTS", sha]).json() == {"result": [0]}


def test_scan_is_refused_and_health_names_the_kind(http: httpx.Client) -> None:
    assert "on a cluster" in http.get("/scan/0").json()["error"]
    expected = {"backend": "redis-cluster", "reachable": True, "maxmemory_policy": "noeviction"}
    assert http.get("/.stanchion/rest/health").json() == expected


def test_a_moved_slot_is_followed(http: httpx.Client, cluster: list[RedisServer]) -> None:
    """Slot 7365 ({c}) goes from the second node to the first and back, without the door being told."""
    assert http.get("/set/%7Bc%7D:before/1").json() == {"result": "OK"}
    assert http.get("/del/%7Bc%7D:before").json() == {"result": 1}
    for owner in (cluster[0], cluster[1]):
        name = node_id(owner)
        # The new owner first: a slot that nobody admits to own would close the whole cluster.
        for node in (owner, *(other for other in cluster if other is not owner)):
            assert node.command("CLUSTER", "SETSLOT", "7365", "NODE", name) == "+OK"
        assert http.get("/incr/%7Bc%7D:n").json() == {"result": 1}
        assert owner.command("GET", "{c}:n") == "$1"
        transaction = http.post("/multi-exec", json=[["INCR", "{c}:n"], ["DEL", "{c}:n"]])
        assert transaction.json() == [{"result": 2}, {"result": 1}]


def test_a_slot_on_the_move_is_asked_for(http: httpx.Client, cluster: list[RedisServer]) -> None:
    """Slot 3300 ({b}) is migrating: a key that is not there any more is answered by ASK."""
    source, target = cluster[0], cluster[2]
    assert target.command("CLUSTER", "SETSLOT", "3300", "IMPORTING", node_id(source)) == "+OK"
    assert source.command("CLUSTER", "SETSLOT", "3300", "MIGRATING", node_id(target)) == "+OK"
    try:
        assert http.post("/pipeline", json=[["INCR", "{b}:n"], ["INCR", "{b}:n"]]).json() == [{"result": 1}, {"result": 2}]
        assert source.command("GET", "{b}:n").startswith("-ASK")
        assert http.get("/del/%7Bb%7D:n").json() == {"result": 1}
    finally:
        for node in (source, target):
            assert node.command("CLUSTER", "SETSLOT", "3300", "STABLE") == "+OK"


def node_id(node: RedisServer) -> str:
    import socket

    with socket.create_connection(("127.0.0.1", node.port), timeout=PATIENCE_S) as connection:
        connection.sendall(b"*2\r\n$7\r\nCLUSTER\r\n$4\r\nMYID\r\n")
        reader = connection.makefile("rb")
        reader.readline()
        return reader.readline().decode().strip()


def test_redirections_are_read() -> None:
    assert redirection("MOVED 3999 10.0.0.1:6381") == ("MOVED", "10.0.0.1", 6381)
    assert redirection("ASK 1 :7000") == ("ASK", "", 7000)
    assert redirection("MOVED 1 ::1:7000") == ("MOVED", "::1", 7000)
    assert redirection("ERR MOVED 1 h:1") is None
    assert redirection("MOVED nonsense") is None


def test_one_node_away_fails_its_own_commands_only(tmp_path: Path) -> None:
    """A cluster of its own, because it does not come back from this."""
    program = needs("redis")
    options = ["--cluster-enabled", "yes", "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "500"]
    nodes = [RedisServer(program, tmp_path / str(number), free_port(), options) for number in range(2)]
    for node in nodes:
        node.folder.mkdir()
        node.start()
    try:
        assert nodes[0].command("CLUSTER", "ADDSLOTSRANGE", "0", "8191") == "+OK"
        assert nodes[1].command("CLUSTER", "ADDSLOTSRANGE", "8192", "16383") == "+OK"
        assert nodes[1].command("CLUSTER", "MEET", "127.0.0.1", str(nodes[0].port)) == "+OK"
        for node in nodes:
            eventually(lambda node=node: knows_all(node), "the cluster does not come together")  # type: ignore[misc]
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        with (
            running_door(f"redis+cluster://127.0.0.1:{nodes[0].port}") as door,
            httpx.Client(base_url=door.url, headers=bearer, timeout=PATIENCE_S) as http,
        ):
            both = [["INCR", "{a}"], ["INCR", "{b}"]]  # slots 15495 and 3300
            assert http.post("/pipeline", json=both).json() == [{"result": 1}, {"result": 1}]
            nodes[1].kill()
            lost, kept = http.post("/pipeline", json=both).json()
            assert kept == {"result": 2}
            assert lost["error"].startswith("ERR backend unavailable: Redis at 127.0.0.1:")
            alone = http.get("/incr/%7Ba%7D")
            assert alone.status_code == 503
            assert "error" in alone.json()
    finally:
        for node in nodes:
            node.kill()
