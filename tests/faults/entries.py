"""Faults that are put into the scripts one at a time: each has to be seen by the model of the scripts and by the simulation.

`sale` names the small sale (sales.py) and `story` the sequence of steps (stories.py) that meet it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """In `file`.lua the text `old`, which is there once, becomes `new`."""

    name: str
    file: str
    old: str
    new: str
    sale: str = "plain"
    story: str = "walk"


FAULTS = (
    Fault("a lease never ends", "pump", "if #lapsed == 0 then return false end", "if #lapsed >= 0 then return false end"),
    Fault("a lease ends at once", "call", "local deadline, turns = text(s.lease + lasts), {}",
          "local deadline, turns = text(s.lease + 1), {}"),
    Fault("a pass never ends", "pump", "if #expired == 0 then return false end", "if #expired >= 0 then return false end"),
    Fault("a slot is freed before its pass ends", "pump", "call('ZRANGEBYSCORE', ACTIVE, '-inf', text(s.clock),",
          "call('ZRANGEBYSCORE', ACTIVE, '-inf', text(s.clock + 20000),"),
    Fault("a slot leaks on completion", "end", "s.active = s.active - call('ZREM', ACTIVE, member)",
          "if reason ~= 'completed' then s.active = s.active - call('ZREM', ACTIVE, member) end"),
    Fault("a slot is freed twice", "end", "s.active = s.active - call('ZREM', ACTIVE, member)", "s.active = s.active - 1"),
    Fault("a purchase is counted twice", "end", "if reason == 'completed' then mark_over(member) end", "",
          sale="lost answers"),
    Fault("the bucket is not clamped", "clock", "s.units = math.min(s.bucket, s.units + s.rate * math.min(passed, step))",
          "s.units = s.units + s.rate * math.min(passed, step)", sale="idle", story="idle"),
    Fault("the token is not taken", "visit", "if has_rate then s.units = s.units - UNITS end", "", sale="idle", story="idle"),
    Fault("the bucket is refilled by a change of the rate", "clock",
          "s.units = had_rate and math.min(s.units, s.bucket) or s.bucket", "s.units = s.bucket",
          sale="changes", story="changes"),
    Fault("the cap is off by one", "window", "s.max_active - s.active - s.called)", "s.max_active - s.active - s.called + 1)"),
    Fault("units are not reserved", "window", "s.inventory - s.sold - s.active - s.called)", "s.inventory - s.sold)",
          sale="stock", story="stock"),
    Fault("an ended pass is good again", "renew", "return not was_used(member) and not is_over(member)", "return true",
          sale="copies", story="copies"),
    Fault("an ended pass is not listed", "end", "if position <= WIDEST_ENDED then", "if position < 0 then", sale="copies",
          story="copies"),
    Fault("a lost epoch is forgotten", "pump", "if s.recover_until > 0 and s.clock >= s.recover_until and",
          "if s.recover_until > 0 and", sale="flush", story="loss"),
    Fault("passes of a lost epoch are strangers", "epoch", "return s.begun_by ~= BEGUN_BY_RESET and epoch ~= s.epoch and",
          "return false and", sale="flush", story="loss"),
    Fault("the clock runs backwards", "clock", "local passed = math.max(0, wall_now - s.wall)",
          "local passed = wall_now - s.wall", sale="clock", story="clock"),
    Fault("the present are passed over", "call", "line.cursor = math.max(line.cursor, positions[i])",
          "line.cursor = math.max(line.cursor, positions[i] + 1)"),
    Fault("the last come first", "call", "call('ZRANGEBYSCORE', READY, from, to, 'LIMIT', '0', text(room))",
          "call('ZREVRANGEBYSCORE', READY, to, from, 'LIMIT', '0', text(room))"),
    Fault("one visitor gets two places", "place",
          "local found = call('HGET', PLACES, visitor) or call('HGET', PLACES_OLD, visitor)", "local found = nil",
          sale="lost answers", story="doubled"),
    Fault("a place is given twice", "place", "line.length = line.length + 1\n", "line.length = math.max(1, line.length)\n"),
    Fault("the wrong lane", "join", "local wanted_line = s.lines[tonumber(ARGV[8]) + 1] or s.lines[1]",
          "local wanted_line = s.lines[1]", sale="lanes", story="lanes"),
    Fault("an invitation is good for everybody", "join", "if call('HSETNX', INVITES, ARGV[9], visitor) == 1 or",
          "if call('HSETNX', INVITES, ARGV[9], visitor) >= 0 or", sale="links", story="links"),
    Fault("a good invitation is not honoured", "join", "if call('HSETNX', INVITES, ARGV[9], visitor) == 1 or",
          "if false and call('HSETNX', INVITES, ARGV[9], visitor) == 1 or", sale="links", story="links"),
    Fault("a payment has no end", "visit", "return math.min(checkout and math.floor(checkout) or s.clock + s.idle, hard)",
          "return math.min(s.clock + s.idle, hard)", sale="timers", story="timers"),
    Fault("a payment is extended for ever", "checkout", "running % 1 > 0", "running < 0", sale="timers", story="timers"),
    Fault("the longest visit has no end", "visit", "if s.visit_max then call('HSET', VISITS,",
          "if s.visit_max and false then call('HSET', VISITS,", sale="timers", story="timers"),
    Fault("a payment that runs out counts as silence", "pump",
          "if ends[2] and math.floor(ends[2]) <= s.clock then return 'checkout_expired' end", "", sale="timers", story="timers"),
    Fault("a queue of a group that is paused is called", "control", "line.weight = is_pause and 0 or tonumber(weight)",
          "line.weight = tonumber(weight)", sale="one of a group", story="alone"),
    Fault("the quotas of a group do not lend", "call", "if offer.taken < #offer.members then",
          "if offer.taken < #offer.members and not is_over_quota(s, line, weights) then", sale="lent", story="lending"),
    Fault("the quotas of a group count for nothing", "call", "local over = is_over_quota(s, line, weights) and 1 or 0",
          "local over = 0", sale="lent", story="lending"),
    Fault("a quota counts slots that are free again", "end", "line.held = line.held - 1\n", "", sale="lent", story="lending"),
    Fault("a queue of a group starves while another has people", "call",
          "if not best or over < best_over or (over == best_over and line.pass < best.pass) then", "if not best then",
          sale="lent", story="lending"),
    Fault("the total of a group is off by one", "window", "s.max_active - s.active - s.called)",
          "s.max_active - s.active - s.called + 1)", sale="lent", story="lending"),
    Fault("a pause does not hold", "clock", "local CALLS = { open = true, draining = true }",
          "local CALLS = { open = true, draining = true, paused = true }", sale="pause", story="pause"),
)  # fmt: skip
