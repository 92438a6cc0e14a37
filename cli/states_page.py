"""docs/states.md, made from the tables in `edge/core/states.py`: what each state means, and the diagram of a visit."""

from __future__ import annotations

from collections.abc import Iterator

from edge.core.states import MOVES, QUEUE_STATES, WAYS_OUT

_NEWCOMERS = {"place": "a place in line", "number": "a number of arrival", "page": "the page, no place"}


def diagram() -> str:
    """The visit as a Mermaid state diagram."""
    return "\n".join(["stateDiagram-v2", *_arrows()])


def _arrows() -> Iterator[str]:
    for move in MOVES:
        start = "[*]" if move.start == "nobody" else move.start
        label = move.by.replace(":", ",") + (f", {move.timer}" if move.timer else "")
        yield f"    {start} --> {move.end}: {label}"
    for way_out in WAYS_OUT:
        yield f"    {way_out} --> [*]"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _queue_rows() -> Iterator[str]:
    yield "| state | when | newcomers get | calls | the called may enter | turns run | newcomers see | in line see |"
    yield "|---|---|---|---|---|---|---|---|"
    for state in QUEUE_STATES.values():
        cells = (f"`{state.name}`", state.meaning, _NEWCOMERS[state.newcomers], _yes(state.calls), _yes(state.claims),
                 _yes(state.lease_clock), f"`{state.newcomer_sees}`", f"`{state.waiting_sees}`")  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def _move_rows() -> Iterator[str]:
    yield "| from | to | by | timer |"
    yield "|---|---|---|---|"
    for move in MOVES:
        yield f"| {move.start} | {move.end} | {move.by} | {f'`{move.timer}`' if move.timer else ''} |"


def states_page() -> str:
    """The page as text."""
    return "\n".join([
        "# States",
        "",
        "Made from the tables in `edge/core/states.py` by `make docs`. The scripts and the status JSON are tested against them.",
        "",
        "## A queue",
        "",
        "The first state of this list that applies is the queue's. Those inside are untouched in every one of them: they stay",
        "until their visit ends in one of the ways below. Where turns and presence do not run, they stand still.",
        "",
        *_queue_rows(),
        "",
        "A called visitor sees `called` where claims are allowed, else what those in line see; the time left stays the same.",
        "",
        "A queue of a group can be paused by itself (the step `pause_alone`): while the group is `open` or `draining`, those who",
        "wait in it see `paused`, nobody of it is called or passed over, and newcomers line up. Its turns and presence run on:",
        "whoever has a turn may come in, or lets it go. Its part of the calls goes to the others, whose newcomers line up too.",
        "",
        "## A visit",
        "",
        "```mermaid",
        diagram(),
        "```",
        "",
        *_move_rows(),
        "",
        "Each way out of a visit frees its slot once, and has a counter and an event of its own; the status says `ended`.",
        "",
    ])  # fmt: skip
