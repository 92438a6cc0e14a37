"""The core driven as a host drives it: real scripts on fakeredis, the test's own clock, and trouble with the store.

A decision is run anew for each step and finds the replies by the names of their batches, as the guest does it; so a name that
is not unique, or a step that does not survive its repetition, fails here.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import fakeredis
import redis.exceptions

from edge.core import commands, pages, scripts
from edge.core.calls import Answer, Call
from edge.core.config import check_config
from edge.core.decide import decide
from edge.core.keyring import Keyring
from edge.core.messages import Batch, Context, Deciding, Decision, Reply, Request
from edge.core.model import ATTRIBUTES, Queue
from edge.core.moments import moment_text
from edge.core.node import NodeCounters
from edge.core.snapshot import Snapshot
from edge.guests.driver import drive
from tests.scripts.backends import Embedded

START_MS = 1_790_000_000_000
BATCHES_AT_MOST = 8
HTML = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
JSON = "application/json"
KEYS = "k1:" + base64.urlsafe_b64encode(b"0123456789abcdef0123456789abcdef").decode()
SLOTTED = ("state", "position", "ahead", "refresh_s", "poll_s", "claim_left_s", "target_url", "status_url", "queue_name", "nonce")

Headers = list[tuple[str, str]]
Fault = Callable[[Batch], Reply | None]


MANUAL: dict[str, Any] = {"manual": True, "admit_per_minute": None, "burst": None}  # values of a queue that an operator runs


def queue(**values: Any) -> dict[str, Any]:
    """The configuration of a queue: `launch` on /launch/*, 10 a minute with a burst of 2, unless `values` say otherwise."""
    if "rate" in values:
        values["admit_per_minute"] = values.pop("rate")
    return {"id": "launch", "name": "Launch day", "routes": [{"path": "/launch/*"}], "admit_per_minute": 10, "burst": 2} | values


def page_of(name: str, language: str, state: str) -> pages.Page:
    """A page that shows which one it is and what is in its slots, one a line."""
    lines = "".join(f"<p>{slot}={{{{{slot}}}}}</p>\n" for slot in SLOTTED if slot != "nonce")
    return pages.compile_page(f"<html><body><p>page={name}/{language}/{state}</p>\n{lines}</body></html>")


def away(ms: int = 6000) -> Fault:
    """No connection since `ms`."""
    return lambda batch: Reply(failed="away", away_ms=ms)


def slow(batch: Batch) -> Reply:
    """No answer within the budget."""
    return Reply(failed="slow")


def busy(batch: Batch) -> Reply:
    """A rate limit of the store."""
    return Reply(failed="busy")


def failing(message: str) -> Fault:
    """The store answers each command with an error."""
    return lambda batch: Reply([{"error": message} for _ in batch.calls])


def only(name: str, fault: Fault) -> Fault:
    """The fault for batches of which the name begins so, and none for others."""
    return lambda batch: fault(batch) if batch.name.startswith(name) else None


@dataclass
class Node:
    """One edge instance: what it knows between requests, and the batches that it sent."""

    context: Context
    batches: list[Batch] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def forget(self) -> list[str]:
        """The names of the scripts called since the last look."""
        names, self.calls = self.calls, []
        self.batches.clear()
        return names


class EmbeddedRedis:
    """The Redis that the local edge embeds: its Lua has all that Redis has, which the draw needs."""

    def __init__(self) -> None:
        self._store = Embedded()

    def flushall(self) -> None:
        self._store.command("FLUSHALL")

    def script_load(self, text: str) -> None:
        self._store.command("SCRIPT", "LOAD", text)

    def execute_command(self, *words: str) -> Any:
        try:
            return self._store.command(*words)
        except redis.exceptions.ResponseError as error:
            if str(error).startswith("NOSCRIPT"):
                raise redis.exceptions.NoScriptError(str(error)) from error
            raise


class World:
    """A Redis, a clock and a configuration. `fault`: what the store does instead of answering. `embedded`: see EmbeddedRedis."""

    def __init__(self, *queues: dict[str, Any], start: bool = True, groups: Sequence[dict[str, Any]] = (),
                 embedded: bool = False) -> None:  # fmt: skip
        self.redis: Any = EmbeddedRedis() if embedded else fakeredis.FakeRedis(version=(7,), decode_responses=True)
        self.redis.flushall()
        for script in scripts.ALL:
            self.redis.script_load(script.text["redis"])
        self.now_ms = START_MS
        self.fault: Fault | None = None
        self.on_reply: Callable[[Batch, Reply], Reply] | None = None  # what happens between a step of Redis and its answer
        self.pages = page_of
        self._count = 0
        self.ring = Keyring.parse(KEYS)
        self.config = check_config({"queues": list(queues) or [queue()], "groups": list(groups)})
        self.nodes: list[Node] = []
        self.node = self.new_node()
        if start:
            for scope in dict.fromkeys(each.scope for each in self.config.queues):
                self.run(commands.configure(self.config.scope(scope)[0], self.hex()[:24], new=True))

    def new_node(self, *, is_alone: bool = False) -> Node:
        """Another edge instance with empty memories. `is_alone`: a sandbox with which nobody shares snapshots."""
        node = Node(Context.make(self.config, self.ring, lambda *key: self.pages(*key), NodeCounters()))
        node.context.is_alone = is_alone
        self.nodes.append(node)
        return node

    def configure(self, *queues: dict[str, Any]) -> None:
        """Publishes another configuration: every node reads it."""
        self.config = check_config({"queues": list(queues)})
        for node in self.nodes:
            before = node.context
            node.context = Context.make(self.config, self.ring, lambda *key: self.pages(*key), before.node)
            node.context.snapshots, node.context.granted = before.snapshots, before.granted

    def rotate(self, keys: str) -> None:
        """Other signing keys on every node."""
        self.ring = Keyring.parse(keys)
        self.configure(*[queue_value(each) for each in self.config.queues])

    def hex(self) -> str:
        """64 hex digits, others each time, the same in each run."""
        self._count += 1
        return hashlib.sha256(str(self._count).encode()).hexdigest()

    def pass_time(self, seconds: float) -> None:
        """Time goes on for everybody."""
        self.now_ms += int(seconds * 1000)

    def live(self, seconds: float) -> None:
        """Time goes on while somebody asks every now and then, so that the clock of the scripts keeps up."""
        for _ in range(round(seconds / 5)):
            self.pass_time(5)
            for each in self.config.queues:
                self.run(commands.take_snapshot(each.scope, self.hex()))

    def queue(self, queue_id: str = "launch") -> Queue:
        """A queue of the configuration."""
        found = self.config.queue(queue_id)
        assert found is not None
        return found

    # --- Redis ------------------------------------------------------------------------------------------------------

    def _one(self, command: Sequence[str]) -> dict[str, Any]:
        patched = list(command)
        patched[3 + int(command[2])] = str(self.now_ms)  # the scripts take the test's time
        try:
            return {"result": self.redis.execute_command(*patched)}
        except redis.exceptions.NoScriptError:
            return {"error": "NOSCRIPT No matching script. Please use EVAL."}
        except redis.exceptions.ResponseError as error:
            return {"error": f"ERR {error}"}

    def run(self, call: Call) -> Answer:
        """One step of an operator."""
        result = self._one(call.eval())
        assert "result" in result, result
        return Answer.read(result["result"])

    def pause(self, queue_id: str = "launch") -> None:
        """Pauses a queue."""
        self.run(commands.control(queue_id, "pause", self.hex(), self.hex()))

    def resume(self, queue_id: str = "launch") -> None:
        """Resumes a queue."""
        self.run(commands.control(queue_id, "resume", self.hex(), self.hex()))

    def reset(self, queue_id: str = "launch") -> None:
        """Begins a new generation."""
        self.run(commands.control(queue_id, "reset", self.hex(), self.hex()))

    def admit(self, count: int, queue_id: str = "launch") -> int:
        """Calls a batch."""
        return self.run(commands.admit(queue_id, count, self.hex(), self.hex())).number(0)

    def snapshot(self, queue_id: str = "launch") -> Snapshot:
        """The full snapshot as it is now."""
        found = self.run(commands.take_snapshot(queue_id, self.hex())).snapshot
        assert found is not None
        return found

    # --- one decision -----------------------------------------------------------------------------------------------

    def _reply(self, batch: Batch, node: Node) -> Reply:
        node.batches.append(batch)
        reply = self.fault(batch) if self.fault else None
        if reply is not None:
            return reply
        node.calls += [call.script.name for call in batch.calls]
        reply = Reply([self._one(command) for command in batch.commands(node.context.flavour)])
        return self.on_reply(batch, reply) if self.on_reply else reply

    def decide(self, request: Request, node: Node | None = None) -> Decision:
        """Runs a decision step by step, each step from the beginning; that of a sandbox by itself straight on."""
        node = node or self.node
        if node.context.is_alone:
            return drive(decide(request, node.context), lambda batch: self._reply(batch, node))
        replies: dict[str, Reply] = {}
        for _ in range(BATCHES_AT_MOST):
            step = _step(decide(request, node.context), replies)
            if not isinstance(step, Batch):
                assert step.why
                return step
            assert step.name not in replies
            replies[step.name] = self._reply(step, node)
        raise AssertionError(f"more than {BATCHES_AT_MOST} batches: {list(replies)}")


def _step(deciding: Deciding, replies: Mapping[str, Reply]) -> Batch | Decision:
    """A decision as far as the replies go; where it stops, it is dropped."""
    try:
        batch = next(deciding)
        while batch.name in replies:
            batch = deciding.send(replies[batch.name])
    except StopIteration as done:
        decision: Decision = done.value
        return decision
    deciding.close()
    return batch


def queue_value(each: Queue) -> dict[str, Any]:
    """The configuration value that a queue without a group was read from."""
    value = {key: getattr(each, name) for key, name in ATTRIBUTES.items()}
    for key in ("prequeue_at", "opens_at", "closes_at"):
        value[key] = None if value[key] is None else moment_text(value[key])
    value = {key: list(item) if isinstance(item, tuple) else item for key, item in value.items()}
    value["lanes"] = [asdict(lane) for lane in each.lanes]
    value["routes"] = [asdict(route) | {"methods": list(route.methods)} for route in each.routes]
    return value


def recorded(world: World) -> list[Reply]:
    """The replies of the store from now on."""
    replies: list[Reply] = []

    def record(batch: Batch, reply: Reply) -> Reply:
        replies.append(reply)
        return reply

    world.on_reply = record
    return replies
