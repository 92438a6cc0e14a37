"""Commands to Redis, many in one packet, their answers read in the same order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from redis.exceptions import RedisError, ResponseError

from edge.core import scripts
from edge.core.calls import Answer, Call
from sim.server import connect


@lru_cache(maxsize=64)
def _head(sha: str, keys: tuple[str, ...]) -> bytes:
    """What all calls of one script to one queue begin with."""
    return b"".join(_bulk(word) for word in ("EVALSHA", sha, str(len(keys)), *keys))


def _bulk(word: str) -> bytes:
    data = word.encode()
    return b"$%d\r\n%b\r\n" % (len(data), data)


def _packed(call: Call) -> bytes:
    """EVALSHA as bytes (the RESP protocol): what never changes is made once."""
    count = 3 + len(call.keys) + len(call.args)
    return b"".join((b"*%d\r\n" % count, _head(call.script.sha["redis"], call.keys), *map(_bulk, call.args)))


class StoreFailed(Exception):
    """Redis answered with an error: nothing that a sale may meet, so the run ends."""


class Store:
    """One connection. `sent` counts what edges would have sent, by name of script.

    Scripts may be posted, so that Redis works on them while the sale goes on, and their answers collected later; nothing else is
    asked in between.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: Any = None
        self._posted = 0
        self.sent: Counter[str] = Counter()
        self.reconnect()

    def reconnect(self) -> None:
        """Connects (again) and makes sure that every script is known, as it is to a server that has run for a while."""
        try:
            self._connection = connect(self._port)
        except (RedisError, OSError) as error:
            raise StoreFailed(f"no Redis answers on port {self._port}: {error}") from error
        self._posted = 0
        self.run([["SCRIPT", "LOAD", script.text["redis"]] for script in scripts.ALL])

    def close(self) -> None:
        """Lets go of the connection."""
        self._connection.disconnect()

    def run(self, commands: Sequence[Sequence[str]]) -> list[Any]:
        """Replies to plain commands, in order. Raises StoreFailed; RuntimeError while answers are to be collected."""
        self._expect_none()
        self._send(self._connection.pack_commands(commands))
        return self._replies(len(commands))

    def _expect_none(self) -> None:
        if self._posted:
            raise RuntimeError(f"{self._posted} answers have to be collected first")

    def _send(self, packed: list[bytes]) -> None:
        try:
            self._connection.send_packed_command(packed)
        except (RedisError, OSError) as error:
            raise StoreFailed(f"Redis went away: {error}") from error

    def _replies(self, count: int) -> list[Any]:
        connection = self._connection
        try:
            return [connection.read_response() for _ in range(count)]
        except ResponseError as error:
            raise StoreFailed(f"Redis refused a command: {error}") from error
        except (RedisError, OSError) as error:
            raise StoreFailed(f"Redis went away: {error}") from error

    def post(self, calls: Sequence[Call]) -> None:
        """Sends scripts whose answers are collected later. Raises StoreFailed."""
        sent, packet = self.sent, []
        for call in calls:
            sent[call.script.name] += 1
            packet.append(_packed(call))
        self._send([b"".join(packet)])
        self._posted += len(packet)

    def collect(self) -> list[Answer]:
        """The answers of all that was posted, in order. Raises StoreFailed."""
        count, self._posted = self._posted, 0
        return [Answer.read(reply) for reply in self._replies(count)]

    def call(self, call: Call) -> Answer:
        """The answer of one script. Raises StoreFailed; RuntimeError while answers are to be collected."""
        return self.calls([call])[0]

    def calls(self, calls: Sequence[Call]) -> list[Answer]:
        """Answers of scripts, in order. Raises StoreFailed; RuntimeError while answers are to be collected."""
        self._expect_none()
        self.post(calls)
        return self.collect()
