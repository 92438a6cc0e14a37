"""`python -m host.edge [--workers N]`: the local edge, with its settings out of the environment.

Exit codes: 0 after a signal, 1 when the component cannot be built or started, 2 for a wrong setting or a
taken port.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys

import uvloop

from host.component.build import BuildError
from host.component.engine import ComponentError
from host.edge.log import JsonLog
from host.edge.serve import BACKLOG, REQUIRED, Edge, serve, start_engine, url_of
from host.edge.workers import run_workers
from host.geo import GeoError
from host.settings import SettingError, Settings, load

EXIT_FAILED = 1
EXIT_MISUSED = 2


class PortTaken(Exception):
    """The address cannot be listened on."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the edge until a signal; answers the exit code."""
    options = _options(arguments)
    log = JsonLog()
    try:
        environ = dict(os.environ)
        if options.workers is not None:
            environ["STANCHION_WORKERS"] = str(options.workers)
        settings = load(environ, REQUIRED)
        if options.worker_fds:
            return _work(settings, log, *(socket.socket(fileno=fd) for fd in options.worker_fds))
        with listen(settings) as listener:
            return _run(settings, log, listener)
    except (SettingError, PortTaken) as error:
        print(error, file=sys.stderr)
        return EXIT_MISUSED
    except (BuildError, ComponentError, GeoError) as error:
        print(error, file=sys.stderr)
        return EXIT_FAILED
    finally:
        log.close()


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m host.edge", description="The local edge of Stanchion.")
    parser.add_argument("--workers", help="number of processes on the port (STANCHION_WORKERS)")
    parser.add_argument("--worker-fds", type=_fds, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _fds(text: str) -> tuple[int, int]:
    listener, parent = text.split(",")
    return int(listener), int(parent)


def listen(settings: Settings) -> socket.socket:
    """The listening socket. Raises PortTaken with a sentence that names the setting."""
    host, port = settings["STANCHION_BIND"], settings.number("STANCHION_EDGE_PORT")
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        told = f"cannot listen on {host} port {port}: {error.strerror}"
        raise PortTaken(f"{told}; choose another STANCHION_EDGE_PORT or STANCHION_BIND") from error
    listener.listen(BACKLOG)
    return listener


def _run(settings: Settings, log: JsonLog, listener: socket.socket) -> int:
    count = settings.number("STANCHION_WORKERS")
    engine = start_engine(settings)
    edge = Edge(settings, engine, log)
    if count == 1:
        uvloop.run(serve(edge, listener, log, None))
        engine.close()
        return 0
    # This process has shown that everything starts and has filled the cache; the workers do the work.
    engine.close()
    del edge, engine
    log.event("edge.listening", {"url": url_of(listener), "workers": count})
    return run_workers(count, listener, log)


def _work(settings: Settings, log: JsonLog, listener: socket.socket, parent: socket.socket) -> int:
    engine = start_engine(settings)
    uvloop.run(serve(Edge(settings, engine, log), listener, log, parent))
    engine.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
