"""The edge as a process: what it refuses to start with, workers, signals, and its log."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from host.component.build import ROOT
from tests.host.edge.support import SIGNING_KEYS, edge_environ, run_edge, script, start_edge, wait_until
from tests.host.edge.test_streaming import EventOrigin
from tests.host.edge.wire import Message, Stream, connect, get, ok, raw_server, read_head
from tests.programs import end, start


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"STANCHION_SIGNING_KEYS": ""}, "STANCHION_SIGNING_KEYS"),
        ({"STANCHION_SIGNING_KEYS": "k1:c2hvcnQ"}, "STANCHION_SIGNING_KEYS"),
        ({"UPSTASH_REDIS_REST_TOKEN": ""}, "UPSTASH_REDIS_REST_TOKEN"),
        ({"STANCHION_ORIGIN_URL": "http://a/path"}, "STANCHION_ORIGIN_URL"),
        ({"STANCHION_TRUSTED_PROXIES": "10.0.0.0/99"}, "STANCHION_TRUSTED_PROXIES"),
        ({"STANCHION_WORKERS": "0"}, "STANCHION_WORKERS"),
        ({"STANCHION_EDGE_PORT": "http"}, "STANCHION_EDGE_PORT"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(settings: dict[str, str], name: str) -> None:
    ended = run_edge(settings)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"{name}: ")
    assert len(ended.stderr.splitlines()) == 1
    assert "c2hvcnQ" not in ended.stderr


def test_a_taken_port_is_named_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run_edge({"STANCHION_EDGE_PORT": str(port)})
    assert ended.returncode == 2
    assert str(port) in ended.stderr
    assert "STANCHION_EDGE_PORT" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_component_that_is_none_is_named(tmp_path: Path, workers: str) -> None:
    path = tmp_path / "none.wasm"
    for content in (None, b"not wasm", b"\0asm\x0d\0\x01\0"):
        if content is not None:
            path.write_bytes(content)
        ended = run_edge({"STANCHION_COMPONENT": str(path)}, "--workers", workers)
        assert ended.returncode == 1
        assert "Traceback" not in ended.stderr
        assert "component" in ended.stderr


@pytest.mark.parametrize("component", [None, ""], ids=["given", "to be built"])
def test_a_cache_that_cannot_be_written_is_named_in_one_line(tmp_path: Path, component: str | None) -> None:
    # A file in the place of the folder: not even root can write below it.
    cache = tmp_path / "cache"
    cache.write_text("")
    given = {} if component is None else {"STANCHION_COMPONENT": component}
    ended = run_edge({"STANCHION_CACHE_DIR": str(cache)} | given)
    assert ended.returncode == 1
    assert len(ended.stderr.splitlines()) == 1
    assert str(cache) in ended.stderr
    assert "STANCHION_CACHE_DIR" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_ends_it_soon_though_streams_are_open(number: signal.Signals, workers: str) -> None:
    origin = EventOrigin()
    with (
        raw_server(origin) as server,
        start_edge({"STANCHION_ORIGIN_URL": server.url, "STANCHION_WORKERS": workers}) as edge,
    ):
        streams = [connect(edge.port) for _ in range(4)]
        for stream in streams:
            stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert read_head(stream) is not None
        # `stop` waits a few seconds only.
        assert edge.stop(number) == 0
        assert "Traceback" not in edge.stderr
        # Broken off, not made to look whole.
        assert b"0\r\n\r\n" not in b"".join(stream.rest() for stream in streams)
        with pytest.raises(ConnectionRefusedError):
            connect(edge.port)


def test_an_answer_in_progress_is_finished_after_the_signal() -> None:
    def slowly(_: Message, stream: Stream) -> None:
        time.sleep(0.7)
        stream.sock.sendall(ok(b"whole"))

    with raw_server(slowly) as server, start_edge({"STANCHION_ORIGIN_URL": server.url}) as edge:
        stream = connect(edge.port)
        stream.sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        wait_until(lambda: len(server.requests) == 1, "the origin to be asked")
        edge.process.send_signal(signal.SIGTERM)
        assert stream.rest().endswith(b"whole")
        assert edge.stop() == 0


def children(pid: int) -> list[int]:
    """The processes that this one has started."""
    told = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in told.split()]


def test_workers_share_the_port_and_a_dead_one_is_replaced() -> None:
    with start_edge({"STANCHION_WORKERS": "2"}) as edge:
        before = children(edge.process.pid)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        died = edge.wait_for_line("edge.worker_died")
        assert died["exit_code"] == -signal.SIGKILL
        # Nobody is turned away meanwhile, and the new one comes.
        for _ in range(20):
            assert get(edge.port, "/", script("echo"), "Connection: close").status == 200
        wait_until(lambda: len(edge.events("edge.ready")) == 3, "the new worker", 20)
        assert len(children(edge.process.pid)) == 2


def test_workers_end_when_their_parent_is_killed() -> None:
    with start_edge({"STANCHION_WORKERS": "2"}) as edge:
        workers = children(edge.process.pid)
        edge.process.kill()
        edge.process.wait(10)
        wait_until(
            lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), "the workers to end", 20
        )


def test_workers_is_an_option_too() -> None:
    ended = run_edge({}, "--workers", "none")
    assert ended.returncode == 2
    assert ended.stderr.startswith("STANCHION_WORKERS: ")


def test_the_log_is_json_lines_and_tells_counts_at_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    with start_edge({"STANCHION_LOG_REQUESTS": "0", "STANCHION_ORIGIN_URL": url}) as edge:
        told = [script("echo"), script("trap"), script("forward"), "Expect: miracles"]
        assert [get(edge.port, "/", line).status for line in told] == [200, 503, 502, 417]
        assert edge.stop() == 0
        assert edge.events("request") == []
        counts = edge.events("edge.counts")[-1]
        assert counts["answers"] == {
            "forwarded": 0,
            "responded": 1,
            "refused": 1,
            "origin_failed": 1,
            "gate_failed": 1,
            "gone": 0,
        }
        assert counts["store"]["requests"] == counts["store"]["commands"] == 0
        assert counts["gates_replaced"] == 2
        assert SIGNING_KEYS not in str(edge.lines)


def test_a_reader_of_the_log_who_does_not_read_holds_nobody_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = start(
        [sys.executable, "-m", "host.edge"],
        cwd=ROOT,
        env=edge_environ({"STANCHION_EDGE_PORT": str(port)}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: answers(port), "the edge to answer", 60)
        # Far more lines than a pipe holds.
        for _ in range(400):
            assert get(port, "/" + "x" * 400, script("echo")).status == 200
        process.terminate()
        assert process.wait(15) == 0
    finally:
        end(process, signal.SIGKILL)


def answers(port: int) -> bool:
    """Whether something listens on a port."""
    try:
        connect(port).sock.close()
    except ConnectionRefusedError:
        return False
    return True
