"""`python -m admin` as a program: how it starts, refuses to start, and stops."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.admin.world import ROOT, clean_environment, free_port
from tests.programs import end, start


def run(tmp_path: Path, *arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    folders = {"STANCHION_ADMIN_DIR": str(tmp_path / "admin"), "STANCHION_KV_DIR": str(tmp_path / "kv")}
    base = {"UPSTASH_REDIS_REST_TOKEN": "rest-token", "STANCHION_ADMIN_PORT": "0", **folders, **environment}
    return subprocess.run(
        [sys.executable, "-m", "admin", *arguments], cwd=ROOT, env=clean_environment(**base), input=stdin, timeout=60,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("admin: ")
    for part in parts:
        assert part in done.stderr


def test_without_credentials_it_says_what_to_set(tmp_path: Path) -> None:
    refused(run(tmp_path), "STANCHION_ADMIN_PASSWORD_HASH", "hash-password", "create-owner")


def test_with_a_wrong_setting_it_says_which(tmp_path: Path) -> None:
    refused(run(tmp_path, STANCHION_ADMIN_PORT="x"), "STANCHION_ADMIN_PORT")
    refused(run(tmp_path, UPSTASH_REDIS_REST_TOKEN=""), "UPSTASH_REDIS_REST_TOKEN")
    refused(run(tmp_path, "serve"), "usage")


def test_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused(run(tmp_path, STANCHION_LOCAL="1", STANCHION_ADMIN_PORT=port), port, "taken", "STANCHION_ADMIN_PORT")


def test_hash_password(tmp_path: Path) -> None:
    made = run(tmp_path, "hash-password", stdin="a long password\n")
    assert made.returncode == 0
    assert made.stdout.startswith("$argon2id$")
    refused(run(tmp_path, "hash-password", stdin="short\n"), "12 to 1000")
    refused(run(tmp_path, "hash-password"), "12 to 1000")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_local_run_from_nothing_to_a_clean_stop(tmp_path: Path, number: signal.Signals) -> None:
    port = str(free_port())
    environment = clean_environment(
        STANCHION_LOCAL="1", STANCHION_ADMIN_PORT=port, UPSTASH_REDIS_REST_TOKEN="rest-token",
        UPSTASH_REDIS_REST_URL=f"http://127.0.0.1:{free_port()}",
        STANCHION_ADMIN_DIR=str(tmp_path / "admin"), STANCHION_KV_DIR=str(tmp_path / "kv"),
    )  # fmt: skip
    process = start(
        [sys.executable, "-m", "admin"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        said = [process.stdout.readline() for _ in range(3)]
        assert "API token" in said[0]
        assert said[1] == f"Admin console: http://127.0.0.1:{port}\n"
        link = said[2].split()[-1]
        assert link.startswith(f"http://127.0.0.1:{port}/first/")
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            assert client.get("/healthz").json()["status"] == "ok"
            assert "Make the first owner" in client.get(link).text
            token = said[0].split()[-1]
            assert client.get("/api/v1/queues", headers={"Authorization": f"Bearer {token}"}).status_code == 503
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
        assert (process.returncode, out) == (0, ""), err
        assert "Traceback" not in err
    finally:
        end(process)
