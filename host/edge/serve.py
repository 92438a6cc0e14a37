"""One edge process: the parts put together and served on a listening socket until a signal comes."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from host.component.build import build_gatekeeper
from host.component.engine import GateEngine
from host.component.instance import Gate, Imports
from host.edge.app import EdgeApp
from host.edge.background import Background
from host.edge.decider import Decider
from host.edge.log import JsonLog
from host.edge.origin import Origin
from host.edge.protocol import EdgeProtocol
from host.edge.proxy import Proxy
from host.edge.redis_rest import RedisRest
from host.edge.store import Store
from host.edge.visitor import Trust
from host.geo import CountryDatabase
from host.kv import KvFolder
from host.settings import Settings

REQUIRED = ("STANCHION_SIGNING_KEYS", "UPSTASH_REDIS_REST_TOKEN")
# What the guest may read of the deployment; everything else stays on this side.
GUEST_SETTINGS = ("STANCHION_ON_CONFIG_ERROR",)
LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")
KEEPALIVE_S = 60
# How long answers in progress may go on after the signal; event streams would go on for ever.
GRACE_S = 3
COUNTS_EVERY_S = 10.0
BACKLOG = 2_048


def component_path(settings: Settings) -> Path:
    """The prebuilt component, or one built now. Raises BuildError."""
    given = settings["STANCHION_COMPONENT"]
    return Path(given) if given else build_gatekeeper(Path(settings["STANCHION_CACHE_DIR"]))


def start_engine(settings: Settings) -> GateEngine:
    """The engine with the compiled component. Raises BuildError and ComponentError."""
    return GateEngine(component_path(settings), Path(settings["STANCHION_CACHE_DIR"]))


def guest_settings(settings: Settings) -> dict[str, str]:
    """What `settings.get` answers from. The Redis flavour decides on the first line of the scripts."""
    told = {name: settings[name] for name in GUEST_SETTINGS}
    local = urlsplit(settings.redis_rest_url).hostname in LOOPBACK_HOSTS
    told["STANCHION_REDIS_FLAVOUR"] = settings["STANCHION_REDIS_FLAVOUR"] or ("redis" if local else "upstash")
    return told


def lane_secrets(settings: Settings) -> dict[str, str]:
    """The secrets `lane:<queue id>` that the environment holds as `id=secret` pairs."""
    pairs = (pair.partition("=") for pair in settings["STANCHION_LANE_SECRETS"].split())
    return {f"lane:{queue_id}": secret for queue_id, _, secret in pairs}


class Edge:
    """The parts of one process. Raises ComponentError and GeoError."""

    def __init__(self, settings: Settings, engine: GateEngine, log: JsonLog) -> None:
        self._engine = engine
        self._log = log
        kv = KvFolder(Path(settings["STANCHION_KV_DIR"]))
        mmdb = settings["STANCHION_MMDB"]
        self._geo = CountryDatabase(Path(mmdb)) if mmdb else None
        secrets = {"signing-keys": settings["STANCHION_SIGNING_KEYS"], **lane_secrets(settings)}
        self.gate = Gate(engine, Imports(kv, guest_settings(settings), secrets, log.line))
        self.store = Store(
            RedisRest(settings.redis_rest_url, settings["UPSTASH_REDIS_REST_TOKEN"]), log.limited
        )
        self._background = Background(self.store, log.limited)
        decider = Decider(self.gate, self.store, self._background, kv, log.limited)
        self._origin = Origin(settings.origin_url)
        proxy = Proxy(self._origin, decider, settings["STANCHION_ORIGIN_HOST"] == "visitor", log.limited)
        trust = Trust(
            settings.networks("STANCHION_TRUSTED_PROXIES"),
            settings["STANCHION_COUNTRY_HEADER"],
            settings.flag("STANCHION_COUNTRY_TRUST_ALL"),
            self._geo.country if self._geo else None,
        )
        self.app = EdgeApp(decider, proxy, trust, log, settings.flag("STANCHION_LOG_REQUESTS"), self.stop)

    async def stop(self) -> None:
        """Delivers what is under way and closes everything."""
        await self._background.close()
        self.log_counts()
        await self.store.close()
        await self._origin.close()
        if self._geo:
            self._geo.close()

    def log_counts(self) -> None:
        """One line with what became of the requests and what was sent to the store."""
        self._log.event("edge.counts", self.counts())

    def counts(self) -> dict[str, object]:
        """All that is counted since the process started."""
        store, replaced = self.store.counts.as_fields(), self.gate.replaced
        return {"answers": asdict(self.app.counts), "store": store, "gates_replaced": replaced}


class EdgeServer(uvicorn.Server):
    """uvicorn's server that ends by returning, with exit code 0, instead of by raising the signal again."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Takes the signals by way of the event loop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.end)
        yield

    def end(self) -> None:
        """Asks the server to stop: no new connections, and GRACE_S for the old ones."""
        self.should_exit = True


async def serve(edge: Edge, listener: socket.socket, log: JsonLog, parent: socket.socket | None) -> None:
    """Serves until a signal comes, or until the other end of `parent` is closed."""
    config = uvicorn.Config(
        edge.app,
        http=EdgeProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEPALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
        backlog=BACKLOG,
    )
    server = EdgeServer(config)
    # What was loaded so far stays: the collector need not look at it again with every few hundred requests.
    gc.collect()
    gc.freeze()
    loop = asyncio.get_running_loop()
    if parent is not None:
        loop.add_reader(parent, server.end)
    counts = loop.create_task(_log_counts(edge))
    ready = loop.create_task(_tell_ready(server, listener, log))
    try:
        await server.serve(sockets=[listener])
    finally:
        counts.cancel()
        ready.cancel()


async def _log_counts(edge: Edge) -> None:
    before: dict[str, object] = {}
    while True:
        await asyncio.sleep(COUNTS_EVERY_S)
        now = edge.counts()
        if now != before:
            edge.log_counts()
            before = now


async def _tell_ready(server: EdgeServer, listener: socket.socket, log: JsonLog) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    log.event("edge.ready", {"url": url_of(listener)})


def url_of(listener: socket.socket) -> str:
    """The address that a listening socket answers at."""
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
