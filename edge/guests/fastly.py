"""The guest for Fastly Compute: the same core, driven in the sandbox with the platform's stores, backends and cache.

One sandbox serves one request, or several in a row when the deployment says so. Whatever happens, the visitor gets one answer.
"""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from edge.guests import no_ssl  # isort: skip  # before anything imports jwt

from edge.core import answers, reserved, standing
from edge.core.calls import Call, pipeline_body
from edge.core.decide import decide
from edge.core.errors import ConfigError
from edge.core.messages import Batch, Context, Decision, Forward, Reply, Request, Respond
from edge.guests import warm
from edge.guests.builtin import NO_GATE, built_in
from edge.guests.driver import drive
from edge.guests.knowledge import Knowledge
from edge.guests.log_line import request_line
from edge.guests.on_fastly import memory
from edge.guests.on_fastly import warm as fastly_warm
from edge.guests.on_fastly.answering import Answer
from edge.guests.on_fastly.api import Err, exports, http_downstream
from edge.guests.on_fastly.counters import RATE_COUNTER, PopCounters
from edge.guests.on_fastly.origin import Forwarding
from edge.guests.on_fastly.reading import read_request
from edge.guests.on_fastly.redis import Deadline, Redis
from edge.guests.on_fastly.shared import KEEP_MS, Shared
from edge.guests.on_fastly.surroundings import Surroundings
from edge.guests.rest import DECISION_BUDGET_MS, Answered

assert no_ssl
_FLAVOUR, _REST_URL, _REUSE_MS = "STANCHION_REDIS_FLAVOUR", "UPSTASH_REDIS_REST_URL", "STANCHION_SANDBOX_REUSE_MS"
# What nobody waits for is sent again after these pauses when there is no reply; the visitor has the answer by then.
_DELIVERY_PAUSES_S = (0.0, 0.25, 1.0)
_CONFIG = "stanchion/configuration"
_HEALTH = "/.stanchion/health"


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class Serving:
    """One request while it is served. `step` is None until the decision is there."""

    message: Any
    body: Any
    answer: Answer
    deadline: Deadline
    started_s: float
    request: Request | None = None
    context: Context | None = None
    step: Decision | None = None
    after: Sequence[Call] = ()


