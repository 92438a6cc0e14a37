"""Sequences of steps with the model of the scripts (tests/scripts/world.py), which checks the laws after each.

The same seed, the same sequence. `walk` is the state machine in small; the others go straight to where one kind of fault shows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.scripts.backends import Store
from tests.scripts.line import Line
from tests.scripts.world import Person, World

LIMITS: dict[str, Any] = {"admit_per_minute": 240, "burst": 4, "max_active": 6}


def _near(world: World, count: int = 12) -> list[Person]:
    ordered = sorted(world.waiting, key=lambda person: person.place.position if person.place else 0)
    return ordered[:count]


def _arrive(world: World, count: int, *, is_doubled: bool = False) -> None:
    for _ in range(count):
        world.join(world.newcomer(), wants_in=True, is_doubled=is_doubled)


def _go_on(world: World, seconds: int, *, wants_in: bool = True, every: int = 1) -> None:
    """Those near the head ask each two seconds; every so many-th of them."""
    for _ in range(seconds // 2):
        world.line.wait(2)
        for person in _near(world)[::every]:
            world.touch(person, wants_in=wants_in)


def walk(store: Store) -> None:
    """Everything that visitors do, by a seed."""
    world, chance = World(store, **LIMITS), random.Random(3)
    for number in range(45):
        kind = chance.choice(("join", "join", "ask", "ask", "ask", "buy", "leave", "renew", "silence"))
        is_doubled = chance.random() < 0.4
        if kind == "join":
            _arrive(world, chance.randint(1, 4), is_doubled=is_doubled)
        elif kind == "ask":
            for person in _near(world)[:: chance.choice((1, 2))]:
                world.touch(person, wants_in=chance.random() < 0.8, is_doubled=is_doubled)
        elif kind in ("buy", "leave") and world.inside:
            world.end(chance.choice(world.inside), "completed" if kind == "buy" else "left", is_doubled=True)
        elif kind == "renew" and world.inside:
            world.renew(chance.choice(world.inside), is_doubled=is_doubled)
        world.line.wait(chance.choice((0.3, 1, 2, 5)))
        if number % 15 == 14:
            world.live(30)


def idle(store: Store) -> None:
    """A rate, nobody for a minute, then many at once."""
    world = World(store, admit_per_minute=120, burst=3)
    _arrive(world, 1)
    world.live(60)
    _arrive(world, 12)
    _go_on(world, 6)


def changes(store: Store) -> None:
    """The rate changes again and again while it is used up."""
    world = World(store, admit_per_minute=120, burst=6)
    _arrive(world, 20)
    for number in range(6):
        world.set_limit("admit_per_minute", 120 + number)
        _go_on(world, 2)


def stock(store: Store) -> None:
    """More come than there are units."""
    world = World(store, admit_per_minute=600, burst=20, inventory=4)
    _arrive(world, 12)
    _go_on(world, 6)
    for person in world.inside:
        world.end(person, "completed", is_doubled=True)
    _go_on(world, 6)


def copies(store: Store) -> None:
    """A visit ends while a copy of its pass is about: the copy is asked for, and looked up in the snapshot."""
    world = World(store, **LIMITS)
    _arrive(world, 3)
    for person in world.inside:
        copy = person.held
        assert copy is not None
        world.end(person, "left")
        world.line.wait(1)
        answer = world.line.renew(copy)
        world.check("renew")
        assert answer.verdict == "ended", "an ended pass is good again"
        snapshot = world.line.snapshot().snapshot
        assert snapshot is not None
        assert snapshot.is_ended(copy.position), "an ended pass is not in the snapshot"


def loss(store: Store) -> None:
    """Redis loses all while people are inside; one of them goes on, others are silent, and newcomers come."""
    world = World(store, **LIMITS)
    _arrive(world, 8)
    world.lose()
    person = world.inside[0]
    world.renew(person)
    assert person.held, "a pass of the lost epoch is a stranger"
    for _ in range(8):
        world.live(5)
        _arrive(world, 1)
        _go_on(world, 2)


def clock(store: Store) -> None:
    """The server's clock is set back while people wait."""
    world = World(store, **LIMITS)
    _arrive(world, 10)
    world.live(20)
    for seconds in (-10, 3, -5):
        world.jump(seconds)
        world.live(5)


def doubled(store: Store) -> None:
    """Every answer is lost once."""
    world = World(store, **LIMITS)
    _arrive(world, 9, is_doubled=True)
    _go_on(world, 6)


