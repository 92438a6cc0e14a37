"""Queueing that begins by itself above a load, the sample of those far back, the outflow, and the event stream."""

from __future__ import annotations

from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket


def test_under_the_threshold_nobody_is_held_by_the_rate(store: Store) -> None:
    line = Line(store, admit_per_minute=6, burst=1, start_queueing_above=60)
    for n in range(20):
        assert line.join(f"v{n}", direct=True, wants_in=True).verdict == "inside"
    assert line.seen().is_dormant


def test_above_the_threshold_people_queue_and_below_it_again_they_do_not(store: Store) -> None:
    line = Line(store, admit_per_minute=60, burst=1, start_queueing_above=100, candidate_hold_s=1)
    line.snapshot("node a", 0)
    line.snapshot("node b", 0)
    line.wait(5)
    line.snapshot("node a", 70)
    line.snapshot("node b", 29)
    assert line.seen().is_dormant
    line.wait(1)
    line.snapshot("node b", 45)
    assert not line.seen().is_dormant, "the nodes' counts are added"
    line.join("v1", direct=True, wants_in=True)
    assert line.join("v2", direct=True, wants_in=True).verdict == "candidate"
    line.wait(62)
    line.snapshot("node a", 85)
    assert not line.seen().is_dormant, "above four fifths it goes on"
    for _ in range(40):
        line.wait(10)
        line.snapshot()
    assert line.seen().is_dormant


def test_a_report_that_is_told_twice_counts_once_and_what_is_told_grows_old(store: Store) -> None:
    line = Line(store, start_queueing_above=10)
    for _ in range(5):
        line.snapshot("node a", 8)
        line.snapshot("node b", 2)
    assert line.seen().is_dormant
    line.wait(30)
    line.snapshot("node b", 6)
    assert line.seen().is_dormant, "half of what node a told is older than a minute"
    line.snapshot("node a", 5)
    line.wait(0.5)
    line.snapshot()
    assert not line.seen().is_dormant
    line.wait(61)
    line.snapshot()
    assert line.store.command("HLEN", "st:{q}:nodes") == 0, "nodes that tell nothing are forgotten"


def test_many_nodes_are_counted_and_no_more_than_the_bound_is_kept(store: Store) -> None:
    line = Line(store, start_queueing_above=200)
    for node in range(300):
        line.snapshot(f"node {node}", 1)
    line.wait(1)
    line.snapshot()
    assert (line.store.command("HLEN", "st:{q}:nodes"), line.seen().is_dormant) == (256, False)


def test_after_silence_the_first_newcomer_walks_in_however_late_the_crowd_was_told(store: Store) -> None:
    """Nobody looked between the crowd and the newcomer; what the node tells then is of its own last minute."""
    line = Line(store, admit_per_minute=30, burst=1, always_queue=True, start_queueing_above=5, candidate_hold_s=1)
    line.snapshot("node a", 20)
    line.wait(0.5)
    line.snapshot("node a", 20)
    assert line.join("v1", direct=True, wants_in=True).verdict == "candidate"
    line.wait(125)
    line.snapshot("node a", 0)
    for number in range(3):
        assert line.join(f"w{number}", direct=True, wants_in=True).verdict == "inside"


def test_the_caps_hold_while_nobody_has_to_queue(store: Store) -> None:
    line = Line(store, admit_per_minute=60, max_active=3, start_queueing_above=1000)
    verdicts = [line.join(f"v{n}", direct=True, wants_in=True).verdict for n in range(5)]
    assert verdicts == ["inside"] * 3 + ["candidate"] * 2


def test_queueing_does_not_end_while_somebody_waits(store: Store) -> None:
    line = Line(store, admit_per_minute=0, start_queueing_above=5)
    line.snapshot("node a", 0)
    line.wait(1)
    line.snapshot("node a", 50)
    ticket = line.place("v1")
    for _ in range(30):
        line.wait(10)
        line.touch(ticket)
    assert not line.seen().is_dormant
    line.end(ticket)
    for _ in range(10):
        line.wait(10)
        line.snapshot()
    assert line.seen().is_dormant


def one_in_one_out(line: Line, waiting: list[Ticket], held: list[Ticket], every_s: int, times: int) -> None:
    for _ in range(times):
        line.wait(every_s)
        for ticket in waiting[:60]:
            line.touch(ticket)
        line.end(held.pop(0))
        held.append(line.claim(waiting.pop(0)))


def test_the_outflow_is_what_comes_in_while_people_wait(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=3, idle_s=3600)
    held, waiting = [line.enter(f"in{n}") for n in range(3)], line.places(200)
    assert line.seen().outflow_per_minute is None, "three came into an empty shop: that says nothing"
    one_in_one_out(line, waiting, held, 5, 40)
    assert 11 <= (line.seen().outflow_per_minute or 0) <= 13
    one_in_one_out(line, waiting, held, 15, 30)
    assert 3.8 <= (line.seen().outflow_per_minute or 0) <= 5, "it forgets"


def test_those_who_fill_a_shop_at_first_say_nothing_of_later(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, idle_s=3600)
    held, waiting = [line.enter("in")], line.places(90)
    line.set_limits(max_active=31)
    for ticket in waiting[:30]:
        held.append(line.claim(ticket))
    one_in_one_out(line, waiting[30:], held, 10, 18)
    assert 5 <= (line.seen().outflow_per_minute or 0) <= 7


