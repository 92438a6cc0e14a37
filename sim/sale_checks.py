"""What cannot mean anything in a sale though each key by itself is right, with the place and what to do."""

from __future__ import annotations

from collections.abc import Callable

from edge.core.errors import ConfigError
from edge.core.model import Queue
from sim.sale import Change, Fault, Sale

STALL_AT_MOST_S = 60


def check_sale(sale: Sale) -> None:
    """Raises ConfigError for the first thing that means nothing."""
    for check in (_check_arrivals, _check_people, _check_bots, _check_changes, _check_limits, _check_faults):
        check(sale)


def _in_time(at_s: int, path: str, sale: Sale) -> None:
    if at_s >= sale.lasts_s:
        raise ConfigError(path, f"{at_s} is after the end of the sale: lower it, or raise lasts_s, which is {sale.lasts_s}")


def _check_arrivals(sale: Sale) -> None:
    ids = [queue.id for queue in sale.queues]
    for index, piece in enumerate(sale.arrivals):
        path = f"arrivals[{index}]"
        if piece.to_s < piece.from_s:
            raise ConfigError(f"{path}.to_s", f"{piece.to_s} is before from_s, {piece.from_s}")
        _in_time(piece.from_s, f"{path}.from_s", sale)
        if piece.queue and piece.queue not in ids:
            raise ConfigError(f"{path}.queue", f"there is no queue {piece.queue!r}: {', '.join(ids)}; or leave it out")
    if sale.persons == 0:
        raise ConfigError("arrivals", "nobody comes: give at least one piece some people")


def second_lane(queue: Queue) -> int | None:
    """The line of the second lane of a queue, in which the VIPs stand; None without lanes."""
    return queue.line + 1 if len(queue.lanes) > 1 else None


def _takes_invitations(queue: Queue) -> bool:
    return len(queue.lanes) > 1 and queue.lanes[1].invite


# Shares that need something of a queue: key, what a queue has to have, what to do.
_NEEDS: tuple[tuple[str, Callable[[Queue], bool], str], ...] = (
    ("vip_percent", lambda queue: second_lane(queue) is not None, "no queue has a second lane: give it lanes, or leave this out"),
    ("invites_shared_percent", _takes_invitations,
     "no queue has a second lane with invite = true, into which a link could lead: give it one, or leave this out"),
    ("checkout_percent", lambda queue: queue.checkout_s is not None, "the queue has no checkout_s: set it, or leave this out"),
)  # fmt: skip
# Shares of other shares: nobody is left of whom to take them.
_PARTS_OF = (
    ("returners_percent", "closers_percent"),
    ("invites_shared_percent", "vip_percent"),
    ("checkout_percent", "buyers_percent"),
    ("checkout_extends_percent", "checkout_percent"),
    ("checkout_runs_out_percent", "checkout_percent"),
)


def _check_people(sale: Sale) -> None:
    people = sale.people
    both = people.closers_percent + people.leavers_percent
    if both > 100:
        raise ConfigError("people.leavers_percent", f"is {both} together with closers_percent, of 100: nobody closes the tab and "
                          "gives up the place as well, so lower one of them")  # fmt: skip
    for key, is_there, what_to_do in _NEEDS:
        if getattr(people, key) and not any(map(is_there, sale.queues)):
            raise ConfigError(f"people.{key}", what_to_do)
    for key, whole in _PARTS_OF:
        if getattr(people, key) and not getattr(people, whole):
            raise ConfigError(f"people.{key}", f"is a share of nobody: give {whole}, of whom it is a share, or leave this out")


def _check_bots(sale: Sale) -> None:
    bots = sale.bots
    if bots.to_s < bots.from_s:
        raise ConfigError("bots.to_s", f"{bots.to_s} is before from_s, {bots.from_s}")
    if bots.hits or bots.with_cookies:
        _in_time(bots.from_s, "bots.from_s", sale)


def _check_change(change: Change, path: str) -> None:
    if change.action == "limits" and not change.limits:
        raise ConfigError(f"{path}.limits", "changes nothing: give one or more, as { admit_per_minute = 300 }, or another action")
    if change.action != "limits" and change.limits:
        raise ConfigError(f"{path}.limits", f"{change.action} takes no limits: leave them out, or make it a change of its own")
    if change.action == "admit" and not change.count:
        raise ConfigError(f"{path}.count", "calls nobody: say how many people are called, from 1")
    if change.action != "admit" and change.count:
        raise ConfigError(f"{path}.count", f"{change.action} takes no count: leave it out, or use the action admit")


