"""`stanchion publish BRAND`: waiting pages from templates, checked, into a store; and the way back."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from admin.publish import PublishError
from admin.publish.service import Outcome, Press, Store, Version, read_source, render_brand, roll_back, versions
from admin.publish.service import publish as put_in_force
from admin.publish.sources import TEMPLATES
from cli.deploy.inputs import InputError
from cli.kv.command import open_store
from cli.kv.folder import FolderStore
from cli.kv.stores import StoreError, WithPrefix
from host.settings import SettingError, load


@click.command()
@click.argument("brand")
@click.option("--language", "languages", multiple=True, help="May be given again; default: the brand's, else all there are.")
@click.option("--templates", type=click.Path(path_type=Path, exists=True, file_okay=False), default=TEMPLATES,
              help="Folder with base/, brands/ and locale/.")  # fmt: skip
@click.option("--to", "target", help="A KV folder, fastly[:NAME] or redis[:HASH]; default: STANCHION_KV_DIR.")
@click.option("--rollback", is_flag=True, help="Put the version before in force again, instead of publishing.")
@click.option("--version", "number", type=click.IntRange(1), help="With --rollback: this version.")
@click.option("--versions", "is_list", is_flag=True, help="List the versions in the store, instead of publishing.")
def publish(brand: str, languages: tuple[str, ...], templates: Path, target: str | None, rollback: bool, number: int | None,
            is_list: bool) -> None:  # fmt: skip
    """Render every state of BRAND, check it, and put it in force. A failed check publishes nothing."""
    _refuse_mixtures(languages, rollback, number, is_list)
    with _store(target) as (store, place):
        if is_list:
            there = versions(store, brand)
            click.echo(f"{brand} in {place}: {len(there)} versions" + "".join(f"\n{_line(each)}" for each in there))
        elif rollback:
            back = roll_back(store, brand, getpass.getuser(), _now_ms(), number)
            _tell(back)
            click.echo(f"{brand} in {place}: version {back.version} is in force again, in {', '.join(back.languages)}")
        else:
            with Press() as press:
                made = render_brand(press, read_source(brand, templates), languages, templates)
            done = put_in_force(store, made, getpass.getuser(), _now_ms())
            _tell(done)
            said = f"{len(made.pages)} pages in {len(made.languages)} languages"
            click.echo(f"{brand} in {place}: version {done.version} is in force, {said}")


def _refuse_mixtures(languages: tuple[str, ...], rollback: bool, number: int | None, is_list: bool) -> None:
    """Raises click.UsageError for options that say nothing together."""
    if rollback and is_list:
        raise click.UsageError("--versions changes nothing and --rollback does: give one of them")
    if (rollback or is_list) and languages:
        raise click.UsageError("--language is for publishing: a version that is there keeps its languages")
    if number is not None and not rollback:
        raise click.UsageError("--version goes with --rollback: a new version gets its number by itself")


@contextmanager
def _store(target: str | None) -> Iterator[tuple[Store, str]]:
    """The store and what people call it; every trouble becomes one line."""
    store = None
    try:
        settings = load(os.environ)
        if target is not None and target.partition(":")[0] in ("fastly", "redis", "folder"):
            store = open_store(target, settings)
        else:
            store = FolderStore(Path(target or settings["STANCHION_KV_DIR"]))
            Path(target or settings["STANCHION_KV_DIR"]).mkdir(parents=True, exist_ok=True)
        yield WithPrefix(store), store.name
    except (PublishError, StoreError, SettingError, InputError, OSError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    finally:
        close = getattr(store, "close", None)
        if close is not None:
            close()


def _tell(outcome: Outcome) -> None:
    for note in outcome.notes:
        click.echo(f"note: {note}", err=True)


def _line(version: Version) -> str:
    at = version.published_at_ms
    when = "at an unknown time" if at is None else f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M UTC}"
    mark = "in force" if version.is_in_force else ""
    by = f" by {version.by}" if version.by else ""
    return f"{version.number:>5}  {mark:<8}  {when}{by}: {version.pages} pages in {', '.join(version.languages)}"


def _now_ms() -> int:
    return int(time.time() * 1000)
