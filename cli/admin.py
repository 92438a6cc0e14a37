"""`stanchion admin`: what the admin app looks after, from the command line: export and import of everything as one file."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from admin.app import open_database
from admin.configuration import ConfigurationSource
from admin.configure.keeper import Keeper
from admin.configure.service import Configurator, Faulty, Stale
from admin.kv import FolderKv
from admin.settings import SettingsError
from admin.settings import load as load_admin
from admin.state import audit
from admin.state.db import Database, StateError, StateUnavailable
from admin.store import Store, StoreUnavailable
from admin.transfer.bundle import PARTS, BadBundle, Bundle, read_bundle
from admin.transfer.gather import Stores, export
from admin.transfer.plan import Plan, plan
from admin.transfer.restore import restore
from cli.local import environment, local_secrets
from host.settings import SettingError, load

T = TypeVar("T")


@click.group()
def admin() -> None:
    """Take out and put back all that the admin app looks after."""


def _name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user where it runs
        return "command line"


def _run(work: Callable[[Stores], Awaitable[T]]) -> T:
    """Runs `work` on the stores that the environment names. Fails with a sentence."""
    try:
        settings = load_admin(environment(load(os.environ), os.environ, local_secrets()))
        db = open_database(settings)
    except (SettingError, SettingsError, StateError, OSError) as error:
        raise click.ClickException(str(error)) from error

    async def with_stores() -> T:
        store, kv = Store(settings.redis_url, settings.redis_token, settings.redis_flavour), FolderKv(settings.kv_dir)
        source = ConfigurationSource(kv, time.monotonic)
        try:
            return await work(Stores(kv, db, Configurator(kv, store, source), Keeper(kv, db, time.time)))
        finally:
            await store.close()
            db.close()

    try:
        return asyncio.run(with_stores())
    except (StoreUnavailable, StateUnavailable, Stale, Faulty) as error:
        raise click.ClickException(str(error)) from error


@admin.command(name="export")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only this part; may be repeated. Default: all.")
def export_file(file: Path, parts: tuple[str, ...]) -> None:
    """Write configuration, crawlers, published pages, drafts, people without secrets, and schedule into FILE."""
    bundle = _run(lambda stores: export(stores, int(time.time() * 1000), parts or PARTS))
    draft = file.with_name(f".{file.name}.new")
    try:
        draft.write_text(json.dumps(bundle.public(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        draft.replace(file)
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from error
    click.echo(f"{file}: {', '.join(name for name in PARTS if getattr(bundle, name) is not None)}")


def _read(file: Path) -> Bundle:
    try:
        return read_bundle(file.read_bytes())
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from error
    except BadBundle as error:
        raise click.ClickException(f"{file}: {error}") from error


def _told(wanted: Plan, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(wanted.public(), indent=2, ensure_ascii=False))
        return
    for change in wanted.changes:
        click.echo(change.words)
    for line in wanted.lines:
        click.echo(line.words())
    if wanted.is_empty and not wanted.faults:
        click.echo("nothing to do: everything is as the file has it")


@admin.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--yes", is_flag=True, help="Do it. Without it only the plan is shown.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def import_file(file: Path, yes: bool, as_json: bool) -> None:
    """Put FILE back: first what it would change; with --yes all of it, or nothing where anything fails."""
    bundle, now_ms, by = _read(file), int(time.time() * 1000), _name()
    wanted = _run(lambda stores: plan(stores, bundle, now_ms))
    _told(wanted, as_json=as_json)
    for place, problem in wanted.faults:
        click.echo(f"{file}: {place}: {problem}", err=True)
    if wanted.faults:
        raise click.ClickException("nothing was imported: mend the file first")
    if wanted.is_empty:
        return
    if not yes:
        click.echo("nothing is done yet: add --yes to do all of it", err=True)
        return
    _run(lambda stores: restore(stores, bundle, wanted.current.etag, by, now_ms, _recorder(stores.db, by, now_ms)))
    click.echo("imported", err=as_json)


def _recorder(db: Database, by: str, now_ms: int) -> Callable[..., Awaitable[None]]:
    async def record(action: str, target: str, before: Any = None, after: Any = None, note: str = "") -> None:
        entry = audit.Entry(now_ms, by, "owner", "command line", action, target, before, after, note)
        await db.run(lambda session: audit.add(session, entry))

    return record
