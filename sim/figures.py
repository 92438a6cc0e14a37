"""The figures of a finished run, as plain data that JSON can hold. Times in seconds of the sale unless named otherwise."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any

from sim.people import Person, State
from sim.run import Run
from sim.wire import START_MS

OPENING_S = 60  # yardsticks of the estimate count from so long after opening
ERROR_AT_MOST_PERCENT, HELD_AT_LEAST_PERCENT = 10.0, 80.0
COMMANDS_AT_MOST = 10.0
SHORT_S = 60  # an error in percent of less than a minute says nothing


def figures(run: Run) -> dict[str, Any]:
    """Everything that the report shows."""
    people = [person for person in run.persons if not person.is_bot]
    return {
        "name": run.sale.name,
        "seed": run.sale.seed,
        "virtual_s": run.now_ms / 1000,
        "people": len(people),
        "funnel": _funnel(people, run),
        "wait_s": _spread([(p.called_ms - p.joined_ms) / 1000 for p in people if p.called_ms >= 0 and p.joined_ms >= 0]),
        "gave_up_after_s": _spread([(p.ended_ms - p.joined_ms) / 1000 for p in people
                                    if p.state in (State.CLOSED, State.GAVE_UP) and 0 <= p.joined_ms <= p.ended_ms]),
        "lines": _of_lines(people, run),
        "overshoot": _overshoot(run),
        "fairness": _fairness(people, run),
        "estimate": _estimate(run),
        "commands": _commands(run),
        "inside": {"most_called_or_inside": run.account.most_counted, "max_active": run.sale.queue.max_active,
                   "units_sold": run.account.sold_in_all, "inventory": run.sale.queue.inventory},
        "ends": {**run.account.slots.ends, **_by_themselves(run)},
        "invitations_used": run.account.seats.invitations_used,
        "events": dict(sorted((run.account.counts + run.tally.counts).items())),
        "invariants": {"checks": run.account.counts["checks"], "answers_seen": len(run.account.history), "violations": 0},
        "curves": _curves(run, people),
    }  # fmt: skip


def _funnel(people: Sequence[Person], run: Run) -> dict[str, int]:
    states = Counter(person.state for person in people)
    return {
        "came": len(people),
        "got a place": sum(1 for p in people if p.joined_ms >= 0 or p.admitted_ms >= 0),
        "were called": sum(1 for p in people if p.called_ms >= 0),
        "came in": sum(1 for p in people if p.admitted_ms >= 0),
        "bought": states[State.BOUGHT],
        "left without buying": states[State.LEFT],
        "vanished inside": states[State.VANISHED],
        "pass ran out": states[State.EXPIRED],
        "time to pay ran out": states[State.UNPAID],
        "longest visit was over": states[State.TOO_LONG],
        "paid too late": states[State.CONFLICT],
        "closed the tab": states[State.CLOSED],
        "gave up the place": states[State.GAVE_UP],
        "let three turns go": states[State.LAPSED],
        "read that all is sold": states[State.SOLD_OUT],
        "still there at the end": sum(count for state, count in states.items() if state < State.CLOSED),
        "bot hits": run.tally.counts["bot hits"],
        "bots with a place": sum(1 for p in run.persons if p.is_bot and p.position),
    }


def _by_themselves(run: Run) -> dict[str, int]:
    """How many visits ended by a timer: by each one, as far as one alone can have been the reason."""
    found = Counter("one of several timers" if len(reasons) > 1 else reasons[0] for reasons in run.account.slots.expired.values())
    return dict(sorted(found.items()))


def _of_lines(people: Sequence[Person], run: Run) -> list[dict[str, Any]]:
    """What became of the people of each queue and lane, when there is more than one line."""
    out = []
    for queue in run.sale.queues if run.sale.queue.line_shares[1:] else ():
        for line in range(queue.line, queue.line + queue.line_count):
            of_line = [person for person in people if person.line == line]
            waits = _spread([(p.called_ms - p.joined_ms) / 1000 for p in of_line if 0 <= p.joined_ms <= p.called_ms])
            name = " ".join(filter(None, (queue.id if run.sale.others else "", queue.lane_of(line))))
            out.append({"name": name, "came": len(of_line), "came in": sum(p.admitted_ms >= 0 for p in of_line), "wait_s": waits})
    return out


def _spread(values: list[float]) -> dict[str, float | int]:
    values.sort()
    if not values:
        return {"count": 0}
    at = {f"p{part}": round(values[min(len(values) - 1, len(values) * part // 100)], 1) for part in (10, 50, 90, 99)}
    return {"count": len(values), "mean": round(sum(values) / len(values), 1), **at, "most": round(values[-1], 1)}


def _overshoot(run: Run) -> dict[str, float | int | None]:
    best = run.account.rate.fullest_minute()
    if best is None:
        return {"claims": 0, "allowed": None, "at_s": None}
    claims, allowed, at_ms = best
    at_s = round((at_ms - START_MS) / 1000, 1)
    return {"claims": claims, "allowed": None if allowed is None else round(allowed, 1), "at_s": at_s}


def _fairness(people: Sequence[Person], run: Run) -> dict[str, int]:
    return {
        "inversions_of_calls": 0,  # one would have ended the run
        "positions_looked_at": sum(1 for p in people if p.position),
        "absent_passed_over": run.account.counts["absent passed over"],
        "came_in_after_being_away": sum(1 for p in people if p.admitted_ms >= 0 and p.alert_ms > p.arrived_ms),
    }


def _troubled_spans(run: Run) -> list[tuple[int, int]]:
    """Moments (ms) at which an operator or a fault made every earlier estimate a guess."""
    moments = [(change.at_s * 1000, change.at_s * 1000) for change in run.sale.changes]
    moments += [(fault.at_s * 1000, (fault.at_s + fault.for_s) * 1000) for fault in run.sale.faults]
    return sorted(moments)


def _estimate(run: Run) -> dict[str, Any]:
    told, spans = run.tally.estimates, _troubled_spans(run)
    from_ms = OPENING_S * 1000 + max(0, (run.sale.queue.opens_at_ms or 0) - START_MS)
    errors: dict[str, list[float]] = {"all": [], "undisturbed": []}
    held: dict[str, list[bool]] = {"all": [], "undisturbed": []}
    for who, at_ms, low_s, high_s in zip(told.who, told.at_ms, told.low_s, told.high_s, strict=True):
        called_ms = run.persons[who].called_ms
        if called_ms < 0 or at_ms < from_ms or called_ms < at_ms:
            continue
        actual_s = (called_ms - at_ms) / 1000
        # Whether it is one is said by what was told, not by what came of it: else only those who were called early would be left.
        is_disturbed = any(start <= at_ms + high_s * 1000 and end >= at_ms for start, end in spans)
        for kind in ("all",) if is_disturbed else ("all", "undisturbed"):
            held[kind].append(low_s <= actual_s <= high_s)
            if actual_s >= SHORT_S:
                errors[kind].append(((low_s + high_s) / 2 - actual_s) / actual_s * 100)
    out: dict[str, Any] = {"told": len(told.who), "told_nothing": told.nothing,
                           "rises_percent": round(100 * told.rises / max(1, told.steps), 2)}  # fmt: skip
    for kind in held:
        out[kind] = {
            "count": len(held[kind]),
            "median_error_percent": round(median(map(abs, errors[kind])), 1) if errors[kind] else None,
            "lean_percent": round(median(errors[kind]), 1) if errors[kind] else None,  # above 0: told too long
            "range_held_percent": round(100 * sum(held[kind]) / len(held[kind]), 1) if held[kind] else None,
        }
    return out


def _commands(run: Run) -> dict[str, Any]:
    sent, hours = run.store.sent, run.tally.presence.hours
    presence = run.tally.counts["presence"]
    for_waiting = sent["snapshot"] + sent["join"] + sent["touch"] - presence
    per_hour = {name: round(count / hours, 2) if hours else None for name, count in (
        ("all_but_presence", for_waiting), ("presence", presence), ("snapshot", sent["snapshot"]), ("join", sent["join"]),
        ("turns and sample", sent["touch"] - presence))}  # fmt: skip
    return {"sent": dict(sent), "waiting_visitor_hours": round(hours, 2), "most_waiting": run.tally.presence.most,
            "per_waiting_visitor_hour": per_hour}  # fmt: skip


def _curves(run: Run, people: Sequence[Person]) -> dict[str, list[list[float]]]:
    """Points (s, value) for the plots, a few hundred each."""
    step_s = max(5, round(run.now_ms / 1000 / 200))
    claims = sorted((at - START_MS) / 1000 for at in run.account.rate.claims)
    per_minute = []
    for edge_s in range(step_s, round(run.now_ms / 1000) + step_s, step_s):
        count = bisect_right(claims, edge_s) - bisect_right(claims, edge_s - step_s)
        per_minute.append([float(edge_s), count * 60 / step_s])
    waiting = run.tally.presence.curve
    thin = max(1, len(waiting) // 300)
    placed = [(p.joined_ms / 1000, (p.called_ms - p.joined_ms) / 1000) for p in people if 0 <= p.joined_ms <= p.called_ms]
    some = placed[:: max(1, len(placed) // 1500)]
    return {
        "waiting": [[at / 1000, float(count)] for at, count in waiting[::thin]],
        "claims_per_minute": per_minute,
        "wait_by_arrival": [[round(x, 1), round(y, 1)] for x, y in some],
    }
