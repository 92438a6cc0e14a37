"""The connection of a walk: all steps from one state in one round trip; the state itself is sent once."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import redis

from edge.core import calls, scripts
from edge.core.calls import Answer, Call
from tests.scripts.walk.people import SCOPE
from tests.scripts.walk.view import FIELDS

_TURN = resources.files(__package__).joinpath("turn.lua").read_text(encoding="utf-8")
_KEPT = f"{{{SCOPE}}}:kept"  # the state to which every step goes back


class Wire:
    """Runs steps in the Redis at `port`, whose database it takes for itself."""

    def __init__(self, port: int) -> None:
        self._redis: Any = redis.Connection(host="127.0.0.1", port=port, protocol=2)  # type: ignore[no-untyped-call]
        keys = (*calls.keys(SCOPE), _KEPT)
        sha = self._ask("SCRIPT", "LOAD", _TURN).decode()
        self._turn = _packed("EVALSHA", sha, str(len(keys)), *keys, *FIELDS)
        self.load_scripts()

    def load_scripts(self) -> None:
        """Makes all scripts known to the server."""
        for script in scripts.ALL:
            self._ask("SCRIPT", "LOAD", script.text["redis"])

    def close(self) -> None:
        """Lets go of the connection."""
        self._redis.disconnect()

    def begin(self, configure: Call) -> bytes:
        """A store with nothing but a new queue; what it holds."""
        self._ask("FLUSHDB")
        self._ask(*configure.evalsha())
        told: bytes = self._send([self._turn])[0]
        return told

    def each(self, blob: bytes, calls: Sequence[Call]) -> list[tuple[Answer, bytes]]:
        """From the state of `blob`, each call by itself: its answer, and what the store holds then."""
        words = [_packed("SET", _KEPT, blob), self._turn]
        for call in calls:
            words += [_packed(*call.evalsha()), self._turn]
        replies = self._send(words)[2:]
        return [(_read(said), told) for said, told in zip(replies[::2], replies[1::2], strict=True)]

    def _ask(self, *words: str) -> Any:
        return self._send([_packed(*words)])[0]

    def _send(self, commands_: Sequence[bytes]) -> list[Any]:
        self._redis.send_packed_command([b"".join(commands_)])
        return [self._redis.read_response() for _ in commands_]


def _packed(*words: str | bytes) -> bytes:
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word if isinstance(word, bytes) else word.encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)


def _read(said: Any) -> Answer:
    """The verdict and its details; the snapshot that rides along has tests of its own."""
    verdict, *details = (word.decode() if isinstance(word, bytes) else str(word) for word in said[0])
    return Answer(verdict, tuple(details), None)
