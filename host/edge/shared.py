"""Answers that many requests share: the last good one for each key, bounded in number and in size."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MAX_ENTRIES = 1_024
# In characters of JSON; a snapshot has a few hundred to 40,000.
MAX_TOTAL_CHARS = 16_000_000
# After a failed fetch the next one waits this long, so that a store in trouble is not asked by every visitor.
RETRY_PAUSE_S = 0.2


@dataclass(slots=True)
class Kept:
    """The JSON array of results of one batch. Times are monotonic seconds.

    Its age counts from its arrival. It stops being fresh when its greatest age has passed since it was
    asked for, so that nobody uses one that is older than allowed.
    """

    text: str
    asked_s: float
    answered_s: float

    def is_fresh(self, max_age_ms: int, now_s: float) -> bool:
        """Whether the answer may still be used as an answer of now."""
        return (now_s - self.asked_s) * 1000 <= max_age_ms

    def reply(self, now_s: float) -> str:
        """The answer as an item of `replies`, with its age."""
        return f'{{"results":{self.text},"age_ms":{max(0, round((now_s - self.answered_s) * 1000))}}}'


class SharedAnswers:
    """Least recently used keys go first when a bound is reached."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._chars = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str) -> Kept | None:
        """The last good answer, however old."""
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
        return kept

    def put(self, key: str, kept: Kept) -> None:
        """Keeps an answer in place of the one before. One that is larger than the whole bound is not kept."""
        old = self._kept.pop(key, None)
        self._chars -= len(old.text) if old else 0
        if len(kept.text) > MAX_TOTAL_CHARS:
            return
        self._kept[key] = kept
        self._chars += len(kept.text)
        while len(self._kept) > MAX_ENTRIES or self._chars > MAX_TOTAL_CHARS:
            _, gone = self._kept.popitem(last=False)
            self._chars -= len(gone.text)
