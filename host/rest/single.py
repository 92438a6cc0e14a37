"""A single real Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from host.rest.backend import exec_result
from host.rest.node import Node, pack
from host.rest.replies import Reply, ReplyError
from host.rest.requests import Command


class SingleBackend:
    """Backend over one Redis server (see `backend.Backend`)."""

    kind = "redis"

    def __init__(self, node: Node) -> None:
        self._node = node

    async def start(self) -> None:
        """Nothing to do: connections are made when they are needed."""

    async def close(self) -> None:
        """Closes the pool."""
        await self._node.close()

    async def run(self, commands: Sequence[Command]) -> list[Reply]:
        """One write, one read of all replies: a real pipeline. Raises BackendAway."""
        return await self._node.exchange(commands)

    async def transaction(self, commands: Sequence[Command]) -> list[Reply] | ReplyError:
        """MULTI, the commands and EXEC in one write. Raises BackendAway."""
        return exec_result(await self._node.exchange([[b"MULTI"], *commands, [b"EXEC"]]))

    def subscribe(self, command: Command) -> AbstractAsyncContextManager[AsyncIterator[list[Reply]]]:
        """Messages over a connection of its own. Raises BackendAway."""
        return subscription(self._node, command)


@asynccontextmanager
async def subscription(node: Node, command: Command) -> AsyncIterator[AsyncIterator[list[Reply]]]:
    """Sends the command on a fresh connection of the node and yields what follows."""
    connection = await node.dedicated()

    async def messages() -> AsyncIterator[list[Reply]]:
        while True:
            message = await connection.read_response(disable_decoding=True, disconnect_on_error=False)
            if not isinstance(message, list):
                return  # an error reply: the subscription is over
            yield message

    try:
        await connection.send_packed_command(pack([command]), check_health=False)
        yield messages()
    finally:
        await connection.disconnect(nowait=True)
