"""A crowd in virtual time: visitors who poll as the edges tell them to, and some who go silent.

Each holds a cookie (place, last sign of life) and asks every `poll_s`. A poll reads the shared snapshot, at
most half a second old, and reaches the store only when the edge would send it there.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable
from dataclasses import dataclass, field

from edge.core import admission
from edge.core.snapshot import Snapshot
from tests.scripts.line import START_MS, Line, Ticket

SNAPSHOT_MAX_AGE_MS = 500


@dataclass
class Person:
    """One visitor. `silent_from_ms`: closes the tab then; `stays_ms`: how long a visit lasts."""

    name: str
    arrives_ms: int
    silent_from_ms: int | None = None
    stays_ms: int | None = None
    ticket: Ticket | None = None
    touched_ms: int = 0
    admitted_ms: int | None = None
    polls: int = 0
    touches: int = 0


@dataclass
class Crowd:
    """The people of one queue, in virtual time."""

    line: Line
    people: list[Person]
    seed: int = 1
    hidden_poll_s: int | None = None  # a hidden tab asks this often whatever it is told
    calls: list[int] = field(default_factory=list)

    def run(self, for_s: float) -> None:
        """Lets `for_s` seconds of virtual time pass, or less when everybody present is inside."""
        self._random = random.Random(self.seed)
        self._due = [
            (START_MS + person.arrives_ms, number, "poll") for number, person in enumerate(self.people)
        ]
        heapq.heapify(self._due)
        self._view: Snapshot | None = None
        self._taken_ms = 0
        while self._due and self._due[0][0] <= START_MS + for_s * 1000:
            self.line.now_ms, number, what = heapq.heappop(self._due)
            person = self.people[number]
            if what == "leave" and person.ticket is not None:
                assert self.line.end(person.ticket).verdict in ("freed", "already")
            elif what == "poll" and not self._is_silent(person):
                self._poll(person, number)

    def admitted_ms(self, people: Iterable[Person] | None = None) -> list[int]:
        """When they came in, ms after the start."""
        return sorted(p.admitted_ms - START_MS for p in (people or self.people) if p.admitted_ms is not None)

    def _is_silent(self, person: Person) -> bool:
        return person.silent_from_ms is not None and self.line.now_ms - START_MS >= person.silent_from_ms

    def _snapshot(self) -> Snapshot:
        if self._view is None or self.line.now_ms - self._taken_ms > SNAPSHOT_MAX_AGE_MS:
            self._view, self._taken_ms = self.line.snapshot().snapshot, self.line.now_ms
        assert self._view is not None
        return self._view

    def _poll(self, person: Person, number: int) -> None:
        person.polls += 1
        again_s = self._step(person)
        if person.admitted_ms is not None:
            if person.stays_ms is not None:
                heapq.heappush(self._due, (self.line.now_ms + person.stays_ms, number, "leave"))
            return
        jittered_ms = round((self.hidden_poll_s or again_s) * 1000 * self._random.uniform(0.8, 1.2))
        heapq.heappush(self._due, (self.line.now_ms + jittered_ms, number, "poll"))

    def _step(self, person: Person) -> int:
        line, view = self.line, self._snapshot()
        if person.ticket is None:
            answer = line.join(person.name, wants_in=True)
        elif admission.needs_touch(view, person.ticket.position, person.touched_ms, line.now_ms):
            person.touches += 1
            answer = line.touch(person.ticket)
            if answer.verdict == "called" and not answer.number(2):
                answer = line.touch(person.ticket, wants_in=True)  # the page has asked, and now goes in
        else:
            return admission.poll_s(line.queue, view, person.ticket.position, None)
        person.ticket, person.touched_ms = line.ticket(person.name, answer), line.now_ms
        if answer.verdict == "inside":
            person.admitted_ms = line.now_ms
        if answer.verdict == "called" and answer.number(2):
            return max(1, -(-answer.number(2) // 1000))
        return admission.poll_s(line.queue, view, person.ticket.position, None)
