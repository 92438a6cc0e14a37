"""What a queue step costs the Redis server, against a bare script with the same keys.

`python -m bench.redis_scripts` starts a redis-server of its own, prints a table and exits 1 when a join or a
claim costs more than ten bare scripts. Times are the server's own (INFO commandstats), the best of several rounds.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import redis

from bench.programs import free_port, redis_command, running
from bench.report import Report
from edge.core import commands, scripts
from edge.core.calls import Answer, Call
from edge.core.model import QUEUE, Queue
from edge.core.scripts import Script

AT_MOST = {"join": 10.0, "join with an account": 10.0, "claim": 10.0}
NOISE = 0.5  # a best of several rounds still varies by this much
ROUNDS = 6
VISITORS = 4_000
BATCH = 200  # commands in one pipeline
RANDOM = "0123456789abcdef"
_SCOPE = "bench"
_BARE = Script("bare", {"redis": "return 1"}, {"redis": "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"})


def _queue(manual: bool) -> Queue:
    """With every limit set: wide for the claims, narrow for those who join behind the window."""
    limits = (1_000_000, 100_000, 1_000_000, 1_000_000) if manual else (60, 10, 100, 1_000)
    named = dict(zip(("admit_per_minute", "burst", "max_active", "inventory"), limits, strict=True))
    values = {
        "id": _SCOPE,
        "name": "Bench",
        "routes": [{"host": "*", "path": "/*"}],
        "manual": manual,
    } | named
    built: Queue = QUEUE.check(values, "")
    return built


class _Server:
    """A connection that pipelines calls and knows what the server says they cost."""

    def __init__(self, port: int) -> None:
        connect: Any = redis.Connection
        self._connection = connect(host="127.0.0.1", port=port, protocol=2)

    def send(self, words: list[list[str]]) -> list[Any]:
        packed = self._connection.pack_commands([tuple(command) for command in words])
        self._connection.send_packed_command(packed)
        return [self._connection.read_response() for _ in words]

    def ask(self, *words: str) -> Any:
        return self.send([list(words)])[0]

    def load(self) -> None:
        for script in (*scripts.ALL, _BARE):
            self.ask("SCRIPT", "LOAD", script.text["redis"])

    def run(self, calls: list[Call]) -> list[Any]:
        replies: list[Any] = []
        for start in range(0, len(calls), BATCH):
            replies += self.send([call.evalsha() for call in calls[start : start + BATCH]])
        return replies

    def cost_us(self, calls: list[Call]) -> float:
        """Microseconds in the server for one of `calls`, in the quietest pipeline."""
        costs = []
        for start in range(0, len(calls), BATCH):
            batch = calls[start : start + BATCH]
            self.ask("CONFIG", "RESETSTAT")
            self.run(batch)
            lines = self.ask("INFO", "commandstats").decode().splitlines()
            (line,) = (each for each in lines if "cmdstat_evalsha:" in each)
            fields = dict(field.split("=") for field in line.split(":", 1)[1].split(","))
            if int(fields["calls"]) != len(batch) or int(fields["failed_calls"]):
                raise RuntimeError(f"not every call ran: {line}")
            costs.append(int(fields["usec"]) / len(batch))
        return min(costs)


def _decoded(reply: Any) -> Any:
    if isinstance(reply, list):
        return [_decoded(item) for item in reply]
    return reply.decode() if isinstance(reply, bytes) else reply


def _verdicts(replies: list[Any]) -> set[str]:
    return {Answer.read(_decoded(reply)).verdict for reply in replies}


def _begin(server: _Server, manual: bool, events: bool = False) -> str:
    server.ask("FLUSHALL")
    (reply,) = server.run([commands.configure(replace(_queue(manual), events=events), RANDOM, new=True)])
    answer = Answer.read(_decoded(reply))
    assert answer.snapshot is not None
    return answer.snapshot.epoch


def _joins(prefix: str, count: int, account: str = "") -> list[Call]:
    return [commands.join(_SCOPE, f"{prefix}-{number:016d}{account}", RANDOM) for number in range(1, count + 1)]


def _join_us(server: _Server, events: bool, account: str = "") -> float:
    """Microseconds of a join behind the window. `account`: what the id of a visitor ends in who came with a key of the site."""
    _begin(server, manual=False, events=events)
    server.run(_joins("before", 2_000, account))
    joins = _joins("measured", VISITORS, account)
    cost = server.cost_us(joins)
    assert _verdicts(server.run(joins[:100])) == {"waiting"}
    return cost


def _claim_us(server: _Server, events: bool) -> tuple[float, str]:
    """Microseconds of a claim, and the epoch in which all are inside now."""
    epoch = _begin(server, manual=True, events=events)
    assert _verdicts(server.run(_joins("v", VISITORS))) == {"waiting"}
    server.run([commands.admit(_SCOPE, 500, f"r{number}", RANDOM) for number in range(-(-VISITORS // 500))])
    claims = [commands.touch(_SCOPE, epoch, number, f"v-{number:016d}", RANDOM, wants_in=True)
              for number in range(1, VISITORS + 1)]  # fmt: skip
    cost = server.cost_us(claims)
    assert _verdicts(server.run(claims[:100])) == {"inside"}
    return cost, epoch


def _round(server: _Server) -> dict[str, float]:
    """Microseconds of each step and of the bare script, once; join and claim with the event stream too."""
    bare = [Call(_BARE, _SCOPE, ("", RANDOM)) for _ in range(VISITORS)]
    costs = {"join, events": _join_us(server, events=True), "claim, events": _claim_us(server, events=True)[0]}
    costs["join"] = _join_us(server, events=False)
    costs["join with an account"] = _join_us(server, events=False, account=".0")
    costs["bare"] = server.cost_us(bare)
    costs["claim"], epoch = _claim_us(server, events=False)
    far_ms = round(time.time() * 1000) + 200_000
    renewals = [commands.renew(_SCOPE, epoch, number, f"v-{number:016d}", far_ms, RANDOM)
                for number in range(1, VISITORS + 1)]  # fmt: skip
    costs["renew"] = server.cost_us(renewals)
    costs["snapshot"] = server.cost_us([commands.take_snapshot(_SCOPE, RANDOM) for _ in range(VISITORS)])
    costs["bare"] = min(costs["bare"], server.cost_us(bare))
    return costs


def measure_us(port: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Server microseconds of each step and of the bare script at `port`, which is emptied: the best rounds."""
    server = _Server(port)
    server.load()
    seen = [_round(server) for _ in range(rounds)]
    server.ask("FLUSHALL")
    return {name: min(costs[name] for costs in seen) for name in seen[0]}


