"""The guest for our own world (`wit/gatekeeper.wit`): text in, core, text out.

One instance serves many requests in flight, so nothing of a request outlives its call: each call runs the decision from
its start and finds the replies by the names of their batches.
"""

from __future__ import annotations

import contextlib
import json

from edge.guests import no_ssl  # isort: skip  # before anything imports jwt
import wit_world
from wit_world.imports import kv, log, secrets, settings

from edge.core.conclude import ANSWER_HEADERS, conclude
from edge.core.decide import decide
from edge.core.errors import ConfigError
from edge.core.lanes import rule_headers
from edge.core.messages import Batch, Decision, Forward, Reply, Request, Respond
from edge.guests import crossing, sample_sale, warm
from edge.guests.knowledge import Knowledge
from edge.guests.rehearsal import Replies, playing

VERSION = "0.1.0"


def _read_kv(key: str) -> str | None:
    found = kv.get(key)
    if isinstance(found, kv.Lookup_Failed):
        raise OSError(found.value)
    return found.value if isinstance(found, kv.Lookup_Found) else None


assert no_ssl


def _nothing_known() -> Knowledge:
    return Knowledge(_read_kv, settings.get, secrets.get, log.write)


_KNOWLEDGE = _nothing_known()


def _run(request: Request, replies: dict[str, Reply]) -> Batch | Decision:
    """The decision as far as the replies go."""
    context = _KNOWLEDGE.context()
    deciding = decide(request, context)
    try:
        batch = next(deciding)
        while (reply := replies.get(batch.name)) is not None:
            batch = deciding.send(reply)
    except StopIteration as done:
        decision: Decision = done.value
        return decision
    return batch


class WitWorld(wit_world.WitWorld):
    """The exports of the world."""

    def wants(self) -> str:
        """What the host has to know, as the configuration stands now: lanes may be entered by a header that the site names."""
        headers = set(crossing.REQUEST_HEADERS)
        with contextlib.suppress(ConfigError):  # without a configuration no lane is entered
            _KNOWLEDGE.refresh("")
            headers |= rule_headers(_KNOWLEDGE.context().config.queues)
        return json.dumps({"version": VERSION, "headers": sorted(headers), "answer_headers": ANSWER_HEADERS,
                           "private_prefix": "stanchion-"})  # fmt: skip

    def decide(self, request: str, replies: str) -> str:
        """One step of a decision."""
        asked, generation = crossing.read_request(request)
        try:
            _KNOWLEDGE.refresh(generation)
        except ConfigError as error:
            return crossing.write_decision(_without_configuration(asked, str(error)))
        step = _run(asked, crossing.read_replies(replies))
        if isinstance(step, Batch):
            return crossing.write_batch(step, _KNOWLEDGE.context().flavour)
        return crossing.write_decision(step)

    def conclude(self, request: str, context: str, answer: str) -> str:
        """The gate's part in the origin's answer."""
        asked, generation = crossing.read_request(request)
        try:
            _KNOWLEDGE.refresh(generation)
        except ConfigError:
            return crossing.write_conclusion((), ())
        status, headers = crossing.read_answer(answer)
        conclusion = conclude(asked, context, status, headers, _KNOWLEDGE.context())
        if conclusion.note:
            log.write(json.dumps({"event": conclusion.event, "why": conclusion.note, "request": asked.request_id}))
        # In full: nobody reads the replies here, so nobody would see that a name is not known.
        flavour = _KNOWLEDGE.context().flavour
        return crossing.write_conclusion(conclusion.headers, [call.eval(flavour) for call in conclusion.calls])


def _without_configuration(request: Request, problem: str) -> Forward | Respond:
    return _KNOWLEDGE.on_config_error(request, problem)


def _rehearse() -> None:
    """Whole requests against a host that is played, each time by a guest that knows nothing yet."""
    global _KNOWLEDGE
    kept = {key: kv.Lookup_Found(value.decode()) for key, value in sample_sale.store().items()}
    replies: Replies = {"kv.get": lambda key: kept.get(key) or kv.Lookup_Absent(), "secrets.get": lambda name: sample_sale.KEYS,
                        "settings.get": lambda name: None, "write": lambda line: None}  # fmt: skip
    cookies = sample_sale.cookies()
    with playing(replies):
        for _ in range(warm.TIMES):
            for path, who, accept, status in sample_sale.REQUESTS:
                _KNOWLEDGE = _nothing_known()
                ended = sample_sale.local(WitWorld(), path, cookies[who], accept)
                assert ended == ("forward" if status == 200 and "status" not in path else f"respond {status}"), f"{path}: {ended}"
    _KNOWLEDGE = _nothing_known()


# Every path once before the snapshot of the instance: first calls cost most there.
warm.run()
_rehearse()
warm.settle()
