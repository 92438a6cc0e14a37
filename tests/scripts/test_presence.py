"""The absent delay no one, and nobody present is passed over: crowds in virtual time."""

from __future__ import annotations

import itertools
import random

from edge.core.calls import keys
from tests.scripts.backends import SCOPE, Store
from tests.scripts.crowd import Crowd, Person
from tests.scripts.line import Line


def people(
    count: int, every_ms: int, silent_share: float = 0.0, seed: int = 7, stays_ms: int | None = None
) -> list[Person]:
    """`count` arrivals; a share of them closes the tab within 20 seconds."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        arrives = number * every_ms
        silent = arrives + draw.randrange(20_000) if draw.random() < silent_share else None
        made.append(Person(f"p{number}", arrives, silent, stays_ms))
    return made


def test_of_300_who_join_70_percent_go_silent_and_the_outflow_of_those_present_is_nine_tenths_of_a_live_queue(
    store: Store,
) -> None:
    crowd = Crowd(Line(store), people(300, 100, silent_share=0.7))
    crowd.run(for_s=600)
    present = [person for person in crowd.people if person.silent_from_ms is None]
    assert 70 <= len(present) == len(crowd.admitted_ms(present)) <= 110
    # The same people without those who never came in.
    store.command("FLUSHALL")
    came = [
        Person(person.name, person.arrives_ms) for person in crowd.people if person.admitted_ms is not None
    ]
    live = Crowd(Line(store), came)
    live.run(for_s=600)
    assert len(live.admitted_ms()) == len(came) == len(crowd.admitted_ms())
    assert crowd.admitted_ms()[-1] <= live.admitted_ms()[-1] / 0.9


def test_all_present_come_in_at_the_full_rate_in_order(store: Store) -> None:
    line = Line(store, admit_per_minute=120)
    crowd = Crowd(line, people(240, 50))
    crowd.run(for_s=300)
    admitted = crowd.admitted_ms()
    assert len(admitted) == 240
    assert admitted[-1] <= (240 - 20) * 500 / 0.9
    assert line.number("missed") == 0
    by_position = sorted(crowd.people, key=lambda person: person.ticket.position if person.ticket else 0)
    late = [
        a.admitted_ms - b.admitted_ms
        for a, b in itertools.pairwise(by_position)
        if a.admitted_ms is not None and b.admitted_ms is not None and a.admitted_ms > b.admitted_ms
    ]
    assert max(late) < 40_000, "claims cross by no more than the longest time between two polls"


def test_a_crowd_of_hidden_tabs_that_ask_once_a_minute_gets_the_full_rate_and_nobody_is_passed_over(
    store: Store,
) -> None:
    line = Line(store)
    crowd = Crowd(line, people(420, 100), hidden_poll_s=60)
    crowd.run(for_s=900)
    admitted = crowd.admitted_ms()
    assert len(admitted) == 420
    assert line.number("missed") == 0
    per_minute = [
        sum(1 for at in admitted if minute * 60_000 <= at < (minute + 1) * 60_000) for minute in range(5, 7)
    ]
    assert min(per_minute) >= 54


def test_slots_that_the_absent_hold_come_back_after_one_lease_each(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=10, claim_within_s=30)
    crowd = Crowd(line, people(60, 100, silent_share=0.5, stays_ms=20_000))
    crowd.run(for_s=900)
    live = [person for person in crowd.people if person.silent_from_ms is None]
    assert len(crowd.admitted_ms(live)) == len(live)
    lost_ms = line.number("missed") * 30_000
    assert crowd.admitted_ms(live)[-1] <= (len(crowd.admitted_ms()) * 25_000 + lost_ms) / 10 * 1.2


def test_simstudio_4416_who_asks_as_told_is_never_taken_for_absent(store: Store) -> None:
    """Nobody is silent, everybody polls when told to: no turn is missed and nobody is passed over."""
    line = Line(store, admit_per_minute=30)
    crowd = Crowd(line, people(90, 200))
    crowd.run(for_s=400)
    assert len(crowd.admitted_ms()) == 90
    assert (line.number("missed"), line.number("lapsed")) == (0, 0)


def test_presence_is_kept_inside_the_window_only(line: Line) -> None:
    tickets = line.places(500)
    horizon = line.number("horizon")
    assert horizon < 400
    before = line.store.dump()
    for ticket in tickets[horizon:]:
        assert line.touch(ticket).verdict == "waiting"
    assert line.positions("seen") == list(line.positions("ready"))
    assert max(line.positions("ready")) <= horizon
    assert {key for key, value in line.store.dump().items() if before.get(key) != value} <= {keys(SCOPE)[0]}


def test_passing_over_the_absent_costs_nothing_and_they_come_back_to_the_head(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1)
    first = line.enter("first")
    absent, present = line.places(20, "absent"), line.place("present")
    for _ in range(20):
        line.wait(10)
        line.touch(present)
        first = line.ticket("first", line.renew(first))
    line.end(first)
    inside = line.claim(present)
    assert line.number("missed") == 0
    assert line.touch(absent[4]).verdict == "waiting"
    assert line.touch(absent[2]).verdict == "waiting"
    line.end(inside)
    assert line.positions("called") == [absent[2].position]


def test_the_window_grows_by_steps_over_a_crowd_that_is_all_gone(line: Line) -> None:
    line.places(3_000)
    horizons = [line.number("horizon")]
    while horizons[-1] < 3_000:
        line.live(80)
        horizons.append(line.number("horizon"))
    steps = [later - earlier for earlier, later in itertools.pairwise(horizons)]
    assert 0 < steps[0] <= 200
    assert all(0 < later <= 4 * earlier for earlier, later in itertools.pairwise(steps))
    assert len(steps) <= 4, "3,000 who are not there cost a newcomer less than six minutes"
    line.live(160)
    assert line.number("cursor") == 3_000
