"""`python -m admin`: runs the admin app until SIGINT or SIGTERM. `python -m admin hash-password`: makes a password hash.

Exit codes: 0 stopped, 2 it cannot start (one line on standard error says why and what to do).
"""

from __future__ import annotations

import contextlib
import errno
import getpass
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence

import uvicorn

from admin import credentials, settings
from admin.access.passwords import hash_password
from admin.app import create_app, open_database
from admin.credentials import NoCredentials
from admin.settings import Settings, SettingsError
from admin.state import users
from admin.state.db import StateError, StateUnavailable

CANNOT_START = 2
STOP_TIMEOUT_S = 3
MAX_HEADER_BYTES = 32_768
USAGE = "usage: python -m admin [hash-password]"


class _Server(uvicorn.Server):
    """uvicorn, which would otherwise raise the signal again after a clean stop and end with its exit code."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns the exit code."""
    match list(arguments):
        case []:
            return _serve()
        case ["hash-password"]:
            return _hash_password()
        case ["-h" | "--help"]:
            print(USAGE)
            return 0
        case _:
            return _fail(USAGE)


def _serve() -> int:
    try:
        config = settings.load(os.environ)
        listener = _listen(config)
        db = open_database(config)
        has_people = bool(db.run_now(users.owners))
        known = credentials.load(config, _announce, has_people=has_people)
        app = create_app(config, known, db=db)
    except (SettingsError, NoCredentials, StateError, StateUnavailable) as error:
        return _fail(str(error))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "is taken by another program; set STANCHION_ADMIN_PORT" if taken else f"cannot be used: {error.strerror}"
        return _fail(f"port {config.port} on {config.bind} {why}")
    with listener:
        _announce(f"Admin console: {_url(config, listener)}")
        if not (has_people or known.password_hash):
            code = app.state.desk.doors.first_link()
            _announce(f"Make the first owner, by this link that is good once: {_url(config, listener)}/first/{code}")
        _Server(_uvicorn_config(app)).run(sockets=[listener])
    return 0


def _listen(config: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in config.bind else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((config.bind, config.port))
        # Listening now makes a taken port an error here, not in the middle of the start.
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


def _url(config: Settings, listener: socket.socket) -> str:
    host = f"[{config.bind}]" if ":" in config.bind else config.bind
    return f"http://{host}:{listener.getsockname()[1]}"


def _uvicorn_config(app: object) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # type: ignore[arg-type]
        http="h11",
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="warning",
        server_header=False,
        # The app believes its trusted proxies itself.
        proxy_headers=False,
        timeout_graceful_shutdown=STOP_TIMEOUT_S,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
    )


def _hash_password() -> int:
    try:
        if sys.stdin.isatty():
            password = getpass.getpass("Password: ")
            if password != getpass.getpass("Again: "):
                return _fail("the two passwords differ")
        else:
            password = sys.stdin.readline().rstrip("\r\n")
        made = hash_password(password)
    except ValueError as error:
        return _fail(str(error))
    except (EOFError, KeyboardInterrupt):
        return _fail("no password was given")
    print(made)
    print("Keep it in STANCHION_ADMIN_PASSWORD_HASH, in single quotes.", file=sys.stderr)
    return 0


def _announce(line: str) -> None:
    print(line, flush=True)


def _fail(text: str) -> int:
    print(f"admin: {text}", file=sys.stderr)
    return CANNOT_START


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
