"""The Redis side of a decision: batches within a time budget, shared ones asked once for all who wait.

Whatever happens, `run` answers with one item of the contract's `replies`; trouble is an answer too.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from host.edge.breaker import Breaker
from host.edge.messages import Commands, command_count
from host.edge.redis_rest import Answer, Failure, RedisRest, StoreFailed
from host.edge.shared import RETRY_PAUSE_S, Kept, SharedAnswers

# All batches of one decision together.
DECISION_BUDGET_S = 0.8
# Less time than this says nothing about the store: the decision had used up its budget before.
FAIR_BUDGET_S = 0.4
REASON_CHARS = 200

Log = Callable[[str, dict[str, object]], None]


@dataclass
class StoreCounts:
    """What was sent and what came of it, since the process started."""

    requests: int = 0
    commands: int = 0
    shared_used: int = 0
    failed: dict[Failure, int] = field(default_factory=lambda: {"away": 0, "slow": 0, "busy": 0})

    def as_fields(self) -> dict[str, object]:
        """For the log."""
        return asdict(self)


class Store:
    """Runs batches. `log` is called with an event name and fields; times are monotonic seconds."""

    def __init__(self, rest: RedisRest, log: Log, now_s: Callable[[], float] = time.monotonic) -> None:
        self._rest = rest
        self._log = log
        self._now_s = now_s
        self._breaker = Breaker()
        self._shared = SharedAnswers()
        self._fetches: dict[str, asyncio.Task[Answer | StoreFailed]] = {}
        self._pauses: dict[str, tuple[float, StoreFailed]] = {}
        self._last_answer_s = now_s()
        self.counts = StoreCounts()

    async def run(self, batch: Commands, deadline_s: float) -> str:
        """The reply to a batch, at `deadline_s` at the latest. Raises StepError for a batch that is none."""
        if batch.shared_key is None:
            outcome = await self._send(batch.body, deadline_s)
            return self._failed(outcome, None) if isinstance(outcome, StoreFailed) else _fresh(outcome)
        return await self._run_shared(batch, batch.shared_key, deadline_s)

    async def _run_shared(self, batch: Commands, key: str, deadline_s: float) -> str:
        now_s = self._now_s()
        kept = self._shared.get(key)
        if kept is not None and kept.is_fresh(batch.max_age_ms, now_s):
            self.counts.shared_used += 1
            return kept.reply(now_s)
        pause = self._pauses.get(key)
        if pause is not None and now_s < pause[0]:
            return self._failed(pause[1], kept)
        fetch = self._fetches.get(key)
        if fetch is None:
            command_count(batch.body)
            # A task of its own: whoever waits may go away, the fetch goes on for the others.
            fetch = self._fetches[key] = asyncio.create_task(self._fetch(key, batch.body))
        await asyncio.wait((fetch,), timeout=max(0.0, deadline_s - now_s))
        if not fetch.done():
            return self._failed(StoreFailed("slow", "the shared fetch outlasted this request"), kept)
        outcome = fetch.result()
        return self._failed(outcome, kept) if isinstance(outcome, StoreFailed) else _fresh(outcome)

    async def _fetch(self, key: str, body: str) -> Answer | StoreFailed:
        asked_s = self._now_s()
        try:
            outcome = await self._send(body, asked_s + DECISION_BUDGET_S)
            now_s = self._now_s()
            self._pauses.pop(key, None)
            if isinstance(outcome, StoreFailed):
                self._pause(key, now_s, outcome)
            elif not outcome.has_error:
                self._shared.put(key, Kept(outcome.text, asked_s, now_s))
            return outcome
        finally:
            del self._fetches[key]

    def _pause(self, key: str, now_s: float, failure: StoreFailed) -> None:
        self._pauses = {name: pause for name, pause in self._pauses.items() if now_s < pause[0]}
        self._pauses[key] = (now_s + RETRY_PAUSE_S, failure)

    async def _send(self, body: str, deadline_s: float) -> Answer | StoreFailed:
        count = command_count(body)
        now_s = self._now_s()
        if deadline_s <= now_s:
            return StoreFailed("slow", "the time budget was used up before this batch")
        if not self._breaker.enter(now_s):
            return StoreFailed("away", "the breaker is open")
        self.counts.requests += 1
        self.counts.commands += count
        was_open = self._breaker.is_open
        try:
            answer = await self._rest.pipeline(body, count, deadline_s - now_s)
        except StoreFailed as failure:
            self._note_failure(failure, was_open, deadline_s - now_s)
            return failure
        except BaseException:
            self._breaker.failure(self._now_s())
            raise
        self._note_answer(was_open)
        return answer

    def _note_answer(self, was_open: bool) -> None:
        self._last_answer_s = self._now_s()
        self._breaker.success()
        if was_open:
            self._log("store.back", {})

    def _note_failure(self, failure: StoreFailed, was_open: bool, budget_s: float) -> None:
        self._log("store.failed", {"kind": failure.kind, "reason": str(failure)})
        if failure.kind == "busy":
            self._note_answer(was_open)
            return
        if failure.kind == "slow" and budget_s < FAIR_BUDGET_S and not was_open:
            return
        self._breaker.failure(self._now_s())
        if self._breaker.is_open and not was_open:
            self._log("store.breaker_open", {"reason": str(failure)})

    def _failed(self, failure: StoreFailed, stale: Kept | None) -> str:
        self.counts.failed[failure.kind] += 1
        now_s = self._now_s()
        away_ms = max(0, round((now_s - self._last_answer_s) * 1000))
        old = "null" if stale is None else stale.reply(now_s)
        return f'{{"failed":"{failure.kind}","away_ms":{away_ms},"stale":{old}}}'

    async def deliver(self, body: str) -> bool:
        """Runs a batch of no decision; answers whether the store replied. Raises StepError."""
        outcome = await self._send(body, self._now_s() + DECISION_BUDGET_S)
        if isinstance(outcome, Answer) and outcome.has_error:
            self._log("store.refused", {"reason": outcome.text[:REASON_CHARS]})
        return isinstance(outcome, Answer)

    async def close(self) -> None:
        """Ends fetches that nobody waits for and closes the connections."""
        for fetch in list(self._fetches.values()):
            fetch.cancel()
        await self._rest.close()


def _fresh(answer: Answer) -> str:
    return f'{{"results":{answer.text},"age_ms":0}}'
