"""Who stands where: every position given once, every visitor in one line, every invitation good for one."""

from __future__ import annotations

from collections.abc import Sequence

from sim.history import Violated
from sim.people import Person
from sim.raw import Held


def member_of(line: int, position: int, name: str) -> str:
    """How Redis names a place: its position, after its line unless that is the first; a taken-over pass goes by its visitor."""
    if position == 0:
        return f"v{name}"
    return f"{line}:{position}" if line else str(position)


class Seats:
    """The places of one generation. `persons`: by their index."""

    def __init__(self, persons: Sequence[Person]) -> None:
        self._persons = persons
        self._places: dict[tuple[int, int], int] = {}
        self._given: dict[int, tuple[int, int]] = {}
        self._numbers: dict[tuple[int, int], int] = {}  # of arrivals before the opening
        self._invites: dict[str, int] = {}  # invitation -> who came in by it
        self._lines: dict[int, int] = {}  # where those with an invitation stand

    def begin(self) -> None:
        """Another generation: nothing is given yet."""
        for known in (self._places, self._given, self._numbers, self._invites, self._lines):
            known.clear()

    def set_back(self, held: Held) -> None:
        """The state is an older one: what was given since is void."""
        self._places = {place: who for place, who in self._places.items() if place[1] <= held.lengths[place[0]]}
        kept = set(self._places.values())
        self._given = {who: place for who, place in self._given.items() if who in kept}
        self._invites = {invite: who for invite, who in self._invites.items() if who in kept}
        self._lines = {who: line for who, line in self._lines.items() if who in kept}

    @property
    def invitations_used(self) -> int:
        """How many invitations led somebody into their lane."""
        return len(self._invites)

    def at(self, line: int, position: int) -> Person | None:
        """Who has a position, as far as anybody was told."""
        who = self._places.get((line, position))
        return None if who is None else self._persons[who]

    def by_index(self, who: int) -> Person:
        """A visitor by the index."""
        return self._persons[who]

    def holder(self, member: str) -> Person | None:
        """Who has the place that Redis names so."""
        line, _, position = member.rpartition(":")
        return self.at(int(line or 0), int(position)) if position.isdigit() else None

    def stands(self, person: Person, line: int) -> None:
        """A visitor is told a place in a line. Raises Violated."""
        # Whoever had a place before keeps the line of it; the first one of all may be by invitation.
        if person.invite and not person.epoch and person.index not in self._lines:
            self._invited(person, line)
            self._lines[person.index] = line
            return
        expected = self._lines.get(person.index, person.line)
        if line != expected:
            raise Violated("lanes", f"line {expected} is the visitor's, and the place is in line {line}", person)

    def _invited(self, person: Person, line: int) -> None:
        if line == person.line:
            holder = self._invites.setdefault(person.invite, person.index)
            if holder != person.index:
                what = f"{person.invite} led visitor {holder} and visitor {person.index} into line {line}"
                raise Violated("invitations", what, person)
        elif line != person.queue.line:
            raise Violated("lanes", f"the invitation is to line {person.line}, and the place is in line {line}", person)
        elif self._invites.get(person.invite, person.index) == person.index:
            raise Violated("invitations", f"{person.invite}, which nobody has used, leads into line {line}", person)

    def placed(self, person: Person, line: int, position: int, is_arrival: bool) -> None:
        """A visitor is told a position, or a number of arrival. Raises Violated: another one has it, or the visitor another."""
        place, known = (line, position), self._numbers if is_arrival else self._places
        holder = known.setdefault(place, person.index)
        if holder != person.index:
            what = f"{'number' if is_arrival else 'position'} {position} was given to visitor {holder}"
            raise Violated("positions", f"{what} and to visitor {person.index}", person)
        if is_arrival:
            return
        before = self._given.setdefault(person.index, place)
        if before != place:
            raise Violated("positions", f"visitor {person.index} has two positions, {before[1]} and {position}", person)
