"""How long people waited and when they gave up, read from the counts that `scripts/figures.lua` keeps of one epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# As in figures.lua: bucket 0 is under a second, each further one a third of a doubling wide; the last has no end (36 hours on).
LAST_BUCKET = 52
_PER_DOUBLING = 3
_UNKNOWN = "-"


def bucket_from_s(index: int) -> float:
    """Where a bucket begins, in seconds; it ends where the next one begins."""
    return 0.0 if index == 0 else float(2 ** ((index - 1) / _PER_DOUBLING))


@dataclass(frozen=True)
class Times:
    """How many people by how long. `unknown`: they are counted, but when they joined was not known any more."""

    buckets: Mapping[int, int] = field(default_factory=dict)
    unknown: int = 0

    @property
    def count(self) -> int:
        """People in all."""
        return sum(self.buckets.values()) + self.unknown

    def quantile_s(self, share: float) -> float | None:
        """The time that `share` (0 to 1) of the people stayed under, within a bucket by proportion; None for nobody.

        Off by at most the width of a bucket, 26 %.
        """
        known = sum(self.buckets.values())
        if not known:
            return None
        before, wanted = 0, share * known
        for index in sorted(self.buckets):
            count = self.buckets[index]
            if before + count >= wanted and count:
                low, high = bucket_from_s(index), bucket_from_s(index + 1)
                return low + (high - low) * max(0.0, wanted - before) / count
            before += count
        return bucket_from_s(LAST_BUCKET)


@dataclass(frozen=True)
class Figures:
    """Times of one epoch.

    `waited`: until they came in. `left`: until they said that they leave. `silent`: until their last sign of life, of those who
    fell silent near the head (each counted) or far back (a sample, each for as many as it stands for). `left_early`: before the
    opening, when nobody waits yet.
    """

    waited: Times = Times()
    left: Times = Times()
    silent: Times = Times()
    left_early: int = 0


def read(fields: Mapping[str, str]) -> Figures:
    """The figures from the fields of the hash. Raises ValueError when they have another shape."""
    return Figures(_times(fields, "w"), _times(fields, "l"), _times(fields, "s"), int(fields.get("early", 0)))


def _times(fields: Mapping[str, str], kind: str) -> Times:
    mine = {name[1:]: int(count) for name, count in fields.items() if name[:1] == kind}
    unknown = mine.pop(_UNKNOWN, 0)
    return Times({int(index): count for index, count in mine.items()}, unknown)