def lanes(store: Store) -> None:
    """Two lanes: each visitor stands in the one that was asked for, whatever way the script takes."""
    world = World(store, **LIMITS, lanes=[{"name": "all", "share": 3}, {"name": "vip", "invite": True}])
    for number in range(8):
        answer = world.line.join(f"lane-{number}", line=number % 2)
        assert answer.verdict in ("waiting", "called", "inside")
        assert answer.line == number % 2, f"asked for lane {number % 2} and is in {answer.line}"
        world.line.wait(0.1)


def links(store: Store) -> None:
    """Two visitors with the same invitation: it leads the first one into its lane, and whoever comes again."""
    world = World(store, **LIMITS, lanes=[{"name": "all", "share": 3}, {"name": "vip", "invite": True}])
    for visitor, line in (("first", 1), ("second", 0), ("first", 1), ("third", 0)):
        answer = world.line.join(visitor, line=1, invite="i1")
        assert answer.line == line, f"by one invitation {visitor} is in lane {answer.line}"


def timers(store: Store) -> None:
    """A payment that is extended as often as anybody asks, and a visit that never rests: both end, each for its own reason."""
    store.command("FLUSHALL")
    line = Line(store, admit_per_minute=None, max_active=4, idle_s=60, renew_every_s=20, checkout_s=100, visit_max_s=250)
    payer, guest = line.enter("payer"), line.enter("guest")
    started = line.checkout(payer)
    assert started.number(1) == line.now_ms + 100_000, "the pass of one who pays is good for as long as the payment may take"
    for verdict in ("checkout", "refused", "refused"):
        line.wait(20)
        assert line.checkout(payer, "extend").verdict == verdict
        guest = line.ticket("guest", line.renew(guest))
    for _ in range(12):
        line.wait(20)
        answer = line.renew(guest)
        guest = line.ticket("guest", answer) if answer.verdict == "inside" else guest
    state = line.state()
    ended = {reason: int(state[reason]) for reason in ("checkout_expired", "pass_expired", "idle_expired")}
    assert ended == {"checkout_expired": 1, "pass_expired": 1, "idle_expired": 0}, ended
    assert line.members("active") == []


def alone(store: Store) -> None:
    """One queue of a group is paused by itself, slots become free, and its people go on asking."""
    store.command("FLUSHALL")
    lanes = [{"name": "one", "share": 2}, {"name": "two", "share": 1}]
    line = Line(store, admit_per_minute=None, max_active=3, lanes=lanes)
    store.command("HSET", "st:{q}:state", "is_group", "1")
    inside = [line.enter(f"in{n}") for n in range(3)]
    waiting = line.places(4, "b", line=1)
    second = replace(line.queue, lanes=line.queue.lanes[1:], line=1, group="q", group_shares=(2, 1))
    assert line.control_queue("pause_lines", second).verdict == "ok"
    for held in inside:
        line.end(held)
    for _ in range(10):
        line.wait(5)
        for ticket in waiting:
            assert line.touch(ticket).verdict == "waiting", "someone of the paused queue is called"
    assert line.number("cursor1") == 0


def lending(store: Store) -> None:
    """Two queues of a group, two slots each: one takes all four while the other has nobody, and gives them back one by one."""
    store.command("FLUSHALL")
    lanes = [{"name": "one", "share": 1}, {"name": "two", "share": 1}]
    line = Line(store, admit_per_minute=None, max_active=4, lanes=lanes)
    store.command("HSET", "st:{q}:state", "is_group", "1")
    ones = line.places(6, "a")
    inside = [line.claim(ticket) for ticket in ones[:4]]
    assert line.touch(ones[4]).verdict == "waiting", "more than the group's total"
    twos = line.places(3, "b", line=1)
    for number, ended in enumerate(inside[:2]):
        line.wait(1)
        line.end(ended)
        assert line.touch(ones[4]).verdict == "waiting", "called beyond its quota while the other queue has people"
        line.claim(twos[number])
    held = line.number("held"), line.number("held1")
    assert held == (2, 2), f"the two queues count {held} slots"
    line.wait(1)
    line.end(inside[2])
    assert line.touch(twos[2]).verdict == "waiting"
    line.claim(ones[4])


def pause(store: Store) -> None:
    """The operator pauses, people go on asking, slots become free."""
    world = World(store, **LIMITS)
    _arrive(world, 12)
    world.control("pause")
    for person in world.inside[:3]:
        world.end(person, "left")
    _go_on(world, 10)
    world.control("resume")
    _go_on(world, 6)


STORIES: dict[str, Callable[[Store], None]] = {
    story.__name__: story
    for story in (walk, idle, changes, stock, copies, loss, clock, doubled, lanes, links, timers, alone, lending, pause)
}
