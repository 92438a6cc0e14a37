"""One moment of the queue as the store holds it, read from what `turn.lua` tells; and what makes two moments the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from edge.core.calls import keys

_PART = {key.rpartition(":")[2]: index for index, key in enumerate(keys("q"))}
FREE_AFTER_MS = 5000
LAPSED, OVER = 3, 8  # values of a place in `left`

# What decisions read of the state and steps change. Not among them: statistics, timers that work in hours, and the configuration.
_AS_THEY_ARE = (
    "epoch", "status", "mode", "length", "cursor", "horizon", "settled", "raise_step", "share", "late_credit", "held",
    "mapped_from", "rotated", "recover_until", "reentry_until", "over_rate", "present", "sample_every", "rate", "max_active",
    "inventory",
)  # fmt: skip
_AS_DISTANCE = (
    "clock", "wall_ahead", "lease_behind", "raised_at", "raises", "sold", "units", "pump_at", "short_until", "hold_until",
    "promised", "latency",
)  # fmt: skip
FIELDS = _AS_THEY_ARE + _AS_DISTANCE
# Every other field of the state, and why no walk needs it; a new field stands in one of the lists or a test fails.
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "no decision reads it": (
        "lapsed", "checkout_expired", "pass_expired", "idle_expired", "admitted", "counted_until", "left", "missed", "completed",
        "revoked", "expired", "undelivered", "overrun", "rate_used", "coming", "ready_from", "noted", "noted_at", "note_at",
        "turns", "arriving", "slots_hold", "ends_seen", "slots_seen",
    ),
    "widens a head window that is wider than all visitors of a walk as it is": (
        "outflow", "outflow_known", "held_by", "active_from",
    ),
    "works in hours": ("places_at", "ttl_at", "pruned_at", "passed_at"),
    "of the configuration, which a walk does not change": (
        "config_version", "max_step", "max_lease_step", "claim_within", "idle", "renew_every", "settle", "grace",
        "hold", "manual", "always", "bucket", "burst", "late_within", "late_share", "late_claim", "spread", "is_group",
        "has_events", "line_count", "weight", "checkout", "visit_max", "above", "operator", "is_drawn", "needs_beacon",
        "prequeue_at", "opens_at", "closes_at",
    ),
    "of what walked queues do not have: a schedule, a draw, lines, a threshold, a second generation, a sample": (
        "opened_at", "opened_lease", "is_counted", "draw_key", "draw_seed", "beacon", "chain", "drawn", "pass", "is_dormant",
        "quiet_from", "killed", "begun_by", "sample_from",
    ),
}  # fmt: skip


def _parted(each: str) -> tuple[str, str, str]:
    return each.partition("@")


@dataclass(frozen=True)
class Settings:
    """Of the walked queue: its rate a minute (0: none) and burst, two timers in ms, and whether some come without a cookie."""

    rate: int
    burst: int
    claim_within_ms: int
    grace_ms: int
    direct: bool


@dataclass(frozen=True)
class View:
    """The queue at one moment; times are those of the store."""

    blob: bytes
    settings: Settings

    @cached_property
    def _parts(self) -> list[list[object]]:
        parts: list[list[object]] = json.loads(self.blob)
        return parts

    def _flat(self, part: str) -> Iterator[tuple[str, str]]:
        told = self._parts[_PART[part]]
        flat: list[str] = told[1] if len(told) > 1 else []  # type: ignore[assignment]
        return zip(flat[::2], flat[1::2], strict=True)

    def _bytes(self, part: str) -> bytes:
        told = self._parts[_PART[part]]
        return bytes.fromhex(str(told[1])) if len(told) > 1 else b""

    def _scores(self, part: str) -> dict[int, float]:
        return {int(member): float(score) for member, score in self._flat(part)}

    @property
    def everything(self) -> list[object]:
        """All that the store holds, whatever the order in which it tells it."""
        return [self.state, *(sorted(map(str, told)) for told in self._parts[1:])]

    @cached_property
    def state(self) -> dict[str, str]:
        """The fields of the state that are told."""
        told: list[str] = self._parts[0][1]  # type: ignore[assignment]
        return dict(zip(FIELDS, told, strict=True))

    def number(self, field: str) -> int:
        """One field as a number; 0 when it is empty."""
        return int(self.state[field] or 0)

    @cached_property
    def clock(self) -> int:
        """Unix ms."""
        return self.number("clock")

    @cached_property
    def lease(self) -> int:
        """The stopwatch of turns and presence, ms."""
        return self.clock - self.number("lease_behind")

    @property
    def status(self) -> str:
        """The state of the queue."""
        return self.state["status"]

    @cached_property
    def places(self) -> dict[str, int]:
        """Visitor to position, of those who have one."""
        return {visitor: int(member) for visitor, member in self._flat("places")}

    def place_of(self, who: int) -> int:
        """The position of visitor number `who`; 0 for none."""
        return self.places.get(f"v{who}", 0)

    @cached_property
    def ready(self) -> dict[int, float]:
        """Positions that are present."""
        return self._scores("ready")

    @cached_property
    def seen(self) -> dict[int, float]:
        """Position to its last sign of life, lease ms."""
        return self._scores("seen")

    @cached_property
    def called(self) -> dict[int, float]:
        """Position to the end of its lease, lease ms and a part."""
        return self._scores("called")

    @cached_property
    def inside(self) -> dict[int, float]:
        """Position to the moment its slot is freed, Unix ms."""
        return self._scores("active")

    @cached_property
    def claims(self) -> list[float]:
        """When those of the last minute came in, Unix ms."""
        return sorted(self._scores("claims").values())

    @cached_property
    def operator_steps(self) -> frozenset[str]:
        """Request ids that have been answered."""
        return frozenset(request for request, _ in self._flat("requests"))

    @cached_property
    def _used(self) -> bytes:
        return self._bytes("used")

    @cached_property
    def _missed(self) -> bytes:
        return self._bytes("left")

    def was_used(self, position: int) -> bool:
        """Whether the place has come in once."""
        seat = position * 2
        return seat // 8 < len(self._used) and bool(self._used[seat // 8] >> (7 - seat % 8) & 1)

    def missed(self, position: int) -> int:
        """Turns that the place has missed; LAPSED and more: it is over."""
        seat = position * 2  # even: the high half of its byte
        return self._missed[seat // 2] >> 4 if seat // 2 < len(self._missed) else 0

    def situation(self, position: int) -> str:
        """Of a place: new (there is none), in line, inside, was inside, over."""
        if not position:
            return "new"
        if position in self.inside:
            return "inside"
        if self.was_used(position):
            return "was inside"
        return "over" if self.missed(position) >= LAPSED else "in line"

    @property
    def slots_left(self) -> float:
        """How many more may be called."""
        held = len(self.called) + len(self.inside)
        caps = [int(self.state["max_active"] or 0) - held] if self.state["max_active"] else []
        caps += [int(self.state["inventory"]) - self.number("sold") - held] if self.state["inventory"] else []
        return max(0, min(caps, default=10**9))

    @cached_property
    def same_as(self) -> tuple[object, ...]:
        """Equal for two moments from which the same can happen: distances in time, not times; places, not names of visitors."""
        state, lease = self.state, self.lease
        fixed = tuple([state[name] for name in _AS_THEY_ARE if name != "epoch"])
        hold = max(0, self.number("hold_until") - self.clock) if self.settings.direct else 0
        timers = (max(0, self.number("pump_at") - self.clock), hold, min(100_000, lease - self.number("raised_at")))
        raises = tuple([(place, min(100_000, lease - int(at))) for place, _, at in map(_parted, (state["raises"] or "").split())])
        places = tuple([self._place_as_distance(position) for position in range(1, self.number("length") + 1)])
        sold = state["sold"] if state["inventory"] else ""
        return (places, fixed, timers, raises, self._rate_as_distance(), sold, tuple(sorted(self.operator_steps)))

    def _rate_as_distance(self) -> tuple[object, ...]:
        """What of the rate, of past claims and of how fast called ones come by can matter later."""
        rate, claim_within = self.settings.rate, self.settings.claim_within_ms
        if not rate:
            return ()
        lately = tuple([self.clock - at for at in self.claims if at > self.clock - claim_within])
        debt = max((60_000 * (len(self.claims) - n) - rate * (self.clock - at) for n, at in enumerate(self.claims)), default=0)
        come_within = min(claim_within, 2000 + self.number("latency") * 3 // 2)
        promised = max(0, self.number("promised") - self.lease)
        return (self.number("units"), lately, max(0, debt), come_within // 5000, promised)

    def _place_as_distance(self, position: int) -> tuple[object, ...]:
        """All that the store knows of a place, as distances."""
        called, inside, seen = self.called.get(position), self.inside.get(position), self.seen.get(position)
        if called is not None and not self.settings.rate:
            called = called // 1  # its part says only what is of use where a rate is
        return (
            position in self.ready,
            None if seen is None else self.lease - seen,
            None if called is None else called - self.lease,
            None if inside is None else inside - self.clock,
            self.was_used(position),
            self.missed(position),
        )
