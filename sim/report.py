"""The report of a sale in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sim.figures import COMMANDS_AT_MOST, ERROR_AT_MOST_PERCENT, HELD_AT_LEAST_PERCENT, OPENING_S
from sim.history import Violated
from sim.run import Run


def _spread(values: dict[str, Any]) -> str:
    if not values["count"]:
        return "nobody"
    parts = (f"{name} {values[name]:,.0f} s" for name in ("p10", "p50", "p90", "p99", "most"))
    return f"{', '.join(parts)} ({values['count']:,} people)"


def _lines(data: dict[str, Any]) -> Iterator[str]:
    yield f"{data['name']} (seed {data['seed']}): {data['people']:,} people, {data['virtual_s'] / 60:,.1f} minutes"
    yield ""
    for name, count in data["funnel"].items():
        yield f"  {name:26} {count:>10,}"
    yield ""
    yield f"wait until called:    {_spread(data['wait_s'])}"
    yield f"wait until given up:  {_spread(data['gave_up_after_s'])}"
    yield from _line_lines(data["lines"])
    over = data["overshoot"]
    allowed = "no rate is set" if over["allowed"] is None else f"{over['allowed']:,.0f} allowed"
    yield f"fullest 60 s:         {over['claims']:,} claims, {allowed}"
    inside = data["inside"]
    yield f"called or inside:     at most {inside['most_called_or_inside']:,} of {inside['max_active'] or 'any number'}"
    yield f"units sold:           {inside['units_sold']:,} of {inside['inventory'] or 'any number'}"
    fair = data["fairness"]
    yield (f"order of calls:       {fair['inversions_of_calls']} inversions; {fair['absent_passed_over']:,} absent passed over, "
           f"{fair['came_in_after_being_away']:,} came in after being away")  # fmt: skip
    ends = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in data["ends"].items())
    yield f"visits and places:    {ends or 'none has ended'}"
    if data["invitations_used"]:
        yield f"invitations used:     {data['invitations_used']:,}, each once"
    yield from _estimate_lines(data["estimate"])
    yield from _command_lines(data["commands"])
    checks = data["invariants"]
    yield (f"laws:                 {checks['violations']} violations in {checks['answers_seen']:,} answers and "
           f"{checks['checks']:,} looks into Redis")  # fmt: skip


def _line_lines(lines: list[dict[str, Any]]) -> Iterator[str]:
    for line in lines:
        half = f"half waited up to {line['wait_s']['p50']:,.0f} s" if line["wait_s"]["count"] else "nobody waited"
        yield f"{line['name'] + ':':21} {line['came']:,} came, {line['came in']:,} came in, {half}"


def _estimate_lines(estimate: dict[str, Any]) -> Iterator[str]:
    for kind, says in (("all", "all"), ("undisturbed", "without those that a change or a fault fell into")):
        part = estimate[kind]
        if part["count"]:
            error = "-" if part["median_error_percent"] is None else f"{part['median_error_percent']:.1f} %"
            lean = "" if part["lean_percent"] is None else f", leaning {part['lean_percent']:+.1f} %"
            yield (f"estimate, {says}: median error {error}{lean} (yardstick {ERROR_AT_MOST_PERCENT:.0f} %), range held "
                   f"{part['range_held_percent']:.1f} % (yardstick {HELD_AT_LEAST_PERCENT:.0f} %), {part['count']:,} from "
                   f"{OPENING_S} s after opening")  # fmt: skip
    yield (f"estimate, steadiness: {estimate['rises_percent']:.2f} % of the steps of one visitor rose; "
           f"{estimate['told_nothing']:,} times nothing was told, {estimate['told']:,} times a range")  # fmt: skip


def _command_lines(commands: dict[str, Any]) -> Iterator[str]:
    each = commands["per_waiting_visitor_hour"]
    if commands["waiting_visitor_hours"]:
        yield (f"commands to Redis:    {each['all_but_presence']} per waiting visitor-hour (yardstick at 10,000 waiting "
               f"{COMMANDS_AT_MOST:.0f}), and {each['presence']} for presence in the head window")  # fmt: skip
        yield (f"                      {commands['waiting_visitor_hours']:,.0f} visitor-hours, "
               f"at most {commands['most_waiting']:,} waiting")  # fmt: skip
    sent = ", ".join(f"{name} {count:,}" for name, count in sorted(commands["sent"].items()))
    yield f"commands sent:        {sent}"


def as_text(data: dict[str, Any]) -> str:
    """The report for a terminal."""
    return "\n".join(_lines(data))


def violation_text(run: Run, broken: Violated) -> str:
    """What was broken, and what was said to whom it happened."""
    lines = [f"a law is broken after {broken.at_ms / 1000:,.1f} s: {broken.law}: {broken.what}"]
    if broken.person is not None:
        one = broken.person
        lines.append(f"visitor {one.index}, line {one.line}, arrived at {one.arrived_ms / 1000:,.1f} s:")
        lines += [f"  {at_ms / 1000:>10,.1f} s  {op:6} -> {verdict} {position or ''}"
                  for at_ms, op, verdict, position in run.account.history.of(one.index)]  # fmt: skip
    else:
        lines.append("it concerns no single visitor")
    return "\n".join(lines)
