"""`stanchion config`: check a configuration, put it in force, show its schema."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click
from jsonschema import Draft202012Validator

from cli.local import environment, local_secrets
from cli.redis_rest import start_queue
from edge.core.config import CONFIG_KEY, Config, json_schema, load_config
from edge.core.errors import ConfigError
from edge.core.sealed import seal
from host.kv import KvError, KvFolder
from host.settings import SettingError, load

ERRORS_SHOWN = 20


@click.group()
def config() -> None:
    """Check a configuration, put it in force, show its schema."""


def _place(parts: Any) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")


def problems(text: str) -> list[str]:
    """What is wrong with a configuration, each as `path: problem`; all of the schema's at once, then the first of the rest."""
    try:
        value = json.loads(text)
    except ValueError as error:
        return [f"is not JSON: {error}"]
    found = sorted(Draft202012Validator(json_schema()).iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
    if found:
        return [f"{_place(error.absolute_path) or 'the whole'}: {error.message[:200]}" for error in found[:ERRORS_SHOWN]]
    try:
        load_config(text)
    except ConfigError as error:
        return [str(error)]
    return []


def _read(file: Path) -> tuple[str, Config]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{file}: {error}") from error
    wrong = problems(text)
    for problem in wrong:
        click.echo(f"{file}: {problem}", err=True)
    if wrong:
        sys.exit(1)
    return text, load_config(text)


@config.command()
@click.argument("file", type=click.Path(path_type=Path))
def check(file: Path) -> None:
    """Say whether FILE is a configuration; every fault with its place and what is allowed."""
    _, checked = _read(file)
    click.echo(f"{file}: good, {len(checked.queues)} queues")


@config.command()
def schema() -> None:
    """Print the JSON Schema of the configuration."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def _numbered(text: str, before: Config | None) -> tuple[str, list[str]]:
    """The configuration with a higher version on each queue that changed, and the ids of those."""
    value, changed = json.loads(text), []
    for entry, queue in zip(value["queues"], load_config(text).queues, strict=True):
        old = before.queue(queue.id) if before else None
        if old is None:
            changed.append(queue.id)
            continue
        if {**vars(queue), "config_version": 0} == {**vars(old), "config_version": 0}:
            entry["config_version"] = old.config_version
        else:
            entry["config_version"] = max(old.config_version + 1, queue.config_version)
            changed.append(queue.id)
    return seal(value), changed


@config.command()
@click.argument("file", type=click.Path(path_type=Path))
def apply(file: Path) -> None:
    """Check FILE, put it into the KV folder, and begin the queues that are new.

    Queues that changed get a higher config_version. What is refused changes nothing: the last good one stays in force.
    """
    text, _ = _read(file)
    try:
        settings = load(os.environ)
        store = KvFolder(Path(settings["STANCHION_KV_DIR"]))
        current = store.get(CONFIG_KEY)
        before = load_config(current) if current is not None else None
        numbered, changed = _numbered(text, before)
        new_ids = [queue_id for queue_id in changed if before is None or before.queue(queue_id) is None]
        environ = environment(settings, os.environ, local_secrets())
        for queue in load_config(numbered).queues:
            if queue.id in new_ids:
                click.echo(f"queue {queue.id}: {start_queue(queue, environ, new=True)}")
        store.put(CONFIG_KEY, numbered)
    except (SettingError, KvError, ConfigError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"in force: {', '.join(changed)} changed" if changed else "nothing changed")