def measure(port: int, rounds: int = ROUNDS) -> dict[str, float]:
    """How many bare scripts with the same keys each step costs. Empties the server at `port`."""
    costs = measure_us(port, rounds)
    return {name: cost / costs["bare"] for name, cost in costs.items() if name != "bare"}


@contextmanager
def redis_server() -> Iterator[int]:
    """The port of a redis-server of our own. Raises FileNotFoundError when there is none on this machine."""
    if shutil.which("redis-server") is None:
        raise FileNotFoundError("redis-server is not installed: apt-get install redis-server")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, running([*redis_command(port), "--dir", folder], port, {}):
        yield port


def add_to(report: Report) -> None:
    """Measures on a redis-server of our own and adds the rows of the scripts to `report`."""
    with redis_server() as port:
        ratios = measure(port)
    for name, ratio in ratios.items():
        report.at_most(f"{name}, server time", ratio, AT_MOST.get(name), "x a bare script")


def main() -> int:
    """Prints the table; 1 when a yardstick is missed."""
    with redis_server() as port:
        costs = measure_us(port)
    missed = 0
    print(f"{'step':22} {'us':>7} {'bare':>6}  yardstick")
    for name, cost in costs.items():
        ratio, most = cost / costs["bare"], AT_MOST.get(name)
        is_missed = most is not None and ratio > most + NOISE
        missed += is_missed
        print(
            f"{name:22} {cost:7.2f} {ratio:6.1f}  {f'<= {most:.0f}' if most else ''}{'  MISSED' if is_missed else ''}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
