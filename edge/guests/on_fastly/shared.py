"""The shared snapshot: a point of presence asks Redis once a second for each queue, however many wait there.

The text that is shared is a small JSON object: when Redis answered and what, or since when it does not, with its last answer.
So a failure is shared as well: nobody else asks a Redis that has just failed, and all know for how long it has been away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from edge.core import quick_json, scripts
from edge.core.messages import Batch, Reply
from edge.guests.on_fastly import memory
from edge.guests.on_fastly.api import Err
from edge.guests.on_fastly.redis import Deadline
from edge.guests.rest import Answered, failed

FRESH_MS = 1_000
# While one visitor brings a new snapshot the others are served the old one, for this long: none is ever older than 2 s.
STALE_MS = 1_000
# After a failure nobody asks for this long.
PAUSE_MS = 500
# A failure is remembered as long as this, so that its beginning is known to whoever comes next.
FAILURE_MS = 10_000
# The last good answer, for when Redis is away.
KEEP_MS = 3_600_000

# While a new version is taken over, each reads what its own script has answered: the snapshot's form may differ.
_KEY = f"stanchion/{scripts.SNAPSHOT.sha['redis'][:12]}/"
_LAST = f"{_KEY}last/"
_AWAY = "stanchion/away"


@dataclass(slots=True)
class Known:
    """What is shared of one batch. Times are Unix ms by the clock of whoever wrote them; 0 and None: never."""

    answered_ms: int = 0
    results: list[dict[str, Any]] | None = None
    failed: str = ""
    failed_since_ms: int = 0

    def text(self) -> str:
        """As it is shared."""
        return quick_json.write([self.answered_ms, self.results, self.failed, self.failed_since_ms])

    @staticmethod
    def read(text: str | None) -> Known | None:
        """What a text says; None for none, and for one of another version."""
        try:
            return Known(*quick_json.read(text)) if text else None
        except (ValueError, TypeError):
            return None

    def reply(self, now_ms: int) -> Reply:
        """What a decision is told."""
        good = None if self.results is None else Reply(self.results, max(0, now_ms - self.answered_ms))
        if not self.failed:
            return good or Reply()
        away_ms = max(0, now_ms - self.failed_since_ms) if self.failed == "away" else 0
        return Reply(failed=self.failed, away_ms=away_ms, stale=good)


class Shared:
    """Runs shared batches. `send` asks Redis; `now_ms` is the wall's clock."""

    def __init__(self, send: Callable[[Batch, Deadline], Answered], now_ms: Callable[[], int],
                 trouble: Callable[[str], None]) -> None:  # fmt: skip
        self._send, self._now_ms, self._trouble = send, now_ms, trouble
        self.failing_since_ms = 0
        self.has_brought = False

    def run(self, batch: Batch, deadline: Deadline) -> Reply:
        """The reply: what is known here, or what Redis says now. Raises nothing: without the cache Redis is asked."""
        name = batch.name.removesuffix(" in full")
        try:
            known = Known.read(memory.fresh(_KEY + name))
            if known is not None:
                return self._told(known)
            with memory.Transaction(_KEY + name, deadline) as transaction:
                known = Known.read(transaction.text)
                if transaction.is_obliged or known is None:
                    return self._bring(name, batch, known, transaction, deadline)
        except memory.TooLate:
            return failed("slow", "the shared fetch outlasted this request").reply
        except Err as error:
            self._trouble(f"the shared memory does not serve: {type(error.value).__name__}")
            return self._send(batch, deadline).reply
        return self._told(known)

    def _told(self, known: Known) -> Reply:
        self.failing_since_ms = known.failed_since_ms
        return known.reply(self._now_ms())

    def _bring(self, name: str, batch: Batch, known: Known | None, transaction: memory.Transaction, deadline: Deadline) -> Reply:
        answered = self._send(batch, deadline)
        now_ms = self._now_ms()
        if answered.reply.failed:
            return self._told(self._share_failure(name, answered.reply.failed, known, transaction, now_ms))
        if any("error" in result for result in answered.reply.results):
            return answered.reply  # a script that was forgotten, say: handed on, and not shared
        fresh = Known(now_ms, [*map(dict, answered.reply.results)])
        text = fresh.text()
        if transaction.is_obliged:
            transaction.bring(text, FRESH_MS, STALE_MS)
            self.has_brought = True
        if known is not None and known.failed:
            memory.remember(_AWAY, "0", FAILURE_MS)
        memory.remember(_LAST + name, text, KEEP_MS)
        return self._told(fresh)

    def _share_failure(self, name: str, kind: str, known: Known | None, transaction: memory.Transaction, now_ms: int) -> Known:
        before = known if known is not None and known.results is not None else Known.read(memory.recall(_LAST + name))
        # Redis is one for all queues: whoever meets it for the first time learns here that it has been away for a while.
        since_ms = int(memory.recall(_AWAY) or 0) or now_ms
        memory.remember(_AWAY, str(since_ms), FAILURE_MS)
        failure = Known(before.answered_ms if before else 0, before.results if before else None, kind, since_ms)
        if transaction.is_obliged:
            transaction.bring(failure.text(), PAUSE_MS, FAILURE_MS)
        return failure
