"""`python -m host.rest`: runs the door until SIGINT or SIGTERM.

Exit codes: 0 stopped, 2 a setting cannot be used or the port is taken (one line on standard error each). When
it listens it writes one JSON line to standard output: {"event": "listening", "url": ..., "backend": ...}.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from host.rest.app import RestApp, create_app
from host.rest.open import BadRedisUrl, open_backend
from host.rest.settings import DoorSettings, from_environment
from host.settings import SettingError

#: Longer than a client keeps an idle connection in its pool, so that it is not the server that closes first.
KEEP_ALIVE_S = 75
#: How long requests under way may take when the server stops; each is bounded by node.COMMAND_TIMEOUT_S
#: anyway.
STOP_TIMEOUT_S = 5
#: Connections that wait to be accepted.
BACKLOG = 2048


class _Server(uvicorn.Server):
    """uvicorn, which would raise the signal again after a clean stop and so end with its exit code."""

    def __init__(self, config: uvicorn.Config, app: RestApp) -> None:
        super().__init__(config)
        self._app = app

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        previous = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._app.end_streams()
        self.handle_exit(number, frame)


def main() -> int:
    """Runs the server and returns the exit code."""
    try:
        settings = from_environment(os.environ)
        backend = open_backend(settings.redis_url)
    except (SettingError, BadRedisUrl) as error:
        print(error, file=sys.stderr)
        return 2
    listener = _listen(settings)
    if listener is None:
        return 2
    app = create_app(backend, settings.token, settings.read_only_token)
    config = uvicorn.Config(
        app,
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        http="httptools",
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=STOP_TIMEOUT_S,
        backlog=BACKLOG,
    )
    host, port = listener.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    print(json.dumps({"event": "listening", "url": url, "backend": backend.kind}), flush=True)
    _Server(config, app).run(sockets=[listener])
    return 0


def _listen(settings: DoorSettings) -> socket.socket | None:
    """The bound socket; otherwise says why in one line."""
    family = socket.AF_INET6 if ":" in settings.bind else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.bind, settings.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        what = f"cannot listen on {settings.bind}:{settings.port}: {error.strerror or error}"
        print(f"{what}. Set STANCHION_REDIS_PORT or STANCHION_BIND.", file=sys.stderr)
        return None
    return listener


if __name__ == "__main__":
    sys.exit(main())
