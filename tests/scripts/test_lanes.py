"""Lines of one scope: lanes with shares, queues of a group with quotas; what one does not use the others get."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from edge.core.calls import read_member
from tests.scripts.backends import Store
from tests.scripts.line import Line, Ticket

LANES = [{"name": "standard", "share": 3}, {"name": "vip", "share": 1}]


def lanes(store: Store, **settings: object) -> Line:
    return Line(store, **{"lanes": LANES, "admit_per_minute": 600, "burst": 5, **settings})


def called(line: Line) -> list[tuple[int, int]]:
    return sorted(read_member(member) for member in line.members("called"))


def serve(line: Line, waiting: list[Ticket], seconds: int) -> list[Ticket]:
    """Everybody asks twice a second and comes in when called; who came in leaves at once."""
    came: list[Ticket] = []
    for _ in range(seconds * 2):
        line.wait(0.5)
        for ticket in list(waiting):
            answer = line.touch(ticket, wants_in=True)
            if answer.verdict == "inside":
                waiting.remove(ticket)
                came.append(ticket)
                line.end(line.ticket(ticket.visitor, answer))
    return came


def test_each_lane_has_its_own_positions(store: Store) -> None:
    line = lanes(store, admit_per_minute=0)
    standard, vip = line.places(3), line.places(2, "vip", line=1)
    assert [(t.line, t.position) for t in standard + vip] == [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)]
    assert line.place("vip1", line=0) == vip[0], "known, whatever is asked for later"
    first, second = line.seen().lines
    assert (first.length, second.length, first.weight, second.weight) == (3, 2, 3, 1)
    assert line.seen().ahead(2, 1) == 1


def test_lanes_share_the_calls_as_configured_while_both_wait(store: Store) -> None:
    line = lanes(store, admit_per_minute=None, max_active=1)
    line.enter("in")
    for n in range(60):
        line.place(f"s{n}")
        line.place(f"v{n}", line=1)
    line.set_limits(max_active=41)
    assert Counter(index for index, _ in called(line)) == {0: 30, 1: 10}
    for cap in (42, 43, 44, 45, 46, 47, 48, 49):
        line.set_limits(max_active=cap)
    assert Counter(index for index, _ in called(line)) == {0: 36, 1: 12}, "one by one the same"


def test_calls_are_in_order_within_each_lane(store: Store) -> None:
    line = lanes(store, admit_per_minute=None, max_active=3)
    waiting = [ticket for n in range(12) for ticket in (line.place(f"s{n}"), line.place(f"v{n}", line=1))]
    waiting.reverse()
    came = serve(line, waiting, 8)
    assert len(came) == 24
    for index in (0, 1):
        order = [ticket.position for ticket in came if ticket.line == index]
        assert all(later > earlier - 3 for earlier, later in pairwise(order)), "claims cross by the slots only"
    assert (line.number("cursor"), line.number("cursor1")) == (12, 12)


def test_a_lane_without_people_lends_its_share_and_saves_nothing_up(store: Store) -> None:
    line = lanes(store, admit_per_minute=None, max_active=1)
    held = line.enter("in")
    alone = line.places(30, "alone")
    line.set_limits(max_active=31)
    assert called(line) == [(0, position) for position in range(2, 32)], "alone in line it gets every call"
    for ticket in alone:
        line.end(line.claim(ticket))
    line.set_limits(max_active=1)
    for n in range(30):
        line.place(f"s{n}")
        line.place(f"v{n}", line=1)
    line.set_limits(max_active=17)
    assert Counter(index for index, _ in called(line)) == {0: 12, 1: 4}, "no calls are owed for the time when nobody was there"
    line.end(held)


def test_people_who_are_away_hold_no_share(store: Store) -> None:
    line = lanes(store, admit_per_minute=None, max_active=4, settle_s=10, presence_grace_s=20)
    held = [line.enter(f"in{n}") for n in range(4)]
    line.places(20, "gone", line=1)
    for _ in range(8):
        line.wait(5)
        line.snapshot()
    standard = line.places(4)
    for each in held:
        line.end(each)
    for ticket in standard:
        assert line.touch(ticket, wants_in=True).verdict == "inside"


def test_an_invitation_is_good_for_one_visitor(store: Store) -> None:
    line = lanes(store, admit_per_minute=0)
    first = line.join("one", line=1, invite="i-1")
    again = line.join("one", line=1, invite="i-1")
    other = line.join("two", line=1, invite="i-1")
    assert [(a.line, a.number(0)) for a in (first, again, other)] == [(1, 1), (1, 1), (0, 1)]


def test_a_lane_that_a_publish_takes_away_serves_out_who_stands_in_it(store: Store) -> None:
    line = lanes(store, admit_per_minute=None, max_active=1)
    held = line.enter("in")
    vip = line.place("v", line=1)
    line.configure(lanes=[])
    line.end(held)
    line.claim(vip)


def test_leaving_renewing_and_ending_name_the_line(store: Store) -> None:
    line = lanes(store, admit_per_minute=None, max_active=2)
    one, other = line.claim(line.place("v1", line=1)), line.claim(line.place("s1"))
    waiting = line.place("v2", line=1)
    assert (one.line, one.position, other.line, other.position) == (1, 1, 0, 1)
    assert line.renew(one).details[0] == "1:1"
    assert line.end(one, "revoked").verdict == "freed"
    assert line.end(one, "revoked").verdict == "already"
    snapshot = line.seen()
    assert snapshot.is_ended(1, 1)
    assert not snapshot.is_ended(1, 0)
    assert line.end(waiting).verdict == "left"
    assert line.touch(waiting).verdict == "ended"
    assert line.touch(line.place("v3", line=1)).number(0) == 3


def group(store: Store, shares: tuple[int, ...], **settings: object) -> Line:
    """The queues of a group are lines of one scope; tests build the state as `configure` would for it."""
    lines = [{"name": f"q{n}", "share": share} for n, share in enumerate(shares)]
    line = Line(store, **{"admit_per_minute": None, **settings}, lanes=lines)
    line.store.command("HSET", "st:{q}:state", "is_group", "1")
    return line


def test_queues_of_a_group_lend_slots_and_get_their_quota_back_as_slots_end(store: Store) -> None:
    line = group(store, (1, 1), max_active=10)
    borrowed = [line.claim(line.place(f"a{n}")) for n in range(10)]
    one, other = line.places(10, "more"), line.places(10, "b", line=1)
    for each in borrowed[:6]:
        line.end(each)
    for ticket in one + other:
        line.touch(ticket, wants_in=True)
    counts = Counter(read_member(member)[0] for member in line.members("active"))
    assert counts == {0: 5, 1: 5}, "the quota of the second is filled first; nobody is thrown out"
    assert line.number("held") + line.number("held1") == 10


def test_a_group_never_admits_more_than_its_totals(store: Store) -> None:
    line = group(store, (2, 1, 1), max_active=7, inventory=12)
    waiting = [line.place(f"p{n}-{index}", line=index) for n in range(10) for index in range(3)]
    bought = 0
    for _ in range(30):
        line.wait(1)
        for ticket in list(waiting):
            answer = line.touch(ticket, wants_in=True)
            if answer.verdict == "inside":
                waiting.remove(ticket)
                held = line.ticket(ticket.visitor, answer)
                inside = len(line.members("active")) + len(line.members("called"))
                assert inside <= 7
                assert inside + line.number("sold") <= 12
                bought += line.end(held, "completed").verdict == "freed"
    assert bought == 12
    assert line.seen().status == "sold_out"


def test_a_batch_for_all_lanes_is_shared_out_by_their_shares(store: Store) -> None:
    lines = [{"name": "a", "share": 3}, {"name": "b", "share": 2}, {"name": "c", "share": 1}]
    line = Line(store, admit_per_minute=None, manual=True, lanes=lines)
    for index in range(3):
        line.places(8, f"lane{index}-", line=index)
    assert line.admit(6).details == ("6",)
    assert Counter(index for index, _ in called(line)) == {0: 3, 1: 2, 2: 1}
    assert line.admit(100).details == ("18",), "what one does not use the others get"
    assert Counter(index for index, _ in called(line)) == {0: 8, 1: 8, 2: 8}


def test_a_batch_for_one_lane_calls_only_there(store: Store) -> None:
    line = lanes(store, admit_per_minute=None, manual=True)
    line.places(3)
    line.places(3, "vip", line=1)
    assert line.admit(2, line=1).details == ("2",)
    assert called(line) == [(1, 1), (1, 2)]


def test_how_many_come_into_each_line_is_told_and_of_a_single_one_not(store: Store) -> None:
    line = lanes(store, admit_per_minute=0)
    for second in range(60):
        line.wait(1)
        line.place(f"first{second}", line=0)
        if second % 4 == 0:
            line.place(f"second{second}", line=1)
    first, second_line = line.seen().arriving_per_s
    assert 0.75 <= first <= 1
    assert 0.17 <= second_line <= 0.28
    line.live(120, every_s=1)
    assert max(line.seen().arriving_per_s) < 0.05, "it forgets"