class Gate:
    """What one sandbox knows. Made with the component, so nothing of the service is read before the first request."""

    def __init__(self) -> None:
        self._around = around = Surroundings()
        self._counters = PopCounters(lambda: around.setting(RATE_COUNTER) or "", self._trouble_of("counter.failed"))
        self._knowledge = Knowledge(around.read_kv, self._setting, around.secret, around.write_log, self._counters)
        self._redis = Redis(lambda: around.setting(_REST_URL) or "http://redis", self._token)
        self._shared = Shared(self._send, _now_ms, self._trouble_of("shared.failed"))

    @property
    def reuse_ms(self) -> int:
        """How long this sandbox waits for another request."""
        return _number(self._around.setting(_REUSE_MS))

    def _setting(self, name: str) -> str | None:
        # Behind a REST address elsewhere is Upstash, unless the deployment says that it is not.
        return self._around.setting(name) or ("upstash" if name == _FLAVOUR else None)

    def _token(self) -> str:
        return self._around.secret("redis-rest-token") or ""

    def serve(self, message: Any, body: Any) -> None:
        """Answers one request. Raises nothing: an exception that leaves the guest ends the sandbox without an answer."""
        serving = Serving(message, body, Answer(), Deadline(DECISION_BUDGET_MS), time.monotonic())
        try:
            self._serve(serving)
        except BaseException:
            self._trouble("edge.fault", traceback.format_exc())
            self._rescue(serving)
        try:
            self._deliver(serving)
            self._log_request(serving)
        except Exception:
            self._trouble("edge.fault", traceback.format_exc())

    def _serve(self, serving: Serving) -> None:
        problem = ""
        try:
            self._refresh(str(int(serving.started_s)))
            serving.context = self._knowledge.context()
        except ConfigError as error:
            problem = str(error)
        wants_country = serving.context is not None and serving.context.config.names_countries
        serving.request = request = read_request(
            serving.message, self._around.country if wants_country else lambda address, headers: ""
        )
        if serving.context is None:
            step = self._without_configuration(request, problem)
        else:
            step = drive(decide(request, serving.context), lambda batch: self._run(batch, serving.deadline))
        serving.step = step
        self._carry_out(serving, step)
        if serving.context is not None and (self._shared.has_brought or request.random[-1] == "0"):
            # With each new snapshot, and one request of sixteen: seldom enough to cost nothing.
            self._shared.has_brought = False
            memory.remember(_CONFIG, self._knowledge.config_text, KEEP_MS)

    def _without_configuration(self, request: Request, problem: str) -> Decision:
        if request.target == _HEALTH:
            # The gate answers; what it lacks is in the log, and in what visitors get.
            return answers.json_answer(200, {"status": "ok", "configuration": "none"}, problem)
        return self._knowledge.on_config_error(request, problem)

    def _carry_out(self, serving: Serving, step: Decision) -> None:
        if isinstance(step, Respond):
            serving.answer.give(step.status, step.headers, step.content)
            return
        assert serving.request is not None
        forwarding = Forwarding(serving.request, step, serving.context, self._trouble)
        try:
            forwarding.run(serving.message, serving.body, serving.answer)
        finally:
            serving.after = forwarding.after

    def _refresh(self, generation: str) -> None:
        """Reads again what may have changed; the store in trouble, what this point of presence knew last. Raises ConfigError."""
        try:
            self._knowledge.refresh(generation)
        except ConfigError:
            try:
                text = memory.recall(_CONFIG)
            except Err:
                text = None
            if text is None:
                raise
            self._knowledge.fall_back(text)

    # --- Redis ------------------------------------------------------------------------------------------------------

    def _run(self, batch: Batch, deadline: Deadline) -> Reply:
        if batch.is_shared:
            return self._shared.run(batch, deadline)
        reply = self._send(batch, deadline).reply
        if reply.failed == "away" and self._shared.failing_since_ms:
            reply.away_ms = max(0, _now_ms() - self._shared.failing_since_ms)
        return reply

    def _send(self, batch: Batch, deadline: Deadline) -> Answered:
        answered = self._redis.send(batch.body(self._knowledge.context().flavour), len(batch.calls), deadline)
        if answered.problem:
            self._trouble("store.failed", f"{answered.reply.failed}: {answered.problem}")
        return answered

    def _deliver(self, serving: Serving) -> None:
        """What the origin's answer asks for; safe to repeat, and in full, since nobody would see that a name is not known."""
        if not serving.after or serving.context is None:
            return
        body = pipeline_body(serving.after, serving.context.flavour, whole=True)
        for pause_s in _DELIVERY_PAUSES_S:
            time.sleep(pause_s)
            answered = self._redis.send(body, len(serving.after), Deadline(DECISION_BUDGET_MS))
            if not answered.reply.failed:
                return
        self._trouble("background.undelivered", answered.problem)

    # --- trouble ----------------------------------------------------------------------------------------------------

    def _rescue(self, serving: Serving) -> None:
        """The answer after a surprise: what the queue names, or what the deployment names, or a sentence."""
        if serving.answer.is_given:
            return
        try:
            if serving.step is None and serving.request is not None:
                serving.step = self._fallback(serving.request, serving.context)
                self._carry_out(serving, serving.step)
        except BaseException:
            self._trouble("edge.fault", traceback.format_exc())
        if serving.answer.is_given:
            return
        try:
            serving.answer.give(*built_in(503, NO_GATE))
        except BaseException:
            self._trouble("edge.fault", traceback.format_exc())

    def _fallback(self, request: Request, context: Context | None) -> Decision:
        why = "a fault in the gate"
        if context is None:
            return self._knowledge.on_config_error(request, why)
        match = context.router.match(request.host, request.target, request.method)
        if match is None or match.is_all_exempt:
            return answers.problem(request, 503, why, "try again") if reserved.is_reserved(request.target) else Forward(why)
        queue = match.groups[0][0]
        limit = queue.store_error_admit_per_minute
        if queue.on_store_error == "admit" and limit and self._counters.take_store_error_admission(queue.id, limit, _now_ms()):
            return Forward(f"{why}; let in")
        return answers.held(standing.unavailable(queue, request.now_ms), request, context, why, status=503)

    def _trouble(self, event: str, problem: str) -> None:
        self._around.write_log(json.dumps({"event": event, "at": round(time.time(), 3), "problem": problem}))

    def _trouble_of(self, event: str) -> Any:
        return lambda problem: self._trouble(event, problem)

    def _log_request(self, serving: Serving) -> None:
        if serving.request is None or self._around.setting("STANCHION_LOG_REQUESTS") == "0":
            return
        took_us = int((time.monotonic() - serving.started_s) * 1e6)
        self._around.write_log(request_line(serving.request, serving.step, serving.answer.status, took_us, _now_ms()))


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


def _next(reuse_ms: int) -> tuple[Any, Any] | None:
    """The next request that this sandbox may serve, within `reuse_ms`."""
    try:
        options = http_downstream.NextRequestOptions(timeout_ms=reuse_ms, extra=None)
        found: tuple[Any, Any] | None = http_downstream.await_request(http_downstream.next_request(options))
    except Err:
        return None
    return found


_GATE = Gate()


class HttpIncoming(exports.HttpIncoming):  # type: ignore[misc]
    """The export of the world."""

    def handle(self, request: Any, body: Any) -> None:
        """Serves one request, and those that the platform then hands to the same sandbox."""
        _GATE.serve(request, body)
        while reuse_ms := _GATE.reuse_ms:
            # The handles of a request that was not forwarded are still open, and one sandbox has one request.
            del request, body
            found = _next(reuse_ms)
            if found is None:
                return
            request, body = found
            _GATE.serve(request, body)


# Every path once before the snapshot of the instance: first calls cost most there.
warm.run()
fastly_warm.run(Gate)
warm.settle()
