"""All that is wrong with a configuration, each fault with its place and in the core's words.

The core stops at the first fault, for it only has to refuse. Whoever writes a configuration wants to see all of them: the JSON
Schema finds every fault of structure, and each queue that is good by structure is checked for what does not go together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from admin.publish.locales import locale_of
from edge.core.config import CONFIG, CONFIG_MAX_BYTES, Config, check_config, json_schema, load_config
from edge.core.errors import ConfigError
from edge.core.fields import ListOf, MapOf, Obj
from edge.core.json_text import read_json

_LINE = re.compile(r"\bline ([0-9]{1,9})\b").search


@dataclass(frozen=True)
class Fault:
    """`path`: where, such as `queues[2].routes[0].path`; empty for the whole. `line`: of the text (from 1), 0 if not known."""

    path: str
    problem: str
    line: int = 0

    @property
    def words(self) -> str:
        """Place and problem as one text."""
        return f"{self.path}: {self.problem}" if self.path else self.problem


def faults_of(value: Any) -> list[Fault]:
    """What is wrong with a parsed configuration; of the combinations between queues the first.

    The core is asked first: it takes a tenth of the time, and mostly there is no fault to look for.
    """
    try:
        return _languages(check_config(value))
    except ConfigError as error:
        return _structure(value) or [Fault(error.path, error.problem)]


def faults_of_text(text: str | bytes) -> list[Fault]:
    """What is wrong with the text of a configuration. The line is known where it is no JSON."""
    found: list[Fault] = []
    if len(text) <= CONFIG_MAX_BYTES:
        try:
            found = _structure(read_json(text))
        except ConfigError as error:
            return [Fault(error.path, error.problem, _line_in(error.problem))]
    if not found:
        try:
            found = _languages(load_config(text if isinstance(text, str) else text.decode("utf-8")))
        except ConfigError as error:
            found = [Fault(error.path, error.problem)]
    return found


def _languages(config: Config) -> list[Fault]:
    """Languages that are none: the core knows how a tag is written, CLDR which there are."""
    found = []
    for index, queue in enumerate(config.queues):
        try:
            locale_of(queue.language)
        except ValueError as error:
            found.append(Fault(f"queues[{index}].language", str(error)))
    return found


def _line_in(problem: str) -> int:
    named = _LINE(problem)
    return int(named[1]) if named else 0


def place(parts: Iterable[int | str]) -> str:
    """A place as people read it: `queues[2].admit_per_minute`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).lstrip(".")


def _kind(parts: Iterable[int | str]) -> Any:
    """The core's checker of the value at this place."""
    kind: Any = CONFIG
    for part in parts:
        is_many = isinstance(kind, (ListOf, MapOf))
        kind = kind.item if is_many else next(field.kind for field in kind.fields if field.name == part)
    return kind


def _faults(check: Callable[[Any, str], object], value: Any, path: str) -> list[Fault]:
    try:
        check(value, path)
    except ConfigError as error:
        return [Fault(error.path or "the whole", error.problem)]
    return []


def _in_words(error: ValidationError) -> list[Fault]:
    """What the core says about a fault that the schema found: it knows what is allowed, the schema only what is not."""
    kind, path, value = _kind(error.absolute_path), place(error.absolute_path), error.instance
    if isinstance(kind, Obj) and isinstance(value, dict):
        known = {field.name for field in kind.fields}
        unknown = [{name: value[name]} for name in value if name not in known]
        missing = [Obj((field,), dict) for field in kind.fields if field.required and field.name not in value]
        found = [_faults(kind.check, part, path) for part in unknown] + [_faults(part.check, {}, path) for part in missing]
        return [fault for faults in found for fault in faults]
    return _faults(kind.check, value, path) or [Fault(path or "the whole", error.message[:200])]


def _queue_faults(index: int, entry: Any) -> list[Fault]:
    """The first thing that is wrong with one queue by itself."""
    try:
        check_config({"queues": [entry]})
    except ConfigError as error:
        return [Fault(f"queues[{index}]{error.path.removeprefix('queues[0]')}", error.problem)]
    return []


def _in_groups(value: Any) -> set[object]:
    """The ids that groups name, as far as these can be read: such a queue means something only with its group."""
    groups = value.get("groups")
    entries = [group for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    lists = [group.get("queues") for group in entries]
    return {member for members in lists if isinstance(members, list) for member in members if isinstance(member, str)}


def _structure(value: Any) -> list[Fault]:
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
