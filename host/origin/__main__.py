"""`python -m host.origin`: runs the shop until SIGINT or SIGTERM.

Exit codes: 0 stopped, 2 a setting cannot be used or the port is taken (one line on standard error). When it listens it
writes one JSON line to standard output: {"event": "listening", "url": ...}.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from host.origin.app import create_app
from host.settings import SettingError, Settings, load

#: Longer than a proxy keeps an idle connection in its pool, so that it is not the shop that closes first.
KEEP_ALIVE_S = 75
#: How long answers under way may take when the shop stops; an event feed may be cut off.
STOP_TIMEOUT_S = 2
BACKLOG = 2048


class _Server(uvicorn.Server):
    """uvicorn, which would raise the signal again after a clean stop and so end with its exit code."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM)
        previous = {number: signal.signal(number, self.handle_exit) for number in numbers}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


def main() -> int:
    """Runs the server and returns the exit code."""
    try:
        settings = load(os.environ)
    except SettingError as error:
        print(error, file=sys.stderr)
        return 2
    listener = _listen(settings)
    if listener is None:
        return 2
    config = uvicorn.Config(
        create_app(), http="httptools", ws="none", lifespan="off", access_log=False, log_level="warning",
        proxy_headers=False, timeout_keep_alive=KEEP_ALIVE_S, timeout_graceful_shutdown=STOP_TIMEOUT_S, backlog=BACKLOG,
    )  # fmt: skip
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    print(json.dumps({"event": "listening", "url": url}), flush=True)
    _Server(config).run(sockets=[listener])
    return 0


def _listen(settings: Settings) -> socket.socket | None:
    """The bound socket; otherwise says why in one line."""
    bind, port = settings["STANCHION_BIND"], settings.number("STANCHION_ORIGIN_PORT")
    listener = socket.socket(socket.AF_INET6 if ":" in bind else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((bind, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        what = f"cannot listen on {bind}:{port}: {error.strerror or error}"
        print(f"{what}. Set STANCHION_ORIGIN_PORT or STANCHION_BIND.", file=sys.stderr)
        return None
    return listener


if __name__ == "__main__":
    sys.exit(main())
