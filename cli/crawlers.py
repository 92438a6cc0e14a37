"""`stanchion crawlers`: the networks by which search crawlers are known, into the KV folder."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from edge.core.crawlers import CRAWLERS_KEY, check_crawlers, load_crawlers, seal
from edge.core.errors import ConfigError
from edge.core.json_text import read_json
from host.kv import KvError, KvFolder
from host.settings import SettingError, load


@click.group()
def crawlers() -> None:
    """The networks by which search crawlers are known (queues with crawlers set to hold or pass)."""


def _store() -> KvFolder:
    try:
        return KvFolder(Path(load(os.environ)["STANCHION_KV_DIR"]))
    except SettingError as error:
        raise click.ClickException(str(error)) from error


def networks_of(value: Any) -> Any:
    """The networks of one crawler: a list as it is, or the prefixes of the object that search engines publish."""
    if not isinstance(value, dict) or not isinstance(value.get("prefixes"), list):
        return value
    return [network for entry in value["prefixes"] if isinstance(entry, dict)
            for key, network in entry.items() if key in ("ipv4Prefix", "ipv6Prefix")]  # fmt: skip


@crawlers.command()
@click.argument("file", type=click.Path(path_type=Path))
def apply(file: Path) -> None:
    """Check FILE and put it in force: a name for each crawler, with its networks or the object that its operator publishes."""
    try:
        value = read_json(file.read_bytes())
        lists = {name: networks_of(member) for name, member in value.items()} if isinstance(value, dict) else value
        found = check_crawlers(lists)
        _store().put(CRAWLERS_KEY, seal(found))
    except ConfigError as error:
        raise click.ClickException(f"{file}: {error}") from error
    except (KvError, OSError) as error:
        raise click.ClickException(str(error)) from error
    counts = (f"{name} {len(lists[name])} networks" for name in found.names)
    click.echo(f"in force: {', '.join(counts) or 'no crawlers'}")


@crawlers.command()
@click.argument("address")
def who(address: str) -> None:
    """Say which crawler ADDRESS belongs to, by the list in force."""
    try:
        ip_address(address)
    except ValueError:
        raise click.BadParameter(f"{address!r} is no IP address, as 192.0.2.7 or 2001:db8::7", param_hint="ADDRESS") from None
    try:
        text = _store().get(CRAWLERS_KEY)
        if text is None:
            raise click.ClickException("no list is in force; put one there with: stanchion crawlers apply FILE")
        name = load_crawlers(text).name_of(address)
    except (ConfigError, KvError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(name or "nobody's")
