"""Everything that can happen to a queue, in any order that hypothesis finds."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.scripts.backends import Store
from tests.scripts.world import Person, World

_BEGINNINGS: tuple[dict[str, Any], ...] = (
    {"admit_per_minute": 120, "burst": 4},
    {"admit_per_minute": None, "max_active": 5},
    {"admit_per_minute": 600, "burst": 3, "max_active": 12, "inventory": 10},
    {"admit_per_minute": 240, "burst": 2, "max_active": 30, "manual": True},
    {"admit_per_minute": None, "manual": True},
)
_LIMITS = (
    *(("admit_per_minute", value) for value in (None, 0, 60, 600, 3_000, "=", "=")),
    *(("burst", value) for value in (1, 5, 20, "=")),
    *(("max_active", value) for value in (None, 1, 10, 40, "=")),
    *(("inventory", value) for value in (None, 15, 60, "=")),
)
NEAR = 25  # so many of those near the head show life at a time
_chance = st.booleans()


class QueueMachine(RuleBasedStateMachine):
    """Few rules with many kinds each, so that a sequence mixes all of them. Subclasses give the store."""

    def make_store(self) -> Store:
        raise NotImplementedError

    @initialize(settings=st.sampled_from(_BEGINNINGS))
    def begins(self, settings: dict[str, Any]) -> None:
        self.world = World(self.make_store(), **settings)
        self.backup = self.world.dump()

    @rule(
        count=st.integers(1, 15),
        kind=st.sampled_from(("join", "come in", "come in", "crowd", "direct")),
        is_doubled=_chance,
    )
    def people_arrive(self, count: int, kind: str, is_doubled: bool) -> None:
        if kind == "crowd":
            self.world.crowd(10 * count)
        elif kind == "direct":
            for _ in range(3):
                self.world.join_direct()
        else:
            for _ in range(count):
                self.world.join(self.world.newcomer(), wants_in=kind == "come in", is_doubled=is_doubled)

    @rule(
        kind=st.sampled_from(
            ("asks", "claims", "is not answered", "leaves", "buys", "is sent away", "goes on")
        ),
        index=st.integers(0, 50),
        is_inside=_chance,
        is_doubled=_chance,
    )
    def one_visitor(self, kind: str, index: int, is_inside: bool, is_doubled: bool) -> None:
        world = self.world
        chosen = world.inside if is_inside or kind == "goes on" else self._nearest()
        if not chosen:
            return
        if kind == "leaves" and not is_inside:
            chosen = [one for one in chosen if one.place and one.place.position in world.was.called] or chosen
        person = chosen[index % len(chosen)]
        if kind == "goes on":
            world.renew(person, is_doubled=is_doubled)
        elif kind == "leaves":
            world.end(person, "left", is_doubled=is_doubled)
        elif kind == "buys":
            world.end(person, "completed", is_doubled=is_doubled)
        elif kind == "is sent away":
            world.end(person, "revoked", is_doubled=is_doubled)
        elif person.place and kind == "is not answered":
            world.touch_unheard(person)
        elif person.place:
            world.touch(person, wants_in=kind == "claims", is_doubled=is_doubled)

    def _nearest(self) -> list[Person]:
        return sorted(self.world.waiting, key=lambda person: person.place.position if person.place else 0)

    @rule(rounds=st.integers(1, 8), every=st.sampled_from((1, 1, 1, 2)), is_tidy=_chance)
    def life_goes_on(self, rounds: int, every: int, is_tidy: bool) -> None:
        """Those near the head ask every five seconds and come in when they may; some inside leave again or buy."""
        for number in range(rounds):
            self.world.line.wait(5)
            self._those_near_the_head_ask(every)
            for index, person in enumerate(self.world.inside):
                if is_tidy and (index + number) % 4 == 0:
                    self.world.end(person, "completed" if index % 3 else "left")
                elif number % 3 == 0:
                    self.world.renew(person)

    def _those_near_the_head_ask(self, every: int = 1) -> None:
        for person in self._nearest()[: NEAR * every : every]:
            if person.place and person.place.position <= self.world.was.horizon:
                self.world.touch(person, wants_in=True)

    @rule(order=st.randoms(use_true_random=False), share=st.sampled_from((1, 2)), wants_in=_chance)
    def everybody_comes_back(self, order: random.Random, share: int, wants_in: bool) -> None:
        """As after a loss: all who hold a place ask, in any order, and those inside go on."""
        people = self.world.inside[:NEAR] + self._nearest()[:NEAR]
        order.shuffle(people)
        for person in people[::share]:
            if person.place:
                self.world.touch(person, wants_in=wants_in)
            elif person.held:
                self.world.renew(person)

    @rule(
        kind=st.sampled_from(
            ("admit", "admit", "limit", "limit", "publish", "pause", "resume", "resume", "resume")
        ),
        count=st.integers(1, 30),
        limit=st.sampled_from(_LIMITS),
        is_doubled=_chance,
    )
    def an_operator(self, kind: Any, count: int, limit: tuple[str, Any], is_doubled: bool) -> None:
        if kind == "admit":
            self.world.admit(count, is_doubled=is_doubled)
        elif kind == "limit":
            self.world.set_limit(*limit)
        elif kind == "publish":
            self.world.publish((None, 60, 600)[count % 3], (None, 4, 20)[count // 3 % 3])
        else:
            self.world.control(kind)

    @rule(seconds=st.sampled_from((0.001, 0.1, 0.3, 1, 2, 5, 10, 20)), then=st.sampled_from(("", "quiet", "jump", "jump")),
          jump=st.sampled_from((-20, -3, -0.2, 75, 200, 4_000, 90_000)))  # fmt: skip
    def time_passes(self, seconds: float, then: str, jump: float) -> None:
        self.world.line.wait(seconds)
        if then == "quiet":
            self.world.live(70)
        elif then == "jump":
            self.world.jump(jump)

    @rule(kind=st.sampled_from(("backup", "set back", "replica", "loss", "reset", "calm", "calm")),
          count=st.integers(1, 8), wants_in=_chance, order=st.randoms(use_true_random=False))  # fmt: skip
    def trouble(self, kind: str, count: int, wants_in: bool, order: random.Random) -> None:
        if kind in ("backup", "calm"):
            self.world.live(70 if kind == "calm" else 5)
            self.backup = self.world.dump() if kind == "backup" else self.backup
            return
        if kind == "set back":
            self.world.set_back(*self.backup)
        elif kind == "replica":
            self._a_lagging_replica_takes_over(count, wants_in)
        elif kind == "loss":
            self.world.lose()
        else:
            self.world.reset()
        self._some_try_to_come_in(count, order)

    def _a_lagging_replica_takes_over(self, count: int, wants_in: bool) -> None:
        """Some join, which is forgotten, and others join."""
        self.world.heartbeat()
        dump = self.world.dump()
        for _ in range(count):
            self.world.join(self.world.newcomer(), wants_in=wants_in)
        self.world.set_back(*dump)
        for _ in range(8 - count):
            self.world.join(self.world.newcomer(), wants_in=wants_in)

    def _some_try_to_come_in(self, count: int, order: random.Random) -> None:
        """Right after trouble and half a minute later: newcomers, who were in line, and at last half of those inside."""
        for number in range(2):
            self.people_arrive(count, "come in", False)
            people = self._nearest()[:NEAR]
            order.shuffle(people)
            for person in people:
                self.world.touch(person, wants_in=True)
            if number:
                for person in self.world.inside[::2]:
                    self.world.renew(person)
            self.world.live(35)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.store.close()