def _check_queue_of(change: Change, path: str, sale: Sale) -> None:
    ids = [queue.id for queue in sale.queues]
    if change.queue and change.action not in ("pause", "resume"):
        raise ConfigError(f"{path}.queue", f"{change.action} concerns all queues of the group: leave queue out")
    if change.queue and not sale.others:
        raise ConfigError(f"{path}.queue", "there is no group: leave queue out")
    if change.queue and change.queue not in ids:
        raise ConfigError(f"{path}.queue", f"there is no queue {change.queue!r}: {', '.join(ids)}; or leave it out")


def _in_order(sale: Sale) -> list[tuple[str, Change]]:
    return sorted(((f"changes[{index}]", change) for index, change in enumerate(sale.changes)), key=lambda pair: pair[1].at_s)


def _check_changes(sale: Sale) -> None:
    lost_s = min((fault.at_s for fault in sale.faults if fault.kind in ("flush", "kill")), default=None)
    paused: set[str] = set()
    for path, change in _in_order(sale):
        _in_time(change.at_s, f"{path}.at_s", sale)
        _check_change(change, path)
        _check_queue_of(change, path, sale)
        if change.action == "pause" and change.queue in paused:
            raise ConfigError(f"{path}.action", "the queue is paused already: resume it before")
        releases = change.queue in paused or (lost_s is not None and lost_s <= change.at_s and not change.queue)
        if change.action == "resume" and not releases:
            raise ConfigError(f"{path}.action", "there is nothing to resume: no pause, and no lost state, before it")
        if change.action in ("pause", "resume"):
            (paused.add if change.action == "pause" else paused.discard)(change.queue)


def _check_limits(sale: Sale) -> None:
    queue = sale.queue
    now = {"admit_per_minute": queue.admit_per_minute, "burst": queue.burst, "max_active": queue.max_active,
           "inventory": queue.inventory}  # fmt: skip
    for path, change in _in_order(sale):
        now |= dict(change.limits)
        if now["burst"] is not None and now["admit_per_minute"] is None:
            raise ConfigError(f"{path}.limits", "a burst means nothing without admit_per_minute: set both, or burst to -1")
        has_none = now["admit_per_minute"] is now["max_active"] is now["inventory"] is None
        if change.limits and has_none and not (queue.manual or queue.always_queue):
            raise ConfigError(f"{path}.limits", "the queue would have no limit at all: keep one but burst")


# What only faults of some kind have: key, kinds, what it is.
_OF_KIND = (
    ("for_s", ("away", "errors", "lost_answers", "stall", "kill"), "happens at once: leave for_s out"),
    ("clock_by_s", ("clock",), "sets no clock: leave clock_by_s out, or use the kind clock"),
    ("lose_s", ("kill",), "cuts no file: leave lose_s out, or use the kind kill"),
)


def _check_fault(fault: Fault, path: str, sale: Sale) -> None:
    for key, kinds, what in _OF_KIND:
        if getattr(fault, key) and fault.kind not in kinds:
            raise ConfigError(f"{path}.{key}", f"{fault.kind} {what}")
    if fault.percent != 100 and fault.kind not in ("errors", "lost_answers"):
        raise ConfigError(f"{path}.percent", f"{fault.kind} meets every request: leave percent out")
    if fault.percent == 0:
        raise ConfigError(f"{path}.percent", "meets no request: give a percentage from 1, or leave the fault out")
    if fault.kind in ("away", "errors", "lost_answers", "stall") and not fault.for_s:
        raise ConfigError(f"{path}.for_s", f"{fault.kind} lasts for a while: give its seconds")
    if fault.kind == "stall" and fault.for_s > STALL_AT_MOST_S:
        raise ConfigError(f"{path}.for_s", f"a stall of more than {STALL_AT_MOST_S} s is an absence: use away")
    if fault.kind == "clock" and not fault.clock_by_s:
        raise ConfigError(f"{path}.clock_by_s", "give the seconds by which the clock is set")
    if fault.kind == "kill" and sale.aof == "no":
        raise ConfigError("aof", "a killed Redis without an append-only file comes back empty: say always or everysec, "
                          "or use the fault flush")  # fmt: skip


def _check_faults(sale: Sale) -> None:
    end_s = -1
    for index, fault in sorted(enumerate(sale.faults), key=lambda pair: pair[1].at_s):
        path = f"faults[{index}]"
        _in_time(fault.at_s, f"{path}.at_s", sale)
        if fault.at_s <= end_s:
            raise ConfigError(f"{path}.at_s", f"begins before the one before it has ended, at {end_s} s")
        end_s = fault.at_s + fault.for_s
        _check_fault(fault, path, sale)
