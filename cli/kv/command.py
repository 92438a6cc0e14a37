"""`stanchion kv push | pull | diff`: configuration and pages between the folder and another store.

Exit codes are diff's: 0 no difference (or all is done), 1 there are differences (`diff`, `--dry-run`), 2 trouble.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cli.deploy.api import Api
from cli.deploy.hourly import more_than_an_hour
from cli.deploy.inputs import InputError, check_endpoint
from cli.deploy.secrets import newly_asking
from cli.kv.compare import Change, changes, not_in_force, summary
from cli.kv.fastly_kv import FastlyStore
from cli.kv.folder import FolderStore
from cli.kv.page_checks import check_value
from cli.kv.redis_kv import DEFAULT_HASH, RedisStore
from cli.kv.stores import Store, StoreError
from cli.numbering import unnumbered, warning
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.errors import ConfigError
from host.settings import SettingError, Settings, load

DEFAULT_FASTLY_STORE = "stanchion-kv"


class Trouble(click.ClickException):
    """Something that diff would end with 2 for."""

    exit_code = 2


def open_store(name: str, settings: Settings) -> Store:
    """The store of `fastly[:NAME]`, `redis[:HASH]` or `folder:PATH`. Raises StoreError, SettingError, click.UsageError."""
    kind, _, place = name.partition(":")
    if kind == "folder" and place:
        return FolderStore(Path(place))
    if kind == "fastly":
        token = settings.needed("FASTLY_API_TOKEN")
        check_endpoint(settings["FASTLY_API_ENDPOINT"])
        return FastlyStore(Api(token, settings["FASTLY_API_ENDPOINT"]), place or DEFAULT_FASTLY_STORE)
    if kind == "redis":
        url, token = settings.needed("UPSTASH_REDIS_REST_URL"), settings.needed("UPSTASH_REDIS_REST_TOKEN")
        return RedisStore(url, token, place or DEFAULT_HASH)
    raise click.UsageError(f"{name!r} is no store: give fastly, fastly:NAME, redis, redis:HASH or folder:PATH")


@contextmanager
def _stores(name: str, folder: Path | None) -> Iterator[tuple[FolderStore, Store]]:
    """The folder and the other store; every trouble with them ends in exit code 2."""
    other: Store | None = None
    try:
        settings = load(os.environ)
        other = open_store(name, settings)
        yield FolderStore(folder or Path(settings["STANCHION_KV_DIR"])), other
    except (StoreError, SettingError, InputError) as error:
        raise Trouble(str(error)) from error
    finally:
        close = getattr(other, "close", None)
        if close is not None:
            close()


def _with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for decorate in (
        click.option("--dry-run", is_flag=True, help="Say what would be done; exit code 1 when there is something to do."),
        click.option("--delete", is_flag=True, help="Remove what only the target has."),
        click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="KV folder (STANCHION_KV_DIR)."),
        click.argument("store"),
    ):
        command = decorate(command)
    return command


@click.group()
def kv() -> None:
    """Configuration and pages between the KV folder and STORE: fastly[:NAME], redis[:HASH] or folder:PATH."""


_ALL_VERSIONS = click.option("--all-versions", is_flag=True, help="For Fastly: pages that are not in force, too.")


@kv.command()
@_with_options
@_ALL_VERSIONS
def push(store: str, folder: Path | None, delete: bool, dry_run: bool, all_versions: bool) -> None:
    """Bring what the folder has to STORE. The configuration goes last, and only a good one goes.

    To Fastly go the pages in force, as with `stanchion deploy fastly`: each page is a change, and 1,000 an hour are taken.
    """
    with _stores(store, folder) as (ours, other):
        ours.refuse_links_out()
        _bring(ours, other, delete=delete, dry_run=dry_run, left_out=_left_out(ours, other, all_versions))


@kv.command()
@_with_options
def pull(store: str, folder: Path | None, delete: bool, dry_run: bool) -> None:
    """Bring what STORE has into the folder."""
    with _stores(store, folder) as (ours, other):
        _bring(other, ours, delete=delete, dry_run=dry_run)


@kv.command()
@click.argument("store")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="KV folder (STANCHION_KV_DIR).")
@click.option("--unified", "-u", is_flag=True, help="Show the lines that differ.")
@_ALL_VERSIONS
def diff(store: str, folder: Path | None, unified: bool, all_versions: bool) -> None:
    """Say how STORE differs from the folder: + only in the folder, - only in STORE, ~ not the same."""
    with _stores(store, folder) as (ours, other):
        found = changes(ours, other, _left_out(ours, other, all_versions))
        for change in found:
            for line in change.unified() if unified else (change.line(),):
                click.echo(line)
        click.echo(f"{ours.name} and {other.name}: {summary(found)}", err=unified)
    sys.exit(1 if found else 0)


def _left_out(ours: Store, other: Store, all_versions: bool) -> set[str]:
    """Pages of the folder that Fastly does not need. Raises StoreError, InputError."""
    return not_in_force(ours, other) if isinstance(other, FastlyStore) and not all_versions else set()


def _bring(source: Store, target: Store, *, delete: bool, dry_run: bool, left_out: Collection[str] = ()) -> None:
    found = changes(source, target, left_out)
    extra = [change for change in found if change.new is None]
    wanted = [change for change in found if change.new is not None] + (extra if delete else [])
    if delete and any(change.key == CONFIG_KEY for change in extra):
        raise StoreError(f"{source.name} has no {CONFIG_KEY}: bringing it would leave {target.name} without a configuration")
    for line in check(wanted, target):
        click.echo(line)
    if isinstance(target, FastlyStore):
        _say_how_many(wanted, left_out)
    for change in wanted if dry_run else ():
        click.echo(change.line())
    if not dry_run:
        _write(wanted, target)
    _report(source, target, wanted, [] if delete else extra, dry_run=dry_run)
    sys.exit(1 if dry_run and wanted else 0)


def _say_how_many(wanted: list[Change], left_out: Collection[str]) -> None:
    if left_out:
        why = "of versions that are not in force or brands that no queue shows (--all-versions)"
        click.echo(f"not compared: {len(left_out):,} pages {why}")
    click.echo(f"changes to make: {len(wanted):,}")
    if note := more_than_an_hour(len(wanted)):
        click.echo(note)


def check(wanted: list[Change], target: Store) -> list[str]:
    """What to say before it is written. Raises StoreError for what the target cannot hold or no edge could use."""
    notes = []
    for change in wanted:
        if change.new is not None:
            target.limits.check(change.key, change.new, target.name)
            check_value(change.key, change.new)
        if change.key == CONFIG_KEY and change.new is not None:
            try:
                after = load_config(change.new)
            except ConfigError as error:
                raise StoreError(f"{CONFIG_KEY} is broken and was not brought: {error}") from error
            notes = _notes(change.old, after, target)
    return notes


def _notes(old: str | None, after: Config, target: Store) -> list[str]:
    try:
        before = Config(()) if old is None else load_config(old)
    except ConfigError:
        return []  # a broken one is about to be mended
    scopes = unnumbered(before, after)
    asking = newly_asking(before, after) if isinstance(target, FastlyStore) else ""
    return ([warning(scopes)] if scopes else []) + ([asking] if asking else [])


def _write(wanted: list[Change], target: Store) -> None:
    done: list[Change] = []
    try:
        for change in wanted:
            if change.new is None:
                target.delete(change.key)
            else:
                target.put(change.key, change.new)
            done.append(change)
            click.echo(change.line())
    except StoreError as error:
        raise StoreError(f"{error}\n{len(done)} of {len(wanted)} were written; run the same command again to go on") from error


def _report(source: Store, target: Store, wanted: list[Change], left: list[Change], *, dry_run: bool) -> None:
    verb = "would bring" if dry_run else "brought"
    click.echo(f"{source.name} -> {target.name}: " + (f"{verb} {summary(wanted)}" if wanted else "nothing to do"))
    if left:
        click.echo(f"left alone, because only {target.name} has it: {len(left)} keys (--delete removes them)")
