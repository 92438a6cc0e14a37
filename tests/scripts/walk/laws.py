"""The laws, over one step: what was, what is, what was done and what was said."""

from __future__ import annotations

from dataclasses import dataclass

from edge.core.calls import Answer
from tests.scripts.walk.people import Step
from tests.scripts.walk.view import FREE_AFTER_MS, LAPSED, View


@dataclass(frozen=True)
class Done:
    """One step. `position`: the place that it was about, 0 for none."""

    was: View
    now: View
    step: Step
    answer: Answer
    position: int

    @property
    def ends(self) -> bool:
        """Whether the visitor ended the visit or gave up the place."""
        return self.step.what in ("leave", "complete")

    @property
    def new_turns(self) -> set[int]:
        """Positions that were called, or came in at once, by this step."""
        return (self.now.called.keys() | self.now.inside.keys()) - self.was.called.keys() - self.was.inside.keys()


def check(done: Done) -> None:
    """Raises AssertionError in the words of the law that was broken."""
    _books(done.now)
    _caps(done.now)
    _time_and_places(done)
    _slots(done)
    _turns(done)
    _order(done)
    _said(done)
    if done.step.what == "look":
        _swept(done.now)
        _nobody_waits_for_a_free_slot(done.now)


def _books(now: View) -> None:
    assert len(set(now.places.values())) == len(now.places), "a position was given twice"
    assert not now.called.keys() & now.inside.keys(), "called and inside at once: two slots for one visitor"
    assert not now.ready.keys() & (now.called.keys() | now.inside.keys()), "somebody waits who has the turn"
    assert now.ready.keys() == now.seen.keys(), "present without a sign of life, or the other way round"
    assert now.number("held") == len(now.called) + len(now.inside), "the slots held are not those called or inside"
    assert len(now.places) == now.number("length"), "positions were given to nobody"


def _caps(now: View) -> None:
    held = len(now.called) + len(now.inside)
    if now.state["max_active"]:
        assert held <= now.number("max_active"), f"{held} inside or called, above max_active"
    if now.state["inventory"]:
        assert held + now.number("sold") <= now.number("inventory"), "more sold and in flight than there is"
    rate, burst = now.settings.rate, now.settings.burst
    if rate:
        for first, start in enumerate(now.claims):
            count, span = len(now.claims) - first, now.claims[-1] - start
            assert count * 60_000 <= rate * span + burst * 60_000, f"{count} claims in {span:.0f} ms"


def _time_and_places(done: Done) -> None:
    was, now = done.was, done.now
    assert now.clock >= was.clock, "the clock ran back"
    assert now.lease >= was.lease, "the stopwatch ran back"
    assert was.status != "paused" or now.status != "paused" or now.lease == was.lease, "a lease ran during the pause"
    assert was.places.items() <= now.places.items(), "a place was taken away or moved"
    for name in ("length", "cursor"):
        assert now.number(name) >= was.number(name), f"the {name} moved back"


def _slots(done: Done) -> None:
    """Freed once, by an end or at the time that was said; never taken again by the same place."""
    was, now = done.was, done.now
    for position, freed_ms in was.inside.items():
        if position not in now.inside and not (done.ends and position == done.position):
            assert freed_ms <= now.clock, f"{position} was told inside until later and is not"
        else:
            assert now.inside.get(position, freed_ms) >= freed_ms, f"{position} was told a later end than it has"
    for position in now.inside.keys() - was.inside.keys():
        assert not was.was_used(position), f"{position} came in twice"
        assert now.was_used(position), f"{position} came in and is not marked"
    if done.answer.verdict == "freed":
        assert done.position in was.inside, "freed what was not held"
        assert done.position not in now.inside, "freed and still held"
    if done.answer.verdict == "left":
        assert was.missed(done.position) < LAPSED <= now.missed(done.position), "left twice"


def _turns(done: Done) -> None:
    was, now = done.was, done.now
    for position, deadline in was.called.items():
        is_kept = position in now.called or position in now.inside or (done.ends and position == done.position)
        assert is_kept or int(deadline) <= now.lease, f"{position} lost its turn before its lease was over"
        has_gone = done.step.what == "away" and position == done.position
        assert has_gone or now.called.get(position, deadline) >= deadline, f"the lease of {position} was cut short"
    for position in was.ready.keys() - now.ready.keys() - now.called.keys() - now.inside.keys():
        has_gone = position == done.position and (done.ends or done.step.what == "away")
        is_silent = was.seen[position] <= now.lease - now.settings.grace_ms
        assert has_gone or is_silent or now.missed(position) >= LAPSED, f"{position} was there and counts as absent"


def _order(done: Done) -> None:
    was, now, cursor = done.was, done.now, done.was.number("cursor")
    if done.new_turns:
        assert "open" in (was.status, now.status), f"turns {done.new_turns} while {was.status}"
    for position in done.new_turns:
        assert was.missed(position) < LAPSED, f"{position} was called though it is over"
        assert position <= now.number("cursor")
        # Who shows life with this very step was not there when the sweep before it called others.
        for before in now.ready.keys() & was.ready.keys():
            is_passed_by = before < position and (before > cursor or position <= cursor)
            assert not is_passed_by, f"{position} was called before {before}, who was there"
    for position in range(cursor + 1, now.number("cursor") + 1):
        assert position not in now.ready, f"the cursor passed {position}, who was there"


def _said(done: Done) -> None:
    """What the answer says is what the store holds."""
    now, answer = done.now, done.answer
    if answer.verdict == "inside":
        assert now.inside.get(answer.number(0)) == answer.number(1) + FREE_AFTER_MS, "told inside, and holds no slot"
    if answer.verdict in ("waiting", "called", "inside"):
        assert done.position in (0, answer.number(0)), "another place for the same visitor"
        assert now.places[f"v{done.step.who}"] == answer.number(0)
        assert (answer.number(0) in now.called) == (answer.verdict == "called")
    if done.step.what == "join without a cookie" and answer.verdict in ("waiting", "called", "inside") and not done.position:
        assert not now.ready.keys() - {answer.number(0)}, "a place without a cookie while others wait"
    if answer.verdict == "ended" and done.step.what in ("touch", "claim", "renew"):
        assert done.position not in now.called.keys() | now.ready.keys(), "told that it is over, and still in line"


def _swept(now: View) -> None:
    for position, deadline in now.called.items():
        assert int(deadline) > now.lease or now.status != "open", f"{position} has the turn though its lease is over"
    for position, freed_ms in now.inside.items():
        assert freed_ms > now.clock, f"{position} holds a slot though its time is over"


def _nobody_waits_for_a_free_slot(now: View) -> None:
    has_token = not now.state["rate"] or (now.number("units") >= 60_000 and not now.called)
    assert not (now.status == "open" and now.ready and now.slots_left and has_token), "a slot is free and nobody is called"

