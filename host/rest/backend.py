"""What the REST door needs of a Redis behind it, whichever kind that is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from host.rest.replies import Reply, ReplyError
from host.rest.requests import Command


class BackendAway(Exception):
    """Redis cannot be reached, or did not answer in time. The text says where and why, without credentials."""


class Backend(Protocol):
    """A Redis. Each method that asks Redis raises BackendAway when it cannot answer."""

    kind: str
    """`embedded`, `redis` or `redis-cluster`."""

    async def start(self) -> None:
        """Makes ready. Redis need not be up: that is told by the first command and by the health page."""

    async def close(self) -> None:
        """Closes every connection."""

    async def run(self, commands: Sequence[Command]) -> list[Reply]:
        """Runs the commands in order, not atomically; one reply each."""

    async def transaction(self, commands: Sequence[Command]) -> list[Reply] | ReplyError:
        """Runs the commands atomically; a ReplyError when the transaction was discarded as a whole."""

    def subscribe(self, command: Command) -> AbstractAsyncContextManager[AsyncIterator[list[Reply]]]:
        """The messages that follow a SUBSCRIBE or PSUBSCRIBE command, from the confirmation on."""


#: The text that Redis itself gives; the first reason is added because a REST client cannot see the queueing
#: replies.
_EXEC_ABORT = "EXECABORT Transaction discarded because of previous errors."


def discarded(first_error: ReplyError | None) -> ReplyError:
    """The one error of a discarded transaction."""
    return ReplyError(_EXEC_ABORT if first_error is None else f"{_EXEC_ABORT} First error: {first_error.text}")


def exec_result(replies: Sequence[Reply]) -> list[Reply] | ReplyError:
    """The outcome of the replies to MULTI, the queued commands and EXEC."""
    last = replies[-1]
    if isinstance(last, list):
        return last
    errors = (reply for reply in replies[:-1] if isinstance(reply, ReplyError))
    return discarded(next(errors, last if isinstance(last, ReplyError) else None))
