"""The secrets of the service: the gate's own two, and the one of each queue whose site vouches for visitors."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from cli.deploy.inputs import InputError, check_secret
from cli.deploy.package import Package
from edge.core.config import Config
from edge.core.lanes import has_rules
from edge.core.model import Queue
from edge.core.vouching import secret_name
from host.settings import Settings

#: Secret of the guest -> the setting that holds it.
SECRETS = {"signing-keys": "STANCHION_SIGNING_KEYS", "redis-rest-token": "UPSTASH_REDIS_REST_TOKEN"}
LANE_SECRETS = "STANCHION_LANE_SECRETS"
#: The names of secrets that Fastly takes (Secret of its client).
_FASTLY_NAME = re.compile(r"[A-Za-z0-9_.-]{1,255}\Z")


@dataclass(frozen=True)
class Secrets:
    """What the service gets. `unset`: secret -> its queue, where the configuration asks for one and this environment has none.

    `spare`: queues that the environment has a secret for and that ask for none.
    """

    values: Mapping[str, str]
    unset: Mapping[str, str]
    spare: tuple[str, ...]


def asks_for_one(queue: Queue) -> bool:
    """Whether the site vouches for visitors of this queue: for their lane, or for who they are."""
    return queue.visitor_key is not None or has_rules(queue)


def fastly_name(queue: Queue) -> str:
    """The queue's secret as the guest opens it on Fastly, whose names have no colon (edge/guests/on_fastly/surroundings.py)."""
    name = secret_name(queue).replace(":", ".")
    assert _FASTLY_NAME.match(name), name
    return name


def read_secrets(package: Package, settings: Settings, config: Config) -> Secrets:
    """The secrets that the package and the configuration name. Raises InputError for one of the gate's own that is not there."""
    found = {}
    for names in package.setup.secret_stores.values():
        for name in names:
            if name not in SECRETS:
                raise InputError(f"{package.path}: the guest wants a secret {name!r}; this command knows {', '.join(SECRETS)}")
            found[name] = settings[SECRETS[name]]
            check_secret(name, found[name], SECRETS[name])
    pairs = (pair.partition("=") for pair in settings[LANE_SECRETS].split())
    given = {queue_id: value for queue_id, _, value in pairs}
    asking = [queue for queue in config.queues if asks_for_one(queue)]
    if asking and not package.setup.secret_stores:
        raise InputError(f"{package.path}: its fastly.toml names no secret store, and the queue {asking[0].id} needs a secret")
    for queue in asking:
        if queue.id in given:
            found[fastly_name(queue)] = given[queue.id]
            check_secret(fastly_name(queue), given[queue.id], f"{LANE_SECRETS}, {queue.id}")
    unset = {fastly_name(queue): queue.id for queue in asking if queue.id not in given}
    return Secrets(found, unset, tuple(id for id in given if id not in {queue.id for queue in asking}))


def check_none_missing(wanted: Secrets, there: Collection[str]) -> None:
    """Raises InputError when a secret is neither given nor in the store. `there`: names of secrets that the store has."""
    missing = {name: queue for name, queue in wanted.unset.items() if name not in there}
    if missing:
        whose = ", ".join(f"{name} (queue {queue})" for name, queue in missing.items())
        pairs = " ".join(f"{queue}=..." for queue in missing.values())
        raise InputError(
            f"secrets are missing, by which the site vouches for visitors: {whose}. Put them into {LANE_SECRETS} as {pairs!r}, "
            "beside those that are there, with the text that the site signs with; nothing was changed"
        )


def notes(wanted: Secrets, there: Collection[str]) -> Iterator[str]:
    """What to say about the others before acting."""
    for name, queue in wanted.unset.items():
        if name in there:
            yield f"note: {LANE_SECRETS} has no secret for the queue {queue}: {name} of the secret store stays as it is"
    if wanted.spare:
        yield f"note: {LANE_SECRETS} is not brought for {', '.join(wanted.spare)}: no such queue asks for a secret"


def newly_asking(before: Config, after: Config) -> str:
    """What to say of queues that did not ask for a secret before; empty when there are none."""
    asked = {queue.id for queue in before.queues if asks_for_one(queue)}
    new = [queue for queue in after.queues if asks_for_one(queue) and queue.id not in asked]
    if not new:
        return ""
    ids, names = ", ".join(queue.id for queue in new), ", ".join(map(fastly_name, new))
    return f"note: {ids} ask for a secret: {names}. Without it no word counts; `stanchion deploy fastly` brings it"
