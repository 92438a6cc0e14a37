"""Small sales, each made so that one kind of fault has to show; a second or two each."""

from __future__ import annotations

from functools import lru_cache

from sim.sale import Sale
from sim.sale_file import read_sale

_HEAD = """
name = "{name}"
seed = 4
lasts_s = {lasts_s}
nodes = 2
check_every_s = 4
[queue]
claim_within_s = 20
idle_s = {idle_s}
renew_every_s = 15
settle_s = 20
presence_grace_s = 45
poll_s = 2
{queue}
"""
_LIMITS = "admit_per_minute = 240\nburst = 4\nmax_active = 15"
_PEOPLE = """
[people]
closers_percent = 10
closers_after_s = 30
absent_when_called_percent = 10
two_tabs_percent = 10
vanish_inside_percent = 15
slow_payers_percent = 15
slow_visit_s = 60
visit_s = 10
request_every_s = 5
claim_after_s = 4
"""
_CALM = "\n[people]\nvisit_s = 10\nrequest_every_s = 5\nclaim_after_s = 3\n"
_RUSH = '\n[[arrivals]]\npeople = 90\nto_s = 40\n'

_IDLE_S = {"flush": 90}  # passes must outlast the recovery's own work for a forgotten one to matter
# name: (queue, the rest, seconds)
_SALES: dict[str, tuple[str, str, int]] = {
    "plain": (_LIMITS, _RUSH + _PEOPLE, 180),
    "idle": ("admit_per_minute = 240\nburst = 4", "\n[[arrivals]]\npeople = 6\nto_s = 60\n"
             "\n[[arrivals]]\npeople = 60\nfrom_s = 90\nto_s = 92\n" + _CALM, 150),
    "changes": ("admit_per_minute = 240\nburst = 8", _RUSH.replace("90", "200") + _CALM + "".join(
        f"\n[[changes]]\nat_s = {at}\nlimits = {{ admit_per_minute = {rate} }}\n"
        for at, rate in ((20, 200), (22, 240), (24, 200), (26, 240), (28, 180))), 100),
    "stock": ("admit_per_minute = 240\nburst = 8\ninventory = 20", _RUSH + _PEOPLE.replace("visit_s = 10", "visit_s = 30"), 120),
    "copies": (_LIMITS, _RUSH + _PEOPLE.replace("two_tabs_percent = 10", "two_tabs_percent = 90"), 150),
    "flush": (_LIMITS, _RUSH + _PEOPLE.replace("_percent = 15", "_percent = 45")
              + '\n[[faults]]\nat_s = 30\nkind = "flush"\n', 150),
    "clock": (_LIMITS, _RUSH + _PEOPLE + '\n[[faults]]\nat_s = 20\nkind = "clock"\nclock_by_s = -15\n', 120),
    "lost answers": (_LIMITS, _RUSH + _CALM + '\n[[faults]]\nat_s = 5\nfor_s = 40\nkind = "lost_answers"\npercent = 50\n', 150),
    "lanes": (_LIMITS + '\n[[queue.lanes]]\nname = "all"\nshare = 3\n[[queue.lanes]]\nname = "vip"\ninvite = true',
              _RUSH + _PEOPLE + "vip_percent = 30\n", 120),
    "timers": ("max_active = 20\ncheckout_s = 30\nvisit_max_s = 60", _RUSH + "\n[people]\nvisit_s = 40\nrequest_every_s = 5\n"
               "claim_after_s = 3\ncheckout_percent = 60\ncheckout_extends_percent = 50\ncheckout_runs_out_percent = 50\n", 200),
    "links": (_LIMITS + '\n[[queue.lanes]]\nname = "all"\nshare = 3\n[[queue.lanes]]\nname = "vip"\ninvite = true',
              _RUSH + _CALM + "vip_percent = 40\ninvites_shared_percent = 80\n", 90),
    "one of a group": (_LIMITS + '\n[[queues]]\nid = "a"\n[[queues]]\nid = "b"',
                       _RUSH + 'queue = "b"\n' + _RUSH.replace("90", "10") + _CALM
                       + '\n[[changes]]\nat_s = 15\naction = "pause"\nqueue = "b"\n'
                       '[[changes]]\nat_s = 60\naction = "resume"\nqueue = "b"\n', 150),
    "lent": ("max_active = 12\nquotas = { b = 2 }" + '\n[[queues]]\nid = "a"\n[[queues]]\nid = "b"',
             _RUSH.replace("90", "60") + 'queue = "a"\n' + '\n[[arrivals]]\npeople = 40\nfrom_s = 30\nto_s = 45\nqueue = "b"\n'
             + _CALM, 150),
    "pause": (_LIMITS, _RUSH + _CALM + '\n[[changes]]\nat_s = 15\naction = "pause"\n'
              '[[changes]]\nat_s = 50\naction = "resume"\n', 120),
}  # fmt: skip
NAMES = tuple(_SALES)


@lru_cache(maxsize=32)
def sale(name: str) -> Sale:
    """The small sale of this name."""
    queue, rest, lasts_s = _SALES[name]
    head = _HEAD.replace("[queue]", "[group]") if "[[queues]]" in queue else _HEAD
    return read_sale(head.format(name=name, queue=queue, lasts_s=lasts_s, idle_s=_IDLE_S.get(name, 40)) + rest)
