"""Drives the gate: asks it step by step, runs the commands it names, until it forwards or responds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Protocol

from host.component.instance import Gate, GateFailed, KeyValue
from host.edge.background import Background
from host.edge.messages import (
    Commands,
    Facts,
    Forward,
    Headers,
    MessageError,
    Respond,
    StepError,
    answer_message,
    named,
    parse_conclusion,
    parse_step,
    request_message,
)
from host.edge.origin_answer import has_private
from host.edge.store import DECISION_BUDGET_S, Log, Store

# A decision needs one or two batches, and one more for a script that the server had forgotten.
MAX_BATCHES = 8


def _names(headers: Iterable[str]) -> frozenset[bytes]:
    return frozenset(name.encode("latin-1", "replace") for name in headers)


class GenerationalStore(KeyValue, Protocol):
    """A key-value store that can tell, cheaply, whether anything in it has changed."""

    def generation(self) -> int:
        """A number that is another one whenever anything has changed."""
        ...


class Decider:
    """One gate with its stores. Times of day come from `now_ms`, all others from the monotonic clock."""

    def __init__(
        self,
        gate: Gate,
        store: Store,
        background: Background,
        kv: GenerationalStore,
        log: Log,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._gate = gate
        self._store = store
        self._background = background
        self._kv = kv
        self._log = log
        self._now_ms = now_ms
        self._wanted = _names(gate.wants.headers)
        self._wanted_at: str | None = None
        self._answer_wanted = frozenset(name.encode("latin-1") for name in gate.wants.answer_headers)
        self.private_prefix = gate.wants.private_prefix.encode("latin-1")

    async def decide(self, facts: Facts) -> Forward | Respond:
        """The decision on one request. Raises GateFailed, or MessageError for what fits no message."""
        deadline_s = time.monotonic() + DECISION_BUDGET_S
        generation = self._kv_generation()
        request = request_message(facts, self._wanted_headers(generation), self._now_ms(), generation)
        replies: list[str] = []
        while True:
            step = self._step(request, f"[{','.join(replies)}]" if replies else "")
            if not isinstance(step, Commands):
                return step
            if len(replies) == MAX_BATCHES:
                raise GateFailed(f"the gate asked for more than {MAX_BATCHES} batches of commands")
            try:
                replies.append(named(step.name, await self._store.run(step, deadline_s)))
            except StepError as error:
                raise GateFailed(f"decide broke the contract: {error}") from error

    def conclude(self, facts: Facts, step: Forward, status: int, headers: Headers) -> Headers:
        """What the gate appends to the origin's answer; its commands run in the background.

        Trouble costs the additions, never the origin's answer: it is logged, and nothing is appended.
        """
        if step.conclude is None and not has_private(headers, self.private_prefix):
            return ()
        try:
            request = request_message(facts, self._wanted, self._now_ms(), self._kv_generation())
            answer = answer_message(status, headers, self._answer_wanted, self.private_prefix)
            told = parse_conclusion(self._gate.conclude(request, step.conclude or "", answer))
        except (GateFailed, StepError, MessageError) as error:
            self._log("gate.conclude_failed", {"id": facts.id, "reason": str(error)})
            return ()
        if told.commands:
            self._background.deliver(told.commands)
        return told.headers

    def _step(self, request: str, replies: str) -> Commands | Forward | Respond:
        try:
            return parse_step(self._gate.decide(request, replies))
        except StepError as error:
            raise GateFailed(f"decide broke the contract: {error}") from error

    def _wanted_headers(self, generation: str) -> frozenset[bytes]:
        """The headers that the gate reads: asked again when anything in the store has changed, for the configuration names some.

        A store that cannot tell, and a gate that fails, leave them as they are.
        """
        if generation and generation != self._wanted_at:
            self._wanted_at = generation
            try:
                self._wanted = _names(self._gate.ask_wants().headers)
            except GateFailed as error:
                self._log("gate.wants_failed", {"reason": str(error)})
        return self._wanted

    def _kv_generation(self) -> str:
        try:
            return str(self._kv.generation())
        except Exception as error:  # the guest hears the same from `kv.get`, and the queue says what to do
            self._log("kv.failed", {"reason": str(error)})
            return ""
