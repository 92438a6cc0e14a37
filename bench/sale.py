"""What a crowd that waits costs: commands per waiting visitor-hour at 1, 4 and 30 nodes, and memory per waiting visitor.

`python -m bench.sale` prints both. The crowd is simulated in virtual time with the real scripts in a redis-server of our own.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from bench.report import Report
from edge.core import calls, commands
from sim.people import Person
from sim.run import Run
from sim.sale import Sale
from sim.sale_file import read_sale
from sim.server import Server
from sim.stage import POLL, CallAt, Then
from sim.store import Store
from sim.wire import START_MS

COMMANDS_AT_MOST = 10.0  # per waiting visitor-hour at 4 nodes, presence in the head window apart
BYTES_AT_MOST = 200
NODES = (1, 4, 30)
VISITORS = 100_000
_PACKET = 500
# 10,000 wait for the rate of one a second, as the prototype did; an hour of it, in which 3,600 come in and as many come anew.
_CROWD = """
name = "10,000 waiting"
lasts_s = {lasts_s}
check_every_s = 300
[queue]
admit_per_minute = 60
places_per_network_per_minute = 1000000
[[arrivals]]
people = 10000
to_s = 1
[[arrivals]]
people = {more}
from_s = 1
to_s = {lasts_s}
[people]
visit_s = 60
"""


def crowd(minutes: int) -> Sale:
    """10,000 who wait for so many minutes."""
    return read_sale(_CROWD.format(lasts_s=minutes * 60, more=minutes * 60))


class _Counted(Run):
    """A run that counts the joins of those who come after the first crowd, whose own are not of the hour measured."""

    later_joins = 0

    def ask(self, call_at: CallAt, person: Person, op: str, then: Then, at_ms: int, units: int = 0, tab: int = POLL) -> None:
        """A step of a person goes to Redis."""
        self.later_joins += op == "join" and person.index >= self.sale.arrivals[0].people
        super().ask(call_at, person, op, then, at_ms, units, tab)


def per_hour(store: Store, sale: Sale) -> tuple[float, float]:
    """Commands per waiting visitor-hour: all that serve those who wait, and those for presence in the head window."""
    store.run([["FLUSHALL"]])
    store.sent.clear()
    run = _Counted(sale, store)
    run.go()
    hours, presence = run.tally.presence.hours, run.tally.counts["presence"]
    sent = store.sent["snapshot"] + store.sent["touch"] - presence
    return (sent + run.later_joins) / hours, presence / hours


def bytes_per_visitor(store: Store, visitors: int = VISITORS, account: str = "") -> float:
    """What Redis holds for one who waits, when so many do: everything of the queue, by MEMORY USAGE.

    A thousand join in a second. `account`: what the id of a visitor ends in who came with a key of the site.
    """
    store.run([["FLUSHALL"]])
    queue = crowd(1).queue
    store.call(commands.configure(queue, "0" * 16, new=True, now_ms=START_MS))
    for start in range(0, visitors, _PACKET):
        store.calls([commands.join(queue.scope, f"{number:016x}{account}", "0" * 16, now_ms=START_MS + number)
                     for number in range(start, min(visitors, start + _PACKET))])  # fmt: skip
    used = store.run([["MEMORY", "USAGE", key, "SAMPLES", "0"] for key in calls.keys(queue.scope)])
    return sum(size or 0 for size in used) / visitors


def add_to(report: Report, minutes: int = 5) -> None:
    """Measures on a redis-server of our own and adds the rows of the sale."""
    with Server() as server:
        store = Store(server.port)
        for nodes in NODES:
            needed, presence = per_hour(store, replace(crowd(minutes), nodes=nodes))
            limit = COMMANDS_AT_MOST if nodes == 4 else None
            unit = "per waiting visitor-hour"
            report.at_most(f"commands to Redis, 10,000 waiting, {nodes} nodes", needed, limit, unit)
            report.at_most(f"commands for presence in the head window, {nodes} nodes", presence, None, unit)
        for who, account in (("", ""), (" with an account", ".0")):
            used = bytes_per_visitor(store, account=account)
            report.at_most(f"memory in Redis, {VISITORS:,} waiting{who}", used, BYTES_AT_MOST, "bytes per visitor")
        store.close()


def main() -> int:
    """Prints the table; 1 when a yardstick is missed."""
    report = Report()
    add_to(report)
    print(report.text())
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
