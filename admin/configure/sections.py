"""The form of a queue and of a group: which key stands under which heading. A key that no heading names is under the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edge.core.fields import Field
from edge.core.groups import GROUP_FIELDS, SHARED
from edge.core.model import QUEUE_FIELDS

ADVANCED = "advanced"
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "where": ("id", "name", "queues", "quotas", "routes", "bypass", "return_paths"),
    "limits": ("admit_per_minute", "burst", "max_active", "inventory", "manual", "always_queue", "start_queueing_above"),
    "schedule": ("prequeue_at", "opens_at", "closes_at", "prequeue_order", "spread_s", "draw_beacon"),
    "lanes": ("lanes",),
    "timers": (
        "claim_within_s", "idle_s", "renew_every_s", "visit_max_s", "checkout_s", "late_claim", "late_claim_within_s",
        "late_share_percent", "poll_s", "settle_s", "presence_grace_s", "candidate_hold_s",
    ),
    "page": ("page", "language", "held_status"),
    "country": ("countries", "unknown_country", "other_countries"),
    ADVANCED: (
        "visitor_key", "visitor_key_required", "one_visit_per_key", "sign_in_url", "proof_of_work_bits",
        "asset_extensions", "allowed_origins", "crawlers", "same_site", "cookie_domain", "places_per_network_per_minute",
        "max_networks", "on_store_error", "store_error_admit_per_minute", "events",
    ),
}  # fmt: skip
_HIDDEN = ("config_version",)  # publishing writes it
_FIELDS: Mapping[str, Mapping[str, Field]] = {
    "queue": {field.name: field for field in QUEUE_FIELDS},
    "group": {field.name: field for field in GROUP_FIELDS},
}


@dataclass(frozen=True)
class Section:
    """A heading with its fields."""

    name: str
    fields: tuple[Field, ...]


def field_of(kind: str, name: str) -> Field | None:
    """The field of a `queue` or `group` with this name."""
    return _FIELDS[kind].get(name)


def sections(kind: str, *, in_group: bool = False) -> Sequence[Section]:
    """The sections of a `queue` or `group`. A queue in a group has not what the group shares."""
    fields = {name: field for name, field in _FIELDS[kind].items() if name not in _HIDDEN and not (in_group and name in SHARED)}
    named = {name for names in SECTIONS.values() for name in names}
    unnamed = tuple(field for name, field in fields.items() if name not in named)
    found = []
    for section, names in SECTIONS.items():
        here = tuple(fields[name] for name in names if name in fields) + (unnamed if section == ADVANCED else ())
        if here:
            found.append(Section(section, here))
    return found
