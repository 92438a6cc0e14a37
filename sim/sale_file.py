"""A sale from a TOML file: every key by the table of sim/sale_fields.py, the queues by the check of a configuration."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from edge.core.config import check_config
from edge.core.errors import ConfigError
from edge.core.model import Queue
from sim.sale import Sale
from sim.sale_checks import check_sale
from sim.sale_fields import SALE

SALE_FILE_MAX_BYTES = 1_000_000


def _plain(value: Any) -> Any:
    """TOML has times of its own; the configuration takes them as text, in UTC."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list) else value


def _entries(queues: Sequence[dict[str, Any]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The queues with what a sale need not say: a name, and an address of their own."""
    for index, (queue, name) in enumerate(zip(queues, names, strict=True)):
        yield {"name": name, "routes": [{"host": "*", "path": f"/{index}/*"}]} | queue


def _checked(value: dict[str, Any], places: dict[str, str]) -> tuple[Queue, ...]:
    """The queues of a configuration, its faults named by where they stand in the file of the sale."""
    try:
        return check_config(_plain(value)).queues
    except ConfigError as error:
        place = next((place for place in places if error.path.startswith(place)), "")
        # TOML has no null.
        problem = error.problem.replace("or null for none", "or left out for none").replace("; null: ", "; left out: ")
        raise ConfigError(error.path.replace(place, places.get(place, ""), 1), problem) from error


def _one_queue(queue: dict[str, Any]) -> tuple[Queue, ...]:
    return _checked({"queues": list(_entries([{"id": "sale"} | queue], ["The sale"]))}, {"queues[0]": "queue"})


def _group(group: dict[str, Any], queues: Sequence[dict[str, Any]]) -> tuple[Queue, ...]:
    for index, queue in enumerate(queues):
        if not isinstance(queue.get("id"), str):
            raise ConfigError(f"queues[{index}].id", "is missing: arrivals and quotas name a queue of a group by it")
    if "queues" in group:
        raise ConfigError("group.queues", "leave it out: the queues of the group are the tables [[queues]]")
    ids = [queue["id"] for queue in queues]
    twice = next((index for index, queue_id in enumerate(ids) if queue_id in ids[:index]), None)
    if twice is not None:
        raise ConfigError(f"queues[{twice}].id", f"{ids[twice]!r} is taken by another queue")
    whole = {"id": "sale", "name": "The sale"} | group | {"queues": ids}
    return _checked({"queues": list(_entries(queues, ids)), "groups": [whole]}, {"groups[0]": "group"})


def _queues(values: dict[str, Any]) -> tuple[Queue, ...]:
    queue, group, queues = values["queue"], values["group"], values["queues"]
    if queue is not None and (group is not None or queues):
        raise ConfigError("queue", "stands beside a group: give [queue] alone, or [group] with [[queues]]")
    if queue is not None:
        found, places = _one_queue(queue), ["queue"]
    elif group is None or not queues:
        missing = "queue" if group is None and not queues else "group" if group is None else "queues"
        raise ConfigError(missing, "is missing: give [queue] with keys of a queue, or [group] with two or more [[queues]]")
    else:
        found, places = _group(group, queues), [f"queues[{index}]" for index in range(len(queues))]
    for place, each in zip(places, found, strict=True):
        if each.on_store_error == "admit":
            raise ConfigError(f"{place}.on_store_error", "admissions without Redis are not simulated: leave it at hold")
    return found


def _read_toml(text: str) -> dict[str, Any]:
    if text.startswith("\ufeff"):
        raise ConfigError("", "begins with a byte order mark: save it as UTF-8 without one")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("", f"is not TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError("", "has lists and tables too deep in one another") from error
    except ValueError as error:
        raise ConfigError("", "is not TOML: it has a number of too many digits, or a day that no calendar has") from error


def read_sale(text: str) -> Sale:
    """A sale from TOML. Raises ConfigError with the place of the fault."""
    values = SALE.check(_read_toml(text), "")
    first, *others = _queues(values)
    given = {name: value for name, value in values.items() if name not in ("queue", "group", "queues")}
    sale = Sale(**given, queue=first, others=tuple(others))
    check_sale(sale)
    return sale


def load_sale(path: Path, seed: int | None = None) -> Sale:
    """A sale from a file, with another seed if one is given. Raises ConfigError, also for a file that cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError("", f"cannot be read: {error.strerror or error}") from error
    if len(data) > SALE_FILE_MAX_BYTES:
        raise ConfigError("", f"is larger than {SALE_FILE_MAX_BYTES} bytes")
    try:
        sale = read_sale(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError("", f"is not UTF-8 ({error.reason} at byte {error.start}): save it as UTF-8") from error
    return sale if seed is None else replace(sale, seed=seed)
