"""`stanchion run`: every part on loopback, from nothing to an open demo shop behind the gate."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

import click

from cli.first_pages import FirstPages
from cli.kv.folder import FolderStore
from cli.kv.stores import WithPrefix
from cli.local import Started, environment, local_secrets
from cli.processes import ENDING_SIGNALS, Part, PartFailed, Processes, handle, is_free
from cli.redis_rest import start_queue
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.errors import ConfigError
from host.component.build import BuildError, build_gatekeeper, gatekeeper_is_built
from host.kv import KvError, KvFolder
from host.settings import SettingError, Settings, load

SEED = Path(__file__).resolve().parents[1] / "kv-seed"


@click.command()
@click.option("--workers", type=click.IntRange(1, 64), help="Edge processes on one port (STANCHION_WORKERS).")
def run(workers: int | None) -> None:
    """Start the edge, the admin, Redis over REST and the demo shop on loopback; Ctrl-C stops all.

    Settings come from the environment: docs/settings.md lists them.
    """
    handle(_interrupt, *ENDING_SIGNALS)
    try:
        settings = load(os.environ)
    except SettingError as error:
        raise click.UsageError(str(error)) from error
    made = local_secrets()
    environ = environment(settings, os.environ, made)
    parts = _parts(settings)
    _check_ports(parts, settings)
    config, seeded = _configuration(Path(settings["STANCHION_KV_DIR"]))
    if not settings["STANCHION_COMPONENT"]:
        environ["STANCHION_COMPONENT"] = str(_component(settings))
    processes = Processes(environ)
    brands = {queue.page for queue in config.queues}
    pages = FirstPages(WithPrefix(FolderStore(Path(settings["STANCHION_KV_DIR"]))), brands, click.echo)
    try:
        # Redis first: an edge that meets a queue without state takes it for lost.
        for part in (part for part in parts if part.name == "redis"):
            processes.start(part)
        processes.wait_ready()
        _start_queues(config, settings, environ, seeded=seeded)
        for part in (part for part in parts if part.name != "redis"):
            processes.start(part, ["--workers", str(workers)] if workers and part.name == "edge" else [])
        processes.wait_ready()
        _print_addresses(parts, settings, config)
        pages.start()
        processes.watch()
        click.echo("stopping")
    except PartFailed as failed:
        raise click.ClickException(str(failed)) from failed
    except KeyboardInterrupt:
        click.echo("stopping")
    finally:
        pages.stop()
        processes.stop()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parts(settings: Settings) -> list[Part]:
    bind = settings["STANCHION_BIND"]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bind, bind)
    parts = []
    if not settings["UPSTASH_REDIS_REST_URL"]:
        parts.append(Part("redis", "host.rest", host, int(settings["STANCHION_REDIS_PORT"]), "/.stanchion/rest/health"))
    if not settings["STANCHION_ORIGIN_URL"]:
        parts.append(Part("origin", "host.origin", host, int(settings["STANCHION_ORIGIN_PORT"]), "/"))
    parts.append(Part("edge", "host.edge", host, int(settings["STANCHION_EDGE_PORT"]), "/.stanchion/health"))
    parts.append(Part("admin", "admin", host, int(settings["STANCHION_ADMIN_PORT"]), "/healthz"))
    return parts


def _check_ports(parts: list[Part], settings: Settings) -> None:
    users: dict[int, str] = {}
    for part in parts:
        if (other := users.setdefault(part.port, part.name)) != part.name:
            names = f"STANCHION_{other.upper()}_PORT or STANCHION_{part.name.upper()}_PORT"
            raise click.ClickException(f"{other} and {part.name} cannot both listen on port {part.port}: change {names}")
    for part in parts:
        if not is_free(settings["STANCHION_BIND"], part.port):
            name = f"STANCHION_{part.name.upper()}_PORT"
            raise click.ClickException(f"port {part.port} is taken: stop what uses it, or give {part.name} another with {name}")


def _configuration(folder: Path) -> tuple[Config, bool]:
    try:
        store = KvFolder(folder)
        seeded = store.seed(SEED)
        text = store.get(CONFIG_KEY)
        if text is None:
            raise click.ClickException(f"{folder}/{CONFIG_KEY} is missing; run `stanchion config apply FILE` or empty the folder")
        return load_config(text), bool(seeded)
    except (KvError, ConfigError) as error:
        raise click.ClickException(f"{folder}/{CONFIG_KEY}: {error}") from error


def _component(settings: Settings) -> Path:
    cache_dir = Path(settings["STANCHION_CACHE_DIR"])
    if not gatekeeper_is_built(cache_dir):
        click.echo("building the component (about 10 s the first time)")
    try:
        return build_gatekeeper(cache_dir)
    except BuildError as error:
        raise click.ClickException(str(error)) from error


def _start_queues(config: Config, settings: Settings, environ: Mapping[str, str], *, seeded: bool) -> None:
    """Begins the queues. The embedded Redis is always empty at the start; another one is new only for queues unknown to it."""
    named = settings["STANCHION_REDIS_URL"] or settings["UPSTASH_REDIS_REST_URL"]
    place = hashlib.sha256(named.encode()).hexdigest()[:16] if named else ""
    started = Started()
    known = started.known(place) if place and not seeded else set()
    scopes = {queue.scope for queue in config.queues}
    for scope in sorted(scopes):
        if start_queue(config.scope(scope)[0], environ, new=scope not in known) == "recovering":
            click.echo(f"queue {scope}: Redis has lost its state; it recovers, and admits nobody until old passes are over")
    if place:
        started.add(place, scopes)


def _print_addresses(parts: list[Part], settings: Settings, config: Config) -> None:
    ports = {part.name: part.url.replace("//127.0.0.1:", "//localhost:") for part in parts}
    click.echo(f"\n  edge    {ports['edge']}   the site behind the gate")
    click.echo(f"  admin   {ports['admin']}   queues, limits, pause")
    click.echo(f"  origin  {ports.get('origin', settings['STANCHION_ORIGIN_URL'])}")
    click.echo(f"  redis   {ports.get('redis', settings['UPSTASH_REDIS_REST_URL'])}   Redis over REST")
    for queue in config.queues[:8]:
        click.echo(f"  queue   {queue.id}: {', '.join(route.host.removeprefix('*') + route.path for route in queue.routes[:3])}")
    click.echo("\nCtrl-C stops everything.\n")
    sys.stdout.flush()
