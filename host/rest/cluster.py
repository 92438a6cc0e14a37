"""A Redis Cluster. A command goes to the primary that owns its keys' slot; without keys to one or to all primaries.

The keys of one command (and of one transaction) must share a hash tag, as in `{sale}:state` and
`{sale}:seen`; otherwise Redis answers CROSSSLOT. A pipeline may touch many slots: it is cut into one real
pipeline for each node, its replies come back in the order of the commands, and commands for the same node
keep their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from host.rest.backend import BackendAway, discarded, exec_result
from host.rest.keys import first_key
from host.rest.node import Node
from host.rest.replies import Reply, ReplyError, Status
from host.rest.requests import Command
from host.rest.single import subscription
from host.rest.topology import Topology, redirection

#: Redirections that one command follows. A move of slots needs one or two.
MAX_REDIRECTIONS = 4
_OK = Status(b"OK")


class ClusterBackend:
    """Backend over a Redis Cluster (see `backend.Backend`)."""

    kind = "redis-cluster"

    def __init__(self, topology: Topology) -> None:
        self._topology = topology

    async def start(self) -> None:
        """Nothing to do: the slots are asked for when they are needed."""

    async def close(self) -> None:
        """Closes every connection."""
        await self._topology.close()

    async def run(self, commands: Sequence[Command]) -> list[Reply]:
        """Runs the commands; those of an unreachable node answer an error each. Raises BackendAway if all do."""
        pipeline = _Pipeline(commands)
        groups = await self._by_node(pipeline)
        await asyncio.gather(
            *(self._run_group(pipeline, node, indexes) for node, indexes in groups.items()),
            *(self._run_everywhere(pipeline, index) for index, command in enumerate(commands) if _everywhere(command)),
        )
        if pipeline.away:
            await self._learn_of_failover()
        return pipeline.results()

    async def transaction(self, commands: Sequence[Command]) -> list[Reply] | ReplyError:
        """MULTI and EXEC on the node of the first key. Raises BackendAway."""
        key = next((key for key in map(first_key, commands) if key is not None), None)
        if key is None:
            return discarded(ReplyError("ERR a transaction on a cluster needs a command with a key"))
        for _ in range(MAX_REDIRECTIONS):
            node = await self._owner(key)
            replies = await node.exchange([[b"MULTI"], *commands, [b"EXEC"]])
            if not any(isinstance(reply, ReplyError) and redirection(reply.text) for reply in replies):
                break
            await self._topology.refresh()
        return exec_result(replies)

    def subscribe(self, command: Command) -> AbstractAsyncContextManager[AsyncIterator[list[Reply]]]:
        """Messages from any node: a cluster hands every PUBLISH to all of them. Raises BackendAway."""

        @asynccontextmanager
        async def messages() -> AsyncIterator[AsyncIterator[list[Reply]]]:
            primaries = await self._topology.primaries()
            async with subscription(primaries[0], command) as stream:
                yield stream

        return messages()

    async def _owner(self, key: bytes | None) -> Node:
        if key is not None:
            return await self._topology.owner(key)
        return (await self._topology.primaries())[0]

    async def _by_node(self, pipeline: _Pipeline) -> dict[Node, list[int]]:
        groups: dict[Node, list[int]] = {}
        for index, command in enumerate(pipeline.commands):
            if command[0].upper() == b"SCAN":
                pipeline.replies[index] = ReplyError("ERR SCAN is not offered on a cluster: a cursor belongs to one node")
            elif not _everywhere(command):
                try:
                    groups.setdefault(await self._owner(first_key(command)), []).append(index)
                except BackendAway as error:
                    pipeline.away[index] = error
        return groups

    async def _run_group(self, pipeline: _Pipeline, node: Node, indexes: list[int]) -> None:
        try:
            answers = await node.exchange([pipeline.commands[index] for index in indexes])
        except BackendAway as error:
            pipeline.away |= dict.fromkeys(indexes, error)
            return
        for index, answer in zip(indexes, answers, strict=True):
            try:
                pipeline.replies[index] = await self._follow(node, pipeline.commands[index], answer)
            except BackendAway as error:
                pipeline.away[index] = error

    async def _learn_of_failover(self) -> None:
        with suppress(BackendAway):  # the command's own error says enough; the next one asks again
            await self._topology.refresh()

    async def _follow(self, node: Node, command: Command, answer: Reply) -> Reply:
        for _ in range(MAX_REDIRECTIONS):
            target = redirection(answer.text) if isinstance(answer, ReplyError) else None
            if target is None:
                break
            word, host, port = target
            node = self._topology.node(host or node.name.rpartition(":")[0], port)
            if word == "ASK":
                # ASKING holds for the next command on the same connection only, so both travel together.
                answer = (await node.exchange([[b"ASKING"], command]))[1]
            else:
                answer = (await node.exchange([command]))[0]
                await self._learn_of_failover()
        return answer

    async def _run_everywhere(self, pipeline: _Pipeline, index: int) -> None:
        command = pipeline.commands[index]
        try:
            primaries = await self._topology.primaries()
            answers = [reply for (reply,) in await asyncio.gather(*(node.exchange([command]) for node in primaries))]
            pipeline.replies[index] = _combined(command, answers)
        except BackendAway as error:
            pipeline.away[index] = error


class _Pipeline:
    """One run: a reply for each command, or why its node could not answer."""

    def __init__(self, commands: Sequence[Command]) -> None:
        self.commands = commands
        self.replies: list[Reply] = [None] * len(commands)
        self.away: dict[int, BackendAway] = {}

    def results(self) -> list[Reply]:
        """The replies in order. Raises BackendAway when no command could be answered."""
        if len(self.away) == len(self.commands):
            raise next(iter(self.away.values()))
        for index, error in self.away.items():
            self.replies[index] = ReplyError(f"ERR backend unavailable: {error}")
        return self.replies


def _everywhere(command: Command) -> bool:
    name = command[0].upper()
    return name in (b"FLUSHALL", b"FLUSHDB", b"DBSIZE", b"KEYS") or (
        name in (b"SCRIPT", b"FUNCTION") and len(command) > 1 and command[1].upper() in (b"LOAD", b"EXISTS", b"FLUSH", b"DELETE")
    )


def _combined(command: Command, answers: list[Reply]) -> Reply:
    """One reply from those of all primaries: the sum, the union, or what all agree on."""
    for answer in answers:
        if isinstance(answer, ReplyError):
            return answer
    if command[0].upper() == b"DBSIZE":
        return sum(answer for answer in answers if isinstance(answer, int))
    lists = [answer for answer in answers if isinstance(answer, list)]
    if command[0].upper() == b"KEYS":
        return [item for answer in lists for item in answer]
    if lists:  # SCRIPT EXISTS: a script exists when every node has it
        return [int(all(flags)) for flags in zip(*lists, strict=True)]
    return answers[0] if answers else _OK
