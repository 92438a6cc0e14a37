"""`stanchion config`: check a configuration, put it in force, show its schema."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
from jsonschema import Draft202012Validator, ValidationError

from cli.local import environment, local_secrets
from cli.numbering import plain
from cli.redis_rest import send, start_queue
from edge.core.commands import take_snapshot
from edge.core.config import CONFIG, CONFIG_KEY, CONFIG_MAX_BYTES, Config, check_config, json_schema, load_config
from edge.core.errors import ConfigError, StoreBusy
from edge.core.fields import ListOf, MapOf, Obj
from edge.core.json_text import read_json
from edge.core.model import QUEUE_FIELDS, Queue
from edge.core.sealed import seal
from host.kv import KvError, KvFolder
from host.settings import SettingError, load

PROBLEMS_SHOWN = 1000
_VERSION = next(field.kind for field in QUEUE_FIELDS if field.name == "config_version")


@click.group()
def config() -> None:
    """Check a configuration, put it in force, show its schema."""


def _place(parts: Iterable[int | str]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")


def _kind(parts: Iterable[int | str]) -> Any:
    """The core's checker of the value at this place."""
    kind: Any = CONFIG
    for part in parts:
        is_many = isinstance(kind, (ListOf, MapOf))
        kind = kind.item if is_many else next(field.kind for field in kind.fields if field.name == part)
    return kind


def _faults(check: Callable[[Any, str], object], value: Any, path: str) -> list[str]:
    try:
        check(value, path)
    except ConfigError as error:
        return [str(error) if error.path else f"the whole: {error}"]
    return []


def _in_words(error: ValidationError) -> list[str]:
    """What the core says about a fault that the schema found: it knows what is allowed, the schema only what is not."""
    kind, path, value = _kind(error.absolute_path), _place(error.absolute_path), error.instance
    if isinstance(kind, Obj) and isinstance(value, dict):
        known = {field.name for field in kind.fields}
        unknown = [{name: value[name]} for name in value if name not in known]
        missing = [Obj((field,), dict) for field in kind.fields if field.required and field.name not in value]
        found = [_faults(kind.check, part, path) for part in unknown] + [_faults(part.check, {}, path) for part in missing]
        return [fault for faults in found for fault in faults]
    return _faults(kind.check, value, path) or [f"{path or 'the whole'}: {error.message[:200]}"]


def _queue_faults(index: int, entry: Any) -> list[str]:
    """The first thing that is wrong with one queue by itself."""
    try:
        check_config({"queues": [entry]})
    except ConfigError as error:
        return [f"queues[{index}]{str(error).removeprefix('queues[0]')}"]
    return []


def _in_groups(value: Any) -> set[object]:
    """The ids that groups name, as far as these can be read: such a queue means something only with its group."""
    groups = value.get("groups")
    entries = [group for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    lists = [group.get("queues") for group in entries]
    return {member for members in lists if isinstance(members, list) for member in members if isinstance(member, str)}


def _structure(value: Any) -> list[str]:
    """All that the schema finds, in the core's words; and of each queue that it finds good, what does not go together."""
    errors = sorted(Draft202012Validator(json_schema()).iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
    found = [fault for error in errors for fault in _in_words(error)]
    told = {tuple(error.absolute_path)[:2] for error in errors}
    if () not in told and ("queues",) not in told:
        in_groups = _in_groups(value)
        for index, entry in enumerate(value["queues"]):
            is_whole = ("queues", index) not in told and entry["id"] not in in_groups
            found += _queue_faults(index, entry) if is_whole else []
    return list(dict.fromkeys(found))


def problems(text: str | bytes) -> list[str]:
    """What is wrong with a configuration, each as `path: problem`: of every queue at once, or the first between them."""
    found: list[str] = []
    if len(text) <= CONFIG_MAX_BYTES:
        try:
            found = _structure(read_json(text))
        except ConfigError as error:
            return [str(error)]
    if not found:
        try:
            load_config(text if isinstance(text, str) else text.decode("utf-8"))
        except ConfigError as error:
            found = [str(error)]
    return found


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
    """Say whether FILE is a configuration; every fault with its place and what is allowed."""
    _, checked = _read(file)
    click.echo(f"{file}: good, {len(checked.queues)} queues")


@config.command()
def schema() -> None:
    """Print the JSON Schema of the configuration."""
    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))


def _scopes(value: Any, config: Config) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each scope with the entry that numbers it and where that stands: a group, or a queue without one."""
    for index, (entry, queue) in enumerate(zip(value["queues"], config.queues, strict=True)):
        if not queue.group:
            yield queue.id, entry, f"queues[{index}]"
    for index, entry in enumerate(value.get("groups", ())):
        yield entry["id"], entry, f"groups[{index}]"


def _numbered(text: str, before: Config, in_state: Callable[[str], int]) -> tuple[str, list[str]]:
    """The configuration with a higher version on each queue or group that changed, and the ids of those.

    `in_state` gives the version that a scope's state has in Redis, 0 without a state. The state takes only what is newer than
    its own, and may be ahead of the folder: of a queue that was removed and comes back, or when the folder was emptied.
    """
    value, after, changed = read_json(text), load_config(text), []
    for scope, entry, path in _scopes(value, after):
        old, new, state_version = before.scope(scope), after.scope(scope), in_state(scope)
        if old and plain(old) == plain(new) and state_version <= old[0].config_version:
            entry["config_version"] = old[0].config_version
            continue
        above = max(state_version, old[0].config_version if old else 0) + 1
        entry["config_version"] = _VERSION.check(max(above, new[0].config_version), f"{path}.config_version")
        changed.append(scope)
    return seal(value), changed


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

    before = _in_force(store)
    numbered, changed = _numbered(text, before, in_state)
    after = load_config(numbered)
    for scope in dict.fromkeys(queue.scope for queue in after.queues):
        if not before.scope(scope):
            _start(after.scope(scope)[0], environ)
    store.put(CONFIG_KEY, numbered)
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
