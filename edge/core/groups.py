"""Groups: queues that share totals, for instance one sale in several countries. A group is one scope in Redis.

Its queues work with the group's limits, timers and schedule; each has lines of its own, with a share by its quota.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edge.core.errors import ConfigError
from edge.core.fields import Field, Int, ListOf, MapOf, Obj, Text
from edge.core.model import ATTRIBUTES, LINES_AT_MOST, QUEUE_FIELDS, Queue, fill_in

SHARED = frozenset((
    "admit_per_minute", "burst", "max_active", "inventory", "manual", "always_queue", "start_queueing_above", "prequeue_at",
    "opens_at", "closes_at", "prequeue_order", "spread_s", "draw_beacon", "late_claim", "late_claim_within_s",
    "late_share_percent", "checkout_s", "visit_max_s", "claim_within_s", "idle_s", "renew_every_s", "poll_s", "settle_s",
    "presence_grace_s", "candidate_hold_s", "max_networks", "events",
))  # fmt: skip
_ID = Text(r"[a-z0-9-]+", "only a-z, 0-9 and -", 48)
_BY_NAME = {each.name: each for each in QUEUE_FIELDS}
_SHARE_UNIT = 1000  # a quota of 1 is so many shares of a line: enough to split it among lanes


@dataclass(frozen=True)
class QueueGroup:
    """One group. `shared`: by attribute of a Queue, what all its queues have. `quotas`: share by queue id; others have 1."""

    id: str
    name: str
    config_version: int
    queues: tuple[str, ...]
    quotas: tuple[tuple[str, int], ...]
    shared: dict[str, Any] = field(hash=False)

    def quota(self, queue_id: str) -> int:
        """The share of a queue."""
        return dict(self.quotas).get(queue_id, 1)


GROUP_FIELDS: tuple[Field, ...] = (
    Field("id", _ID, "name in keys and addresses, like no queue's; never changes"),
    Field("name", _BY_NAME["name"].kind, "what operators read"),
    Field("config_version", _BY_NAME["config_version"].kind, "number of the group's configuration; a newer one is higher", 1),
    Field("queues", ListOf(_ID, 2, LINES_AT_MOST), "ids of its queues, each in one group only"),
    Field("quotas", MapOf(_ID, Int(1, 1000), LINES_AT_MOST),
          "share of each queue while others have people waiting too; what one does not use goes to them; left out: 1", ()),
    *(each for each in QUEUE_FIELDS if each.name in SHARED),
)  # fmt: skip
GROUP_DEFAULTS: dict[str, Any] = {each.name: each.default for each in GROUP_FIELDS if not each.required}


def build_group(values: Mapping[str, Any]) -> QueueGroup:
    """A group of checked values, by the keys of the configuration."""
    filled = fill_in(dict(values))
    shared = {ATTRIBUTES[name]: filled[name] for name in SHARED}
    queues, quotas = tuple(filled["queues"]), tuple(filled["quotas"])
    return QueueGroup(filled["id"], filled["name"], filled["config_version"], queues, quotas, shared)


GROUP = Obj(GROUP_FIELDS, build_group)


def _shares(members: Sequence[Queue], group: QueueGroup) -> tuple[int, ...]:
    """The share of each line: a queue's quota, split among its lanes."""
    out: list[int] = []
    for queue in members:
        whole, lanes = group.quota(queue.id) * _SHARE_UNIT, [lane.share for lane in queue.lanes] or [1]
        out += [max(1, round(whole * share / sum(lanes))) for share in lanes]
    return tuple(out)


def effective(queues: tuple[Queue, ...], groups: Sequence[QueueGroup]) -> tuple[Queue, ...]:
    """The queues as they work. Raises KeyError for a group that names a queue which is not there."""
    if not groups:
        return queues
    by_id = {queue.id: queue for queue in queues}
    for group in groups:
        members = [by_id[queue_id] for queue_id in group.queues]
        shares, line = _shares(members, group), 0
        for queue in members:
            by_id[queue.id] = _member(queue, group, line, shares)
            line += queue.line_count
    return tuple(by_id[queue.id] for queue in queues)


def _member(queue: Queue, group: QueueGroup, line: int, shares: tuple[int, ...]) -> Queue:
    own = {"config_version": group.config_version, "group": group.id, "scope": group.id, "line": line, "group_shares": shares}
    member = object.__new__(Queue)  # as cheap as reading a queue is: see edge/core/sealed.py
    vars(member).update(vars(queue) | group.shared | own)
    return member


def check_groups(groups: Sequence[QueueGroup], queues: Sequence[Queue], entries: Sequence[Mapping[str, Any]]) -> None:
    """Raises ConfigError for groups that cannot be. `entries`: the queues as they were written."""
    by_id = {queue.id: index for index, queue in enumerate(queues)}
    names: set[str] = set()
    owner: dict[str, str] = {}
    for index, group in enumerate(groups):
        path = f"groups[{index}]"
        if group.id in names or group.id in by_id:
            raise ConfigError(f"{path}.id", f"{group.id!r} is taken by another {'group' if group.id in names else 'queue'}")
        names.add(group.id)
        for place, queue_id in enumerate(group.queues):
            if queue_id not in by_id:
                raise ConfigError(f"{path}.queues[{place}]", f"there is no queue {queue_id!r}")
            if queue_id in owner:
                raise ConfigError(f"{path}.queues[{place}]", f"{queue_id} is in group {owner[queue_id]} already")
            owner[queue_id] = group.id
            _check_member(entries[by_id[queue_id]], f"queues[{by_id[queue_id]}]", group)
        _check_size([queues[by_id[queue_id]] for queue_id in group.queues], group, path)


def _check_member(entry: Mapping[str, Any], path: str, group: QueueGroup) -> None:
    for key in entry:
        if key in SHARED:
            raise ConfigError(f"{path}.{key}", f"is the group's: set it in group {group.id}, and leave it out here")


def _check_size(members: Sequence[Queue], group: QueueGroup, path: str) -> None:
    for queue_id, _ in group.quotas:
        if queue_id not in group.queues:
            raise ConfigError(f"{path}.quotas.{queue_id}", "is no queue of this group")
    if len({queue.cookie_domain for queue in members}) > 1:
        raise ConfigError(f"{path}.queues", "must agree on cookie_domain, or a visitor could have a place in each of them")
    count = sum(queue.line_count for queue in members)
    if count > LINES_AT_MOST:
        raise ConfigError(f"{path}.queues", f"have {count} lanes together; a group holds {LINES_AT_MOST} at most")
