"""A run starts, stops, is killed and says in one line why it cannot start."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import httpx
import pytest

from cli.processes import is_free
from tests.e2e.stack import PATIENCE_S, Stack, queue, running

QUEUES = [queue("hold", manual=True)]


def wait_free(stack: Stack) -> None:
    """Returns once every port of the run can be listened on again."""
    ports = [int(stack.environ[f"STANCHION_{name}_PORT"]) for name in ("EDGE", "ADMIN", "REDIS", "ORIGIN")]
    deadline = time.monotonic() + PATIENCE_S
    while taken := [port for port in ports if not is_free("127.0.0.1", port)]:
        assert time.monotonic() < deadline, f"still taken: {taken}\n{stack.log()}"
        time.sleep(0.1)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_killed_run_leaves_no_part_behind(tmp_path: Path, workers: str) -> None:
    with running(tmp_path, [], STANCHION_ORIGIN_URL="", STANCHION_WORKERS=workers) as stack:
        stack.process.kill()
        stack.process.wait(PATIENCE_S)
        wait_free(stack)


def test_a_closed_terminal_stops_the_run_as_ctrl_c_does(tmp_path: Path) -> None:
    with running(tmp_path, [], STANCHION_ORIGIN_URL="") as stack:
        stack.process.send_signal(signal.SIGHUP)
        assert stack.process.wait(PATIENCE_S) == 0, stack.log()
        wait_free(stack)


def test_a_run_on_the_loopback_of_ip_version_6(tmp_path: Path) -> None:
    with running(tmp_path, [], STANCHION_ORIGIN_URL="", STANCHION_BIND="::1") as stack:
        edge = f"http://[::1]:{stack.environ['STANCHION_EDGE_PORT']}"
        assert edge in stack.log()
        assert httpx.get(f"{edge}/").status_code == 200


def test_what_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    with running(tmp_path, QUEUES) as stack:
        pass
    cache = tmp_path / "cache"
    cache.write_text("")
    stack.environ["STANCHION_CACHE_DIR"] = str(cache)
    unwritable = stack.command("run")
    assert unwritable.returncode == 1
    assert unwritable.stderr.startswith(f"Error: cannot write to the cache folder {cache}")
    assert len(unwritable.stderr.splitlines()) == 1
    stack.environ["STANCHION_ADMIN_PORT"] = stack.environ["STANCHION_EDGE_PORT"]
    doubled = stack.command("run")
    assert doubled.returncode == 1
    assert "STANCHION_EDGE_PORT or STANCHION_ADMIN_PORT" in doubled.stderr
    assert len(doubled.stderr.splitlines()) == 1
    assert "building" not in doubled.stdout


def test_a_start_from_nothing_and_a_second_start(tmp_path: Path) -> None:
    """The embedded Redis, the seed of the store, and a clean stop, twice."""
    for start in range(2):
        with running(tmp_path, []) as stack:
            assert start == 0 or "building the component" not in stack.log(), "it is built already"
            assert stack.visitor().get("/drop/").status_code == 503
            assert stack.visitor(**{"X-Country": "JP"}).get("/concert/").status_code == 200
        assert stack.process.returncode == 0, stack.log()
        assert "Traceback" not in stack.log()


def test_a_taken_port_is_a_clear_message(tmp_path: Path) -> None:
    with running(tmp_path, []) as stack:
        second = stack.command("run")
        assert second.returncode == 1
        assert "is taken" in second.stderr
        assert "STANCHION_" in second.stderr


def test_the_last_good_configuration_stays_and_a_bad_one_does_not_start(tmp_path: Path) -> None:
    with running(tmp_path, QUEUES) as stack:
        assert stack.visitor().get("/hold/").status_code == 503
        (tmp_path / "kv" / "config.json").write_text('{"queues": [{"id": "Not An Id"}]}')
        time.sleep(1)
        assert stack.visitor().get("/hold/").status_code == 503
    refused = stack.command("run")
    assert refused.returncode == 1
    assert "queues[0].id" in refused.stderr


def test_an_interrupt_stops_a_run_in_the_background_too(tmp_path: Path) -> None:
    """A shell that starts a command in the background lets it ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with running(tmp_path, QUEUES) as stack:
            assert stack.visitor().get("/hold/").status_code == 503
        assert stack.process.returncode == 0, stack.log()
    finally:
        signal.signal(signal.SIGINT, before)
