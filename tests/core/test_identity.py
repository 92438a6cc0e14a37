"""Who is asking: which of several tokens decides, and what the new ones say."""

from __future__ import annotations

from typing import Any

import pytest

from edge.core.calls import Answer
from edge.core.cookies import parse
from edge.core.errors import StoreBusy
from edge.core.identity import Visitor, new_visitor, pass_from, read_visitor
from edge.core.tokens import Candidate, Pass, Place, write_candidate, write_pass, write_place
from tests.core.support import MANUAL, Browser, World, queue

NAME = "__Host-stanchion-launch"


class Wallet:
    """Makes cookie headers."""

    def __init__(self) -> None:
        self.world = World(queue(**MANUAL))
        self.world.node.context.snapshots.keep("launch", self.world.now_ms, self.world.snapshot())

    def text(self, token: Pass | Place | Candidate) -> str:
        ring = self.world.ring
        if isinstance(token, Pass):
            return write_pass(ring, token)
        return write_place(ring, token) if isinstance(token, Place) else write_candidate(ring, token)

    def place(self, position: int = 3, left_s: int = 100, queue_id: str = "launch", epoch: str = "e") -> Place:
        return Place(queue_id, epoch, f"v{position}", position, 0, self.world.now_ms + left_s * 1000)

    def held(self, position: int = 3, left_s: int = 100, marked: bool = False, epoch: str = "e") -> Pass:
        until_ms = self.world.now_ms + left_s * 1000
        return Pass("launch", epoch, f"v{position}", position, until_ms, until_ms, marked)

    def candidate(self, left_s: int = 100) -> Candidate:
        return Candidate("launch", "hopeful", self.world.now_ms + left_s * 1000)

    def read(self, *tokens: Any, candidates: tuple[Any, ...] = ()) -> Visitor:
        def value(token: Any) -> str:
            return token if isinstance(token, str) else self.text(token)

        header = "; ".join([*(f"{NAME}={value(t)}" for t in tokens), *(f"{NAME}.c={value(c)}" for c in candidates)])
        request = Browser(self.world).request("/launch/")
        return read_visitor(self.world.queue(), request, self.world.node.context, parse(header))


@pytest.fixture
def wallet() -> Wallet:
    return Wallet()


def test_nobody(wallet: Wallet) -> None:
    found = wallet.read()
    assert (found.rank, found.dead, found.dead_candidate) == (0, False, False)


def test_a_pass_wins_over_a_place_and_a_place_over_a_candidate(wallet: Wallet) -> None:
    held, place, candidate = wallet.held(1), wallet.place(2), wallet.candidate()
    for tokens in ((held, place), (place, held)):
        found = wallet.read(*tokens, candidates=(candidate,))
        assert (found.admission, found.candidate, found.rank) == (held, None, 3)
    found = wallet.read(place, candidates=(candidate,))
    assert (found.place, found.candidate, found.rank) == (place, None, 2)
    assert found.dead_candidate  # it has served
    found = wallet.read(candidates=(candidate,))
    assert (found.candidate, found.rank, found.dead_candidate) == (candidate, 1, False)


def test_of_several_the_newest_decides_whatever_their_order(wallet: Wallet) -> None:
    old, new = wallet.place(1, 100), wallet.place(2, 200)
    assert wallet.read(old, new).place == wallet.read(new, old).place == new
    first, last = wallet.held(1, 100), wallet.held(2, 200)
    assert wallet.read(first, last).admission == wallet.read(last, first).admission == last
    one, two = wallet.candidate(100), wallet.candidate(200)
    assert wallet.read(candidates=(one, two)).candidate == wallet.read(candidates=(two, one)).candidate == two


def test_junk_among_good_ones_does_no_harm(wallet: Wallet) -> None:
    place = wallet.place()
    found = wallet.read("junk", place, '"quoted"')
    assert (found.place, found.dead) == (place, False)


def test_what_proves_nothing_is_dead(wallet: Wallet) -> None:
    for dead in ("junk", "", wallet.place(left_s=-1), wallet.held(left_s=0), wallet.place(queue_id="other"), wallet.candidate()):
        found = wallet.read(dead)
        assert (found.rank, found.dead) == (0, True)
    for dead in ("junk", wallet.candidate(left_s=0), wallet.place(), wallet.held()):
        found = wallet.read(candidates=(dead,))
        assert (found.rank, found.dead_candidate, found.dead) == (0, True, False)


def test_a_proof_for_the_origin_is_dead_as_a_cookie(wallet: Wallet) -> None:
    proof = wallet.world.node.context.origin_passes.get("launch", Pass("launch", "e", "v", 1, 0, 0), wallet.world.now_ms)
    found = wallet.read(proof)
    assert (found.rank, found.dead) == (0, True)


def test_expiry_is_compared_each_time_also_for_what_is_remembered(wallet: Wallet) -> None:
    place = wallet.place(left_s=10)
    assert wallet.read(place).place == place
    wallet.world.pass_time(9.999)
    assert wallet.read(place).place == place
    wallet.world.pass_time(0.001)
    assert wallet.read(place).dead


def test_until_a_node_knows_the_time_of_redis_expiry_is_for_the_step_to_judge(wallet: Wallet) -> None:
    place, held = wallet.place(left_s=-5), wallet.held(left_s=-5)
    assert wallet.read(place).dead
    wallet.world.node = wallet.world.new_node()
    assert wallet.read(place).place == place
    assert wallet.read(held).admission == held


def test_behind_a_marked_pass_stands_its_place(wallet: Wallet) -> None:
    marked = wallet.held(7, left_s=10, marked=True)
    assert wallet.read(marked).admission == marked
    wallet.world.pass_time(11)
    found = wallet.read(marked)
    assert found.admission is None
    assert found.place is not None
    assert (found.place.position, found.place.epoch, found.place.visitor) == (7, "e", "v7")
    assert not found.dead
    stranger = wallet.held(0, left_s=-1, marked=True, epoch="")
    assert wallet.read(stranger).dead
    plain = wallet.held(7, left_s=-1)
    assert wallet.read(plain).place is None


def test_a_pass_that_this_node_granted_is_known_by_the_cookies_before_it(wallet: Wallet) -> None:
    world, place = wallet.world, wallet.place(3)
    newest = wallet.held(3, left_s=300)
    world.node.context.granted.remember(newest)
    for token in (place, wallet.held(3, left_s=100), wallet.held(3, left_s=-1)):
        found = wallet.read(token)
        assert (found.admission, found.is_behind) == (newest, True)
    found = wallet.read(newest)
    assert (found.admission, found.is_behind) == (newest, False)
    world.pass_time(301)
    assert wallet.read(place).admission is None


def test_visitor_ids_are_96_random_bits_fit_for_a_key() -> None:
    world = World(start=False)
    ids = {new_visitor(Browser(world).request("/")) for _ in range(50)}
    assert len(ids) == 50
    assert all(len(each) == 16 and each.replace("-", "").replace("_", "").isalnum() for each in ids)


def test_a_pass_needs_a_whole_answer() -> None:
    world = World()
    snapshot = world.snapshot()
    whole = Answer("inside", ("1", "9", "5"), snapshot)
    assert pass_from(whole, world.queue(), "v") == Pass("launch", snapshot.epoch, "v", 1, 5, 9)
    for answer in (Answer("inside", ("1", "9", "5"), None), Answer("inside", ("1",), snapshot), Answer("inside", (), snapshot)):
        with pytest.raises(StoreBusy):
            pass_from(answer, world.queue(), "v")