def test_a_shop_that_the_rate_has_filled_lets_in_as_many_as_end_their_visit(store: Store) -> None:
    """Two of three end their visit in a minute: at sixty a minute sixty slots fill up, and then forty come in."""
    line = Line(store, admit_per_minute=60, burst=1, max_active=60, idle_s=3600)
    held, waiting, due = list[Ticket](), line.places(250), 0.0
    for second in range(160):
        line.wait(1)
        due += len(held) / 90
        while due >= 1:
            line.end(held.pop(0))
            due -= 1
        for ticket in waiting[:5]:
            if line.touch(ticket, wants_in=True).verdict == "inside":
                held.append(ticket)
                waiting.remove(ticket)
        if second == 60:
            assert line.seen().outflow_per_minute == 60, "while the rate holds people"
    assert len(held) >= 59
    assert 36 <= (line.seen().outflow_per_minute or 0) <= 46


def test_how_long_visits_last_is_not_known_before_some_have_ended(store: Store) -> None:
    """Twelve slots, a visit of twelve minutes: too few of them end in two minutes, and so it takes five of them."""
    line = Line(store, admit_per_minute=None, max_active=12, idle_s=3600)
    held, waiting = [line.enter(f"in{n}") for n in range(12)], line.places(60)
    for ended in range(20):
        assert (line.seen().ending_per_minute is None) == (ended < 5), ended
        one_in_one_out(line, waiting, held, 20, 1)
        line.live(40, every_s=20)
    assert 0.07 <= (line.seen().ending_per_minute or 0) <= 0.1
    assert 0.85 <= (line.seen().outflow_per_minute or 0) <= 1.2


def test_a_minute_in_which_the_store_was_away_is_no_outflow_of_nobody(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=3, idle_s=3600)
    held, waiting = [line.enter(f"in{n}") for n in range(3)], line.places(120)
    one_in_one_out(line, waiting, held, 5, 24)
    before = line.seen().outflow_per_minute
    line.wait(60)
    assert line.seen().outflow_per_minute == before


def test_how_many_of_those_called_come_in_is_known_before_their_leases_end(store: Store) -> None:
    line = Line(store, admit_per_minute=120, burst=1)
    waiting = line.places(200)
    for second in range(70):
        line.wait(1)
        for ticket in waiting[:12]:
            is_away = ticket.position % 4 == 0
            if not is_away or second == 0:
                line.touch(ticket, wants_in=not is_away)
        called = set(line.positions("called"))
        waiting = [ticket for ticket in waiting if ticket.position in called or ticket.position > line.number("cursor")]
        waiting = [ticket for ticket in waiting if ticket.position % 4 or ticket.position not in called]
    seen = line.seen()
    assert 0.65 <= seen.coming_share <= 0.9
    assert 10 <= seen.unseen_s <= 75


def test_with_a_rate_a_change_of_it_counts_at_once(store: Store) -> None:
    line = Line(store, admit_per_minute=120, burst=1)
    waiting = line.places(300)
    for _ in range(240):
        line.wait(0.5)
        for ticket in list(waiting[:8]):
            if line.touch(ticket, wants_in=True).verdict == "inside":
                waiting.remove(ticket)
    assert line.seen().outflow_per_minute == 120
    line.set_limits(admit_per_minute=30)
    assert line.seen().outflow_per_minute == 30
    assert line.seen().arriving_per_s == (), "nobody comes in between in a single line"


def test_the_sample_tells_the_share_of_those_still_there(store: Store) -> None:
    """A third of the people far back closed the page; the share comes from five questions a second, not from all."""
    line = Line(store, admit_per_minute=1)
    tickets = line.places(1500)
    line.wait(1)
    every = line.seen().sample_every
    assert every == 8
    sampled = [ticket for ticket in tickets if ticket.position % every == 0 and ticket.position % 3]
    for _ in range(5):
        for ticket in sampled:
            line.touch(ticket)
        line.live(60, every_s=20)
    assert 0.6 <= line.seen().present_share <= 0.74
    assert len(line.members("sample")) <= 300


def test_short_lines_need_no_sample(store: Store) -> None:
    line = Line(store, admit_per_minute=1)
    line.places(250)
    snapshot = line.seen()
    assert (snapshot.sample_every, snapshot.present_share) == (0, 1.0)


def events(line: Line) -> list[str]:
    found = line.store.command("XRANGE", "st:{q}:events", "-", "+")
    return [what for _, fields in found for what in fields[3].split("\n")]


def test_the_event_stream_tells_each_step_of_a_visit_once(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1, claim_within_s=60, idle_s=60, renew_every_s=20, events=True)
    held = line.enter("v1")
    ticket, other = line.places(2, "w")
    line.snapshot()
    line.end(held, "completed")
    line.claim(ticket)
    line.end(other)
    line.wait(70)
    line.snapshot()
    told = events(line)
    assert [what for what in told if what.endswith(" 1")] == ["joined 1", "called 1", "admitted 1", "completed 1"]
    assert [what for what in told if what.endswith(" 2")] == ["joined 2", "called 2", "admitted 2", "idle_expired 2"]
    assert [what for what in told if what.endswith(" 3")] == ["joined 3", "left 3"]


def test_without_the_stream_nothing_is_written(store: Store) -> None:
    line = Line(store)
    line.enter("v1")
    assert line.store.command("EXISTS", "st:{q}:events") == 0
