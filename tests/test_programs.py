"""What a program started ends with it: when it is stopped, when it fails, when the run is interrupted, and when it is killed."""

from __future__ import annotations

import fcntl
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from host.programs import run
from tests.conformance.host import ROOT, Host, Site
from tests.programs import end, start

WITHIN_S = 10.0
# What is killed takes a moment to be gone; what was left alone sleeps for ten minutes.
GONE_WITHIN_S = 3.0
# The lock is held for as long as the program or what it started lives. The child never ends by itself.
PROGRAM = """
import fcntl, http.server, signal, subprocess, sys, time
path, how = sys.argv[1:3]
held = open(path)
fcntl.flock(held, fcntl.LOCK_SH)
if how == "child":
    print("here", flush=True)
    time.sleep(600)
if how == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-S", sys.argv[0], path, "child"], stdout=subprocess.PIPE)
child.stdout.readline()
print("both", flush=True)
if how == "fails":
    sys.exit(3)
if how.isdigit():
    http.server.BaseHTTPRequestHandler.do_GET = lambda self: self.send_response(200) or self.end_headers()
    http.server.HTTPServer(("127.0.0.1", int(how)), http.server.BaseHTTPRequestHandler).serve_forever()
time.sleep(600)
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """A program that starts another; what it is to do has to be added."""
    (tmp_path / "lock").touch()
    (tmp_path / "program.py").write_text(PROGRAM)
    return [sys.executable, "-S", str(tmp_path / "program.py"), str(tmp_path / "lock")]


def somebody_lives(folder: Path, within_s: float = 0.0) -> bool:
    """Whether the program or its child lives, still after `within_s`."""
    deadline = time.monotonic() + within_s
    with (folder / "lock").open() as held:
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    return True
                time.sleep(0.02)
            else:
                return False


@pytest.mark.parametrize(("how", "code"), [("sleeps", -signal.SIGTERM), ("deaf", -signal.SIGKILL)])
def test_an_end_is_one_for_the_child_too(command: list[str], tmp_path: Path, how: str, code: int) -> None:
    process = start([*command, how], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"both\n"
    assert somebody_lives(tmp_path)
    assert end(process, within_s=0.3 if how == "deaf" else WITHIN_S) == code
    assert not somebody_lives(tmp_path, GONE_WITHIN_S)


def test_the_child_of_a_program_that_has_ended_by_itself_ends(command: list[str], tmp_path: Path) -> None:
    process = start([*command, "fails"])
    assert process.wait(WITHIN_S) == 3
    assert somebody_lives(tmp_path)
    assert end(process) == 3
    assert not somebody_lives(tmp_path, GONE_WITHIN_S)


def test_a_command_that_takes_too_long_ends_with_its_child_who_holds_the_pipe(command: list[str], tmp_path: Path) -> None:
    before = time.monotonic()
    with pytest.raises(subprocess.TimeoutExpired) as late:
        run([*command, "sleeps"], timeout_s=2)
    assert late.value.output == b"both\n", "the child was there"
    assert not somebody_lives(tmp_path, GONE_WITHIN_S)
    assert time.monotonic() - before < WITHIN_S


def test_a_run_that_is_killed_leaves_nobody(command: list[str], tmp_path: Path) -> None:
    """SIGKILL, which no program can answer."""
    words = [*command, "sleeps"]
    text = f"""if True:
        import os, signal, subprocess
        from tests.programs import start
        start({words!r}, stdout=subprocess.PIPE).stdout.readline()
        print("started", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = run([sys.executable, "-c", text], timeout_s=WITHIN_S, cwd=ROOT)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "started\n"), done.stderr
    assert not somebody_lives(tmp_path, WITHIN_S)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, tmp_path / "kv", "", "", "", "")


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_host_under_test_ends_with_what_it_started(command: list[str], site: Site, port: int) -> None:
    host = Host("parent")
    host.run([*command, str(port)], site, {}, port)
    assert somebody_lives(site.folder)
    host.stop()
    assert not somebody_lives(site.folder, GONE_WITHIN_S)
    host.stop()


def test_a_host_that_fails_while_it_starts_leaves_nobody(command: list[str], site: Site, port: int) -> None:
    host = Host("parent")
    with pytest.raises(AssertionError, match=r"parent ended with 3:\nboth"):
        host.run([*command, "fails"], site, {}, port)
    assert not somebody_lives(site.folder, GONE_WITHIN_S)
    assert host.process is None


def test_an_interruption_while_a_host_starts_leaves_nobody(command: list[str], site: Site, port: int,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    host, seen = Host("parent"), []

    def interrupted(healthy: object) -> bool:
        if "both" not in host.log():
            return False
        seen.append(somebody_lives(site.folder))
        raise KeyboardInterrupt

    monkeypatch.setattr(host, "_answers", interrupted)
    with pytest.raises(KeyboardInterrupt):
        host.run([*command, "sleeps"], site, {}, port)
    assert seen == [True]
    assert not somebody_lives(site.folder, GONE_WITHIN_S)


def test_tests_and_measurements_start_programs_in_this_one_way() -> None:
    found = [path.relative_to(ROOT).as_posix() for room in ("tests", "bench") for path in sorted((ROOT / room).rglob("*.py"))
             if re.search(r"\bPopen\(|create_subprocess_", path.read_text("utf-8"))]  # fmt: skip
    assert found == ["tests/programs.py", "tests/test_programs.py"]
