"""Random walks of a crowd through several nodes with a store in trouble: the laws hold at every step, whatever the order."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from edge.core.messages import Batch, Reply
from tests.core.support import JSON, Browser, Got, World, away, busy, queue, slow

RATE, BURST, ACTIVE, STEPS = 12, 3, 4, 220
STATUSES = {200, 405, 429, 503}


@dataclass
class Person:
    browser: Browser
    place: tuple[str, int] | None = None  # epoch and position held
    has_left: bool = False


@dataclass
class Walk:
    """One walk: the crowd, what it does next, and what has to be true after every step."""

    dice: random.Random
    world: World
    people: list[Person] = field(default_factory=list)
    given: dict[tuple[str, int], str] = field(default_factory=dict)  # position -> visitor
    admitted: int = 0
    is_alone: bool = False  # a sandbox for each request

    def trouble(self) -> None:
        """What the store does during the next request."""
        self.world.fault = self.world.on_reply = None
        kind = self.dice.random()
        if kind < 0.06:
            self.world.fault = self.dice.choice([slow, busy, away(200), away(8000)])
        elif kind < 0.12:
            wanted = self.dice.choice(["join", "touch", "renew", "look" if self.is_alone else "snapshot"])
            self.world.on_reply = lambda batch, reply: Reply(failed="slow") if batch.name.startswith(wanted) else reply
        elif kind < 0.14:
            self.world.redis.script_flush()

    def request(self, person: Person) -> Got:
        browser, dice = person.browser, self.dice
        browser.node = dice.choice(self.world.nodes) if not self.is_alone else self.world.new_node(is_alone=True)
        self.trouble()
        actions: list[tuple[int, Callable[[], Got]]] = [
            (10, lambda: browser.status()),
            (8, lambda: browser.get()),
            (3, lambda: browser.get("/launch/", headers={"accept": JSON})),
            (2, lambda: browser.get("/launch/buy", "POST")),
            (1, lambda: browser.get("/launch/", "HEAD")),
            (1, lambda: browser.get("/launch/", headers={"sec-purpose": "prefetch"})),
            (2, lambda: browser.get("/launch/", answer=(200, [("cache-control", "public, max-age=9")]))),
            (1, lambda: browser.get("/launch/", answer=(200, [("cache-control", "private"), ("stanchion-command", "complete")]))),
            (1, lambda: browser.leave()),
        ]
        _, action = dice.choices(actions, [weight for weight, _ in actions])[0]
        before = self.world.snapshot().admitted_last_minute if dice.random() < 0.1 else None
        got = action()
        self.world.fault = self.world.on_reply = None
        if before is not None:
            assert self.world.snapshot().admitted_last_minute <= before + 1
        return got

    def step(self) -> None:
        dice, world = self.dice, self.world
        world.pass_time(dice.choice([0, 0.02, 0.3, 1, 3, 7]))
        if len(self.people) < 25 and dice.random() < 0.3:
            self.people.append(Person(Browser(world, client=f"198.51.{len(self.people)}.1")))
        operator = dice.random()
        if operator < 0.01:
            world.pause()
        elif operator < 0.03:
            world.resume()
        elif operator < 0.034:
            world.reset()
        if self.people:
            person = dice.choice(self.people)
            got = self.request(person)
            self.check(person, got)

    def check(self, person: Person, got: Got) -> None:
        assert got.status in STATUSES
        snapshot = self.world.snapshot()
        assert snapshot.inside + snapshot.called <= ACTIVE
        assert snapshot.admitted_last_minute <= RATE + BURST
        assert snapshot.cursor <= snapshot.length
        if got.forwarded is None and got.body.startswith("{"):
            assert (got.json.get("ahead") or 0) >= 0
        self.admitted += got.forwarded is not None and got.forwarded.why.startswith("admitted")
        value = person.browser.value("stanchion-launch")
        claims = self.world.ring.verify(value)[1] if value else {}
        if claims.get("p"):
            self.held(person, claims["e"], claims["p"], claims["v"])

    def held(self, person: Person, epoch: str, position: int, visitor: str) -> None:
        # Given once, to one visitor, for ever.
        assert self.given.setdefault((epoch, position), visitor) == visitor
        if person.place is not None and person.place[0] == epoch:
            # Never back. A later one only after the earlier visit had ended.
            assert position >= person.place[1]
        person.place = (epoch, position)


@pytest.mark.parametrize("is_alone", [False, True], ids=["nodes", "a sandbox for each request"])
@pytest.mark.parametrize("seed", range(8))
def test_a_crowd_walks_and_the_laws_hold(seed: int, is_alone: bool) -> None:
    limits = {"admit_per_minute": RATE, "burst": BURST, "max_active": ACTIVE}
    world = World(queue(**limits, idle_s=60, renew_every_s=20, settle_s=20, presence_grace_s=60, claim_within_s=30))
    world.new_node()
    world.new_node()
    walk = Walk(random.Random(seed), world, is_alone=is_alone)
    for _ in range(STEPS):
        walk.step()
    assert len(walk.given) > 10
    assert walk.admitted
    # And when the trouble is over, everybody who stays gets in.
    world.resume()
    stayers = [Browser(world, client=f"203.0.{number}.1") for number in range(6)]
    for _ in range(200):
        world.pass_time(2)
        stayers = [browser for browser in stayers if browser.get().forwarded is None or not browser.leave()]
    assert not stayers


def test_a_batch_has_a_name_of_its_own_in_every_decision() -> None:
    """The driver fails on a name that comes twice; a candidate whose visit is over is the longest way through a decision."""
    world = World()
    seen: list[str] = []

    def note(batch: Batch, reply: Reply) -> Reply:
        seen.append(batch.name)
        return reply

    browser = Browser(world)
    browser.status()
    browser.get(answer=(200, [("cache-control", "public, max-age=9"), ("stanchion-command", "complete")]))
    world.pass_time(1)
    world.on_reply = note
    browser.get()
    assert seen == ["join", "snapshot:launch", "join a newcomer"]
