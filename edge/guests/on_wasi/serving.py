"""One request from its arrival to the end of its answer."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from edge.core.calls import Call, pipeline_body
from edge.core.conclude import conclude
from edge.core.decide import decide
from edge.core.errors import ConfigError
from edge.core.messages import Batch, Decision, Forward, Reply, Request
from edge.guests.builtin import NO_GATE, NO_UPGRADE, built_in
from edge.guests.driver import drive
from edge.guests.log_line import request_line
from edge.guests.on_wasi.answering import Answer
from edge.guests.on_wasi.hop import Headers, is_private, weakest_first
from edge.guests.on_wasi.origin import OriginFailed
from edge.guests.on_wasi.reading import entries_of, method_of, read_request
from edge.guests.on_wasi.surroundings import Surroundings, write_log
from edge.guests.on_wasi.waiting import Deadline
from edge.guests.page_shelf import ReadKv
from edge.guests.rest import DECISION_BUDGET_MS


class Gate:
    """The gate of one instance. `store`: opens the host's own key-value store; without it Redis has the configuration."""

    def __init__(self, store: Callable[[], ReadKv] | None = None) -> None:
        self._store = store
        self._around: Surroundings | None = None

    def serve(self, message: Any, outparam: Any) -> None:
        """Answers a request, whatever happens, and never twice."""
        answer = Answer(outparam, "")
        try:
            method = method_of(message)
            answer = Answer(outparam, method)
            if self._around is None:
                self._around = Surroundings(self._store)
            Serving(self._around, message, method, answer).run()
        except BaseException:  # the last net: any exception that left would end the whole instance
            write_log(json.dumps({"event": "gate.failed", "traceback": traceback.format_exc()}))
            if not answer.is_given:
                answer.give(*built_in(503, NO_GATE))


class Serving:
    """One request."""

    def __init__(self, around: Surroundings, message: Any, method: str, answer: Answer) -> None:
        self._around, self._message, self._answer = around, message, answer
        self._started_ns = time.monotonic_ns()
        self._headers: Headers = entries_of(message)
        self._request: Request = read_request(message, method, self._headers, around.setting)
        self._calls: Sequence[Call] = ()
        self._decision: Decision | None = None

    def run(self) -> None:
        """Decides, answers, and sends what is left to say to Redis."""
        decision = self._decision = self._decide()
        if isinstance(decision, Forward):
            self._forward(decision)
        else:
            self._answer.give(decision.status, decision.headers, decision.content)
        if self._calls:
            # After the answer: no visitor waits for it. Safe to lose: leases end by themselves.
            redis = self._around.redis
            # In full: nobody reads the replies here, so nobody would see that a name is not known.
            body = pipeline_body(self._calls, redis.flavour, whole=True)
            told = redis.send(body, len(self._calls), Deadline(DECISION_BUDGET_MS))
            if told.problem:
                self._around.log("store.failed", id=self._request.request_id, reason=told.problem)
        if self._around.logs_requests:
            self._log()

    def _decide(self) -> Decision:
        deadline = Deadline(DECISION_BUDGET_MS)
        try:
            self._around.refresh()
        except ConfigError as error:
            return self._around.knowledge.on_config_error(self._request, str(error))

        def run(batch: Batch) -> Reply:
            told = self._around.redis.run(batch, deadline)
            if told.problem:
                self._around.log("store.failed", id=self._request.request_id, reason=told.problem)
            return told.reply

        return drive(decide(self._request, self._around.knowledge.context()), run)

    def _forward(self, decision: Forward) -> None:
        def appended(status: int, headers: Headers) -> Headers:
            return self._conclude(decision, status, headers)

        try:
            if "upgrade" in self._request.headers and self._request.headers["upgrade"].lower() != "h2c":
                raise OriginFailed(501, NO_UPGRADE, "an upgrade")
            self._around.origin.forward(self._message, self._headers, self._request, decision, appended, self._answer)
        except OriginFailed as failed:
            self._around.log("origin.failed", id=self._request.request_id, reason=str(failed))
            if self._answer.is_given:
                return  # an answer that broke off ends as a broken one
            status, headers, body = built_in(failed.status, failed.sentence, self._request.header("accept"))
            told = [(name, value.encode()) for name, value in headers]
            # Whoever was just let in keeps the pass, though the origin did not answer.
            headers += [(name, value.decode("latin-1")) for name, value in self._conclude(decision, status, told)]
            self._answer.give(status, headers, body)

    def _conclude(self, decision: Forward, status: int, headers: Headers) -> Headers:
        if not decision.context and not any(is_private(name) for name, _ in headers):
            return []
        pairs = [(name, value.decode("latin-1")) for name, value in headers]
        told = conclude(self._request, decision.context, status, pairs, self._around.knowledge.context())
        if told.note:
            self._around.log(told.event, id=self._request.request_id, why=told.note)
        self._calls = told.calls
        return [(name, value.encode("latin-1", "replace")) for name, value in weakest_first(told.headers)]

    def _log(self) -> None:
        took_us = (time.monotonic_ns() - self._started_ns) // 1000
        write_log(request_line(self._request, self._decision, self._answer.status, took_us))
