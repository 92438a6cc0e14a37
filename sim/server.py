"""A redis-server of our own on loopback: started, killed, started again with what its append-only file holds."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Literal

import redis
from redis.connection import Connection

_START_WITHIN_S = 20.0
_STOP_WITHIN_S = 10.0

Aof = Literal["no", "always", "everysec"]


class ServerError(Exception):
    """The server cannot be had; the message says what to do."""


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def connect(port: int) -> Any:
    """A connection that answers in text. Raises redis.RedisError."""
    make: Any = Connection
    connection = make(host="127.0.0.1", port=port, protocol=2, decode_responses=True, socket_timeout=60)
    connection.connect()
    return connection


class Server:
    """One redis-server with its folder; use as a context manager. Raises ServerError when there is none to start."""

    def __init__(self, aof: Aof = "no") -> None:
        program = shutil.which("redis-server")
        if program is None:
            raise ServerError("redis-server is not installed: apt-get install redis-server, or name a server with --redis-url")
        self._program, self.aof, self.port = program, aof, free_port()
        self._folder = tempfile.TemporaryDirectory(prefix="stanchion-sale-")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill(signal.SIGTERM)
        self._folder.cleanup()

    def start(self) -> None:
        """Starts it and waits until it answers."""
        options = {"port": self.port, "bind": "127.0.0.1", "save": "", "dir": self._folder.name, "loglevel": "warning",
                   "appendonly": "no" if self.aof == "no" else "yes", "auto-aof-rewrite-percentage": 0}  # fmt: skip
        if self.aof != "no":
            options["appendfsync"] = self.aof
        words = [self._program, *(str(word) for name, value in options.items() for word in (f"--{name}", value))]
        self._process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._wait()

    def _wait(self) -> None:
        assert self._process is not None
        until = time.monotonic() + _START_WITHIN_S
        while time.monotonic() < until:
            if self._process.poll() is not None:
                raise ServerError(f"redis-server ended at once with code {self._process.returncode}")
            try:
                connection = connect(self.port)
                connection.send_command("PING")
                if connection.read_response() == "PONG":
                    connection.disconnect()
                    return
            except redis.RedisError:
                time.sleep(0.02)
        raise ServerError(f"redis-server did not answer within {_START_WITHIN_S:.0f} s")

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Ends the process that we started, and no other."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(number)
        try:
            self._process.wait(timeout=_STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=_STOP_WITHIN_S)
        self._process = None

    def _aof_file(self) -> Path:
        files = sorted(Path(self._folder.name).glob("appendonlydir/*.incr.aof"))
        if not files:
            raise ServerError("redis-server wrote no append-only file: version 7 or newer is needed")
        return files[-1]

    def aof_bytes(self) -> int:
        """How much is written by now; every answered command is in it."""
        return self._aof_file().stat().st_size

    def cut_aof(self, to_bytes: int) -> None:
        """Cuts the file as a machine that stops with the last second unwritten; only while the server is down."""
        with self._aof_file().open("r+b") as file:
            file.truncate(to_bytes)
