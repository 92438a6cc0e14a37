"""Redis over REST by the outgoing handler, within one deadline for all that a decision asks."""

from __future__ import annotations

import time
from typing import Any

from edge.core.messages import Batch, Reply
from edge.core.scripts import Flavour
from edge.guests.on_wasi.address import Address
from edge.guests.on_wasi.api import Err, Ok, new_request_options, outgoing_handler, types
from edge.guests.on_wasi.waiting import Broken, Deadline, Late, read_all, write_all
from edge.guests.rest import CONTENT_TYPE, Answered, failed, read_answer

CONNECT_MS = 400
# After this many failures in a row nobody waits for it; one request in a while finds it back.
FAILURES_TO_PAUSE = 3
PAUSE_MS = 1_000
_LATE = "no answer within the time budget"
_NS_PER_MS = 1_000_000


class Redis:
    """The client. It remembers, as long as its instance lives, when the server last answered anything."""

    def __init__(self, address: Address, token: str, flavour: Flavour) -> None:
        self._address, self._token, self.flavour = address, token, flavour
        self._answered_ns = time.monotonic_ns()
        self._failures = 0
        self._paused_until_ns = 0
        self._shared: dict[str, tuple[int, Reply]] = {}

    def run(self, batch: Batch, deadline: Deadline) -> Answered:
        """Runs a batch of a decision; a shared one that fails brings its last good answer along."""
        asked_ns = time.monotonic_ns()
        told = self.send(batch.body(self.flavour), len(batch.calls), deadline)
        name = batch.name.removesuffix(" in full")
        if not told.reply.failed:
            if batch.is_shared and not any("error" in result for result in told.reply.results):
                self._shared[name] = (asked_ns, told.reply)
            return told
        kept = self._shared.get(name) if batch.is_shared else None
        if kept is not None:
            age_ms = (time.monotonic_ns() - kept[0]) // _NS_PER_MS
            told.reply.stale = Reply(kept[1].results, age_ms)
        return told

    def send(self, body: str, count: int, deadline: Deadline) -> Answered:
        """Sends a pipeline of `count` commands. Raises nothing: no answer is an answer too."""
        if self._paused_until_ns and time.monotonic_ns() < self._paused_until_ns:
            return self._noted(failed("away", "not asked: it did not answer the last times"))
        left_ms = deadline.left_ms()
        if left_ms == 0:
            return self._noted(failed("slow", "the time budget was used up before this batch"))
        try:
            status, content = self._post(body.encode(), left_ms, deadline)
            told = read_answer(status, content, count)
        except Late:
            told = failed("slow", _LATE)
        except (Err, Broken) as error:
            told = failed("away", f"{type(error).__name__}: {getattr(error, 'value', error)}"[:200])
        self._count(told.reply.failed)
        return self._noted(told)

    def _count(self, failure: str) -> None:
        now_ns = time.monotonic_ns()
        if failure in ("", "busy"):
            self._answered_ns, self._failures = now_ns, 0
            return
        self._failures += 1
        if self._failures >= FAILURES_TO_PAUSE:
            self._paused_until_ns = now_ns + PAUSE_MS * _NS_PER_MS

    def _noted(self, told: Answered) -> Answered:
        if told.reply.failed:
            told.reply.away_ms = (time.monotonic_ns() - self._answered_ns) // _NS_PER_MS
        return told

    def _post(self, content: bytes, left_ms: int, deadline: Deadline) -> tuple[int, bytes]:
        """Status and body of the answer. Raises Late, Broken or Err."""
        headers = [("content-type", CONTENT_TYPE), ("content-length", str(len(content))),
                   ("authorization", f"Bearer {self._token}")]  # fmt: skip
        fields = types.Fields.from_list([(name, value.encode("latin-1")) for name, value in headers])
        request = self._address.request(fields, types.Method_Post(), "/pipeline")
        body = request.body()
        with outgoing_handler.handle(request, connect_timeout(min(CONNECT_MS, left_ms))) as future:
            try:
                with body.write() as stream:
                    write_all(stream, content, deadline)
                types.OutgoingBody.finish(body, None)
            except (Broken, Err):
                pass  # the answer tells, or the lack of one
            with answer_of(future, deadline) as response:
                status: int = response.status()
                with response.consume() as incoming, incoming.stream() as stream:
                    return status, read_all(stream, deadline)


def connect_timeout(connect_ms: int) -> Any:
    """The platform's own timeout of the connection, for hosts that have one; `answer_of` waits no longer than its deadline."""
    options = new_request_options([])
    options.set_connect_timeout(connect_ms * _NS_PER_MS)
    return options


def answer_of(future: Any, deadline: Deadline) -> Any:
    """The response that was promised. Raises Late, or Err with the platform's error code."""
    deadline.wait_for(future)
    outcome = future.get()
    while outcome is None:  # a host that wakes us too early
        deadline.wait_for(future)
        outcome = future.get()
    for _ in range(2):  # whether it was taken before, then whether it came
        if not isinstance(outcome, Ok):
            raise outcome
        outcome = outcome.value
    return outcome
