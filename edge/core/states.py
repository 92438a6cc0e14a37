"""The two tables of states: what a queue gives to whom in each of its states, and how a visitor goes from one to the next.

Pure data. The scripts, the status JSON and the diagram on docs/states.md are tested against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["open", "paused", "draining", "closed", "maintenance"]
MODES: tuple[Mode, ...] = ("open", "paused", "draining", "closed", "maintenance")


@dataclass(frozen=True, slots=True)
class QueueState:
    """One state of a queue. Those inside are untouched in every one of them.

    `newcomers`: "place", "number" (of arrival in the pre-queue), or "page" (no place). `joins`: whether a join gives anything.
    `calls`: whether people are called; `claims`: whether a called visitor may come in. `lease_clock`: whether turns, presence and
    settling run on; in the others they stand still. `newcomer_sees`, `waiting_sees`: the state in the status JSON.
    """

    name: str
    newcomers: Literal["place", "number", "page"]
    calls: bool
    claims: bool
    lease_clock: bool
    newcomer_sees: str
    waiting_sees: str
    meaning: str

    @property
    def joins(self) -> bool:
        """Whether a join gives a place or a number."""
        return self.newcomers != "page"


# In order of precedence: the first that applies is the state of the queue (`effective_state`).
QUEUE_STATES: dict[str, QueueState] = {
    state.name: state
    for state in (
        QueueState("maintenance", "page", False, False, False, "maintenance", "maintenance",
                   "an operator's: as closed, with a page of its own"),
        QueueState("closed", "page", False, False, False, "closed", "closed",
                   "an operator's, or closes_at is past: places are kept"),
        QueueState("paused", "place", False, False, False, "candidate", "paused",
                   "an operator's: newcomers line up, nobody is called"),
        QueueState("recovering", "place", False, False, True, "unavailable", "waiting",
                   "Redis lost the state: until the old places are back in order nobody is told one, then passes are waited for"),
        QueueState("not_open", "page", False, False, False, "not_open", "not_open",
                   "before prequeue_at, or before opens_at without one"),
        QueueState("prequeue", "number", False, False, False, "candidate", "prequeue",
                   "from prequeue_at until it opens"),
        QueueState("sold_out", "page", False, False, False, "sold_out", "sold_out",
                   "inventory is sold: places are kept, an operator may add units"),
        QueueState("draining", "page", True, True, True, "closed", "waiting",
                   "an operator's: no new places, those in line are called"),
        QueueState("open", "place", True, True, True, "candidate", "waiting",
                   "calls by its limits"),
    )
}  # fmt: skip


def effective_state(mode: Mode, now_ms: int, *, prequeue_at_ms: int | None = None, opens_at_ms: int | None = None,
                    closes_at_ms: int | None = None, has_opened: bool = False, is_recovering: bool = False,
                    is_sold_out: bool = False) -> str:  # fmt: skip
    """The state of a queue by the operator's mode, the schedule (Unix ms) and what the state says of itself.

    A pre-queue lasts until the script `open` has put it in order (`has_opened`), however late the first request comes.
    """
    if mode == "maintenance":
        return "maintenance"
    if mode == "closed" or (closes_at_ms is not None and now_ms >= closes_at_ms):
        return "closed"
    if mode == "paused":
        return "paused"
    if is_recovering:
        return "recovering"
    if opens_at_ms is not None and not has_opened:
        if prequeue_at_ms is not None and now_ms >= prequeue_at_ms:
            return "prequeue"
        if prequeue_at_ms is not None or now_ms < opens_at_ms:
            return "not_open"
    if is_sold_out:
        return "sold_out"
    return "draining" if mode == "draining" else "open"


def opening_is_due(status: str, clock_ms: int, opens_at_ms: int | None) -> bool:
    """Whether whoever sees this has to run the script `open`: a pre-queue, and the clock of the scripts is past opens_at."""
    return status == "prequeue" and opens_at_ms is not None and clock_ms >= opens_at_ms


# What the status JSON may say of a visitor (docs/http.md).
VISITOR_STATES = (
    "candidate", "waiting", "called", "inside", "prequeue", "not_open", "paused", "closed", "sold_out", "maintenance", "lapsed",
    "ended", "unavailable", "sign_in", "had_visit",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a visitor. `by`: what does it; `timer`: the key of the configuration that runs it, or empty.

    States here are those of a visit; of an ended one the status JSON says `ended` once.
    """

    start: str
    end: str
    by: str
    timer: str = ""


MOVES: tuple[Move, ...] = (
    Move("nobody", "candidate", "a cookie is handed out"),
    Move("nobody", "inside", "nobody has to queue"),
    Move("candidate", "prequeue", "the cookie comes back before it opens"),
    Move("candidate", "waiting", "the cookie comes back"),
    Move("candidate", "inside", "the cookie comes back, and it is the turn at once"),
    Move("prequeue", "waiting", "the queue opens: the number becomes a place"),
    Move("prequeue", "left", "the number is given up"),
    Move("waiting", "called", "the turn has come"),
    Move("waiting", "lapsed", "absent near the head: passed over", "presence_grace_s"),
    Move("waiting", "left", "the place is given up"),
    Move("called", "inside", "the claim"),
    Move("called", "lapsed", "the turn is missed", "claim_within_s"),
    Move("called", "left", "the place is given up"),
    Move("lapsed", "called", "back in time: called next (late_claim head)"),
    Move("lapsed", "waiting", "back later, or late_claim back: a new place at the end", "late_claim_within_s"),
    Move("lapsed", "ended", "late_claim refused"),
    Move("lapsed", "left", "the place is given up"),
    Move("inside", "completed", "the site says complete"),
    Move("inside", "left", "the visitor leaves"),
    Move("inside", "revoked", "the site or an operator ends it"),
    Move("inside", "idle_expired", "no request for too long", "idle_s"),
    Move("inside", "pass_expired", "the longest visit is over", "visit_max_s"),
    Move("inside", "checkout_expired", "the checkout took too long", "checkout_s"),
    Move("inside", "undelivered", "the pass could not reach the visitor"),
)
STARTS = ("nobody",)
# A visit that has come here is over: the slot is free, once.
WAYS_OUT = ("completed", "left", "revoked", "idle_expired", "pass_expired", "checkout_expired", "undelivered", "ended")


def may_move(start: str, end: str) -> bool:
    """Whether a visitor may go from one state to the other in one step."""
    return any(move.start == start and move.end == end for move in MOVES)
