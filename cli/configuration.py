"""`stanchion config`: check a configuration, put it in force, show its schema."""

from __future__ import annotations

import json
import os
import secrets
import sys
from pathlib import Path

import click

from admin.configure.faults import faults_of_text
from admin.configure.numbering import numbered
from admin.configure.warn import warnings
from cli.local import environment, local_secrets
from cli.redis_rest import send, start_queue
from edge.core.commands import take_snapshot
from edge.core.config import CONFIG_KEY, Config, json_schema, load_config
from edge.core.errors import ConfigError, StoreBusy
from edge.core.json_text import read_json
from edge.core.model import Queue
from edge.core.sealed import seal
from host.kv import KvError, KvFolder
from host.settings import SettingError, load

PROBLEMS_SHOWN = 1000


@click.group()
def config() -> None:
    """Check a configuration, put it in force, show its schema."""


def problems(text: str | bytes) -> list[str]:
    """What is wrong with a configuration, each as `path: problem`: of every queue at once, or the first between them."""
    return [fault.words for fault in faults_of_text(text)]


def _read(file: Path) -> tuple[str, Config]:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise click.ClickException(f"{file}: {error.strerror or error}") from error
    wrong = problems(data)
    for problem in wrong[:PROBLEMS_SHOWN]:
        click.echo(f"{file}: {problem}", err=True)
    if len(wrong) > PROBLEMS_SHOWN:
        click.echo(f"{file}: and {len(wrong) - PROBLEMS_SHOWN} more", err=True)
    if wrong:
        sys.exit(1)
    text = data.decode("utf-8")
    return text, load_config(text)


@config.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Say whether FILE is a configuration; every fault with its place and what is allowed, and what may be held by mistake."""
    _, checked = _read(file)
    click.echo(f"{file}: good, {len(checked.queues)} queues")
    _warn(checked)


def _warn(checked: Config) -> None:
    """Says what may be held by mistake. Nothing is refused for it."""
    found = warnings(checked)
    for warning in found[:PROBLEMS_SHOWN]:
        click.echo(f"warning: {warning.words}", err=True)
    if len(found) > PROBLEMS_SHOWN:
        click.echo(f"warning: and {len(found) - PROBLEMS_SHOWN} more", err=True)


@config.command()
def schema() -> None:
    """Print the JSON Schema of the configuration."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def _removed(before: Config, after: Config) -> list[str]:
    """A sentence for each queue that is no longer there, with the addresses that lose their guard."""
    guarded = {(route.host, route.path) for queue in after.queues for route in queue.routes}
    out = []
    for queue in before.queues:
        if after.queue(queue.id) is None:
            lost = [route.host + route.path for route in queue.routes if (route.host, route.path) not in guarded]
            what = f"these addresses are no longer guarded by it: {', '.join(lost)}"
            out.append(f"removed: {queue.id}; {what if lost else 'other queues have its addresses'}")
    return out


def _moved(before: Config, after: Config) -> list[str]:
    """A sentence for each queue that entered or left a group: those who waited there do not come along."""
    pairs = [(old, after.queue(old.id)) for old in before.queues]
    return [f"reset: {old.id} is in another line now ({new.scope}, before {old.scope}); who waited or was inside begins anew"
            for old, new in pairs if new is not None and new.scope != old.scope]  # fmt: skip


def _in_force(store: KvFolder) -> Config:
    current = store.get(CONFIG_KEY)
    try:
        return Config(()) if current is None else load_config(current)
    except ConfigError as error:
        where = store.root / CONFIG_KEY
        raise click.ClickException(f"{where}, which is to be replaced, is broken: {error}; mend it or remove it first") from error


def _start(queue: Queue, environ: dict[str, str]) -> None:
    verdict, what = start_queue(queue, environ, new=True), f"group {queue.group}" if queue.group else f"queue {queue.id}"
    if verdict not in ("created", "taken"):
        raise click.ClickException(f"{what}: its state in Redis did not take the configuration ({verdict}): something "
                                   "else published a newer one at this moment; apply again")  # fmt: skip
    click.echo(f"{what}: {verdict}" + (" by the state that it had before" if verdict == "taken" else ""))


def _put_in_force(text: str, store: KvFolder, environ: dict[str, str]) -> tuple[Config, Config, list[str]]:
    """The configuration before and after, and the ids of the queues and groups that changed."""

    def in_state(scope: str) -> int:
        snapshot = send(take_snapshot(scope, secrets.token_hex(16)), environ).snapshot
        return snapshot.config_version if snapshot else 0

    read, before = store.get(CONFIG_KEY), _in_force(store)
    value, changed = numbered(read_json(text), before, in_state)
    final = seal(value)
    after = load_config(final)
    for scope in dict.fromkeys(queue.scope for queue in after.queues):
        if not before.scope(scope):
            _start(after.scope(scope)[0], environ)
    if store.get(CONFIG_KEY) != read:
        what = "something else published while Redis was asked, the console perhaps"
        raise click.ClickException(f"{what}: nothing was changed; look at it, and apply again")
    store.put(CONFIG_KEY, final)
    return before, after, changed


@config.command()
@click.argument("file", type=click.Path(path_type=Path))
def apply(file: Path) -> None:
    """Check FILE, put it into the KV folder, and begin the queues that are new.

    Queues and groups that changed get a higher config_version. What is refused changes nothing: the last good one stays in force.
    """
    text, _ = _read(file)
    try:
        settings = load(os.environ)
        environ = environment(settings, os.environ, local_secrets())
        before, after, changed = _put_in_force(text, KvFolder(Path(settings["STANCHION_KV_DIR"])), environ)
    except (SettingError, KvError, ConfigError, StoreBusy, OSError) as error:
        raise click.ClickException(str(error)) from error
    removed = [*_removed(before, after), *_moved(before, after)]
    for sentence in removed:
        click.echo(sentence)
    if changed:
        click.echo(f"in force: {', '.join(changed)} changed")
    elif not removed:
        click.echo("nothing changed")
