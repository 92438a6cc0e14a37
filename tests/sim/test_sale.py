"""A sale file says what it means, or where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge.core.errors import ConfigError
from sim.sale_file import load_sale, read_sale

SALES = Path(__file__).resolve().parents[2] / "examples" / "sales"
PLAIN = 'name = "S"\n[queue]\nadmit_per_minute = 60\n[[arrivals]]\npeople = 10\n'


@pytest.mark.parametrize("path", sorted(SALES.rglob("*.toml")), ids=lambda path: path.stem)
def test_every_example_can_be_read(path: Path) -> None:
    assert load_sale(path).persons > 0


def test_what_is_left_out_has_a_default() -> None:
    sale = read_sale(PLAIN)
    assert (sale.nodes, sale.queue.id, sale.queue.admit_per_minute, sale.people.buyers_percent) == (4, "sale", 60, 80)
    assert load_sale(SALES / "small.toml", seed=99).seed == 99


ADMIT = PLAIN.replace("admit_per_minute = 60", 'on_store_error = "admit"\nstore_error_admit_per_minute = 3\nmax_active = 3')
LANES = '[[queue.lanes]]\nname = "a"\n[[queue.lanes]]\nname = "b"\nrule = "header:X"\n'
GROUP = 'name = "S"\n[group]\nadmit_per_minute = 60\n[[queues]]\nid = "a"\n[[queues]]\nid = "b"\n[[arrivals]]\npeople = 10\n'
PEOPLE, CHANGE, FAULT = PLAIN + "[people]\n", PLAIN + "[[changes]]\n", PLAIN + "[[faults]]\n"
PAUSE = CHANGE + 'action = "pause"\n'


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        # The file as a whole.
        ("name = ", "", "is not TOML"),
        ("\ufeff" + PLAIN, "", "byte order mark"),
        (PLAIN + "n = " + "9" * 5000, "", "too many digits"),
        (PLAIN + "n = " + "[" * 5000, "", "too deep"),
        (PLAIN + "speed = 3\n", "arrivals[0].speed", "unknown key"),
        ("speed = 3\n" + PLAIN, "speed", "unknown key"),
        ("nodes = 0\n" + PLAIN, "nodes", "from 1 to 200"),
        ("lasts_s = nan\n" + PLAIN, "lasts_s", "nan is not allowed"),
        ("seed = -inf\n" + PLAIN, "seed", "-inf is not allowed"),
        # The queue, or the group.
        (PLAIN.replace("60", "true"), "queue.admit_per_minute", "True is not allowed"),
        (PLAIN.replace("60", "60\nclaim_within_s = nan"), "queue.claim_within_s", "nan is not allowed"),
        (PLAIN.replace("60", "60\nidle_s = inf"), "queue.idle_s", "inf is not allowed"),
        (PLAIN.replace("60", "60\nopens_at = 2027-01-15T08:00:00"), "queue.opens_at", "a moment in UTC"),
        (PLAIN.replace("60", "60\nopens_at = 2027-01-15"), "queue.opens_at", "a moment in UTC"),
        (PLAIN.replace("admit_per_minute", "admit_per_hour"), "queue.admit_per_hour", "unknown key"),
        (PLAIN.replace("admit_per_minute = 60", ""), "queue.admit_per_minute", "no limit at all"),
        (PLAIN.replace("[queue]", "[[queue]]"), "queue", "must be a table"),
        (PLAIN.replace("[queue]\nadmit_per_minute = 60\n", ""), "queue", "is missing"),
        (ADMIT, "queue.on_store_error", "not simulated"),
        (GROUP + "[queue]\n", "queue", "stands beside a group"),
        (GROUP.replace("[group]\nadmit_per_minute = 60\n", ""), "group", "is missing"),
        (GROUP.replace('[[queues]]\nid = "a"\n[[queues]]\nid = "b"\n', ""), "queues", "is missing"),
        (GROUP.replace('[[queues]]\nid = "b"\n', ""), "queues", "must be 2 to 16"),
        (GROUP.replace('id = "b"\n', ""), "queues[1].id", "is missing"),
        (GROUP.replace('"b"', '"a"'), "queues[1].id", "is taken"),
        (GROUP.replace('"b"', '"b"\nidle_s = 60'), "queues[1].idle_s", "is the group's"),
        (GROUP.replace("60", "60\nquotas = { c = 2 }"), "group.quotas.c", "is no queue of this group"),
        (GROUP.replace("60", "60\nburst = 0"), "group.burst", "from 1"),
        (GROUP.replace("60", '60\nqueues = ["a"]'), "group.queues", "leave it out"),
        (GROUP + 'queue = "c"\n', "arrivals[0].queue", "there is no queue 'c': a, b"),
        # People.
        (PLAIN.replace("people = 10", "people = 0"), "arrivals", "nobody comes"),
        (PLAIN + "from_s = 100\nto_s = 50\n", "arrivals[0].to_s", "is before"),
        (PLAIN + "from_s = 9000\nto_s = 9001\n", "arrivals[0].from_s", "raise lasts_s"),
        (PEOPLE + "closers_percent = 101\n", "people.closers_percent", "from 0 to 100"),
        (PEOPLE + "closers_percent = 60\nleavers_percent = 41\n", "people.leavers_percent", "is 101 together"),
        (PEOPLE + "returners_percent = 5\n", "people.returners_percent", "give closers_percent"),
        (PEOPLE + "vip_percent = 5\n", "people.vip_percent", "no queue has a second lane"),
        (PEOPLE + "checkout_percent = 5\n", "people.checkout_percent", "has no checkout_s"),
        (PEOPLE + "checkout_runs_out_percent = 5\n", "people.checkout_runs_out_percent", "give checkout_percent"),
        (PEOPLE.replace("[[arr", LANES + "[[arr") + "vip_percent = 5\ninvites_shared_percent = 5\n",
         "people.invites_shared_percent", "invite = true"),
        (PLAIN + "[bots]\nfrom_s = 9\nto_s = 8\n", "bots.to_s", "is before"),
        (PLAIN + "[bots]\nhits = 1\nfrom_s = 7200\nto_s = 8000\n", "bots.from_s", "raise lasts_s"),
        # Changes.
        (CHANGE, "changes[0].limits", "changes nothing"),
        (CHANGE + "limits = {}\n", "changes[0].limits", "changes nothing"),
        (CHANGE + "limits = { speed = 3 }\n", "changes[0].limits.speed", "known are admit_per_minute"),
        (CHANGE + "limits = { max_active = 0 }\n", "changes[0].limits.max_active", "or -1 for none"),
        (CHANGE + "limits = { burst = nan }\n", "changes[0].limits.burst", "nan is not allowed"),
        (CHANGE + "limits = { admit_per_minute = -1 }\n", "changes[0].limits", "no limit at all"),
        (CHANGE + "limits = { admit_per_minute = -1, max_active = 3, burst = 2 }\n", "changes[0].limits", "a burst means"),
        (PAUSE + "limits = { burst = 3 }\n", "changes[0].limits", "pause takes no limits"),
        (PAUSE + "count = 3\n", "changes[0].count", "pause takes no count"),
        (CHANGE + 'action = "admit"\n', "changes[0].count", "calls nobody"),
        (PAUSE + "at_s = 7200\n", "changes[0].at_s", "raise lasts_s, which is 7200"),
        (PAUSE + '[[changes]]\nat_s = 5\naction = "pause"\n', "changes[1].action", "is paused already"),
        (CHANGE + 'action = "resume"\n', "changes[0].action", "nothing to resume"),
        (PAUSE + 'queue = "sale"\n', "changes[0].queue", "there is no group"),
        (GROUP + "[[changes]]\nqueue = 'c'\naction = 'pause'\n", "changes[0].queue", "there is no queue 'c': a, b"),
        (GROUP + "[[changes]]\nqueue = 'a'\naction = 'reset'\n", "changes[0].queue", "leave queue out"),
        (GROUP + "[[changes]]\nqueue = 'a'\naction = 'pause'\n[[changes]]\nat_s = 5\nqueue = 'b'\naction = 'resume'\n",
         "changes[1].action", "nothing to resume"),
        (CHANGE + 'action = "explode"\n', "changes[0].action", "one of limits"),
        # Faults.
        (FAULT + 'kind = "away"\n', "faults[0].for_s", "lasts for a while"),
        (FAULT + 'kind = "clock"\n', "faults[0].clock_by_s", "give the seconds"),
        (FAULT + 'kind = "kill"\nfor_s = 1\n', "aof", "comes back empty"),
        (FAULT + 'kind = "away"\nfor_s = 9\n[[faults]]\nat_s = 5\nkind = "flush"\n', "faults[1].at_s", "has ended"),
        (FAULT + 'kind = "away"\nfor_s = 9\nat_s = 7200\n', "faults[0].at_s", "raise lasts_s"),
        (FAULT + 'kind = "stall"\nfor_s = 90\n', "faults[0].for_s", "use away"),
        (FAULT + 'kind = "flush"\nfor_s = 9\n', "faults[0].for_s", "happens at once"),
        (FAULT + 'kind = "away"\nfor_s = 9\nlose_s = 1\n', "faults[0].lose_s", "cuts no file"),
        (FAULT + 'kind = "away"\nfor_s = 9\npercent = 50\n', "faults[0].percent", "meets every request"),
        (FAULT + 'kind = "errors"\nfor_s = 9\npercent = 0\n', "faults[0].percent", "meets no request"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(text: str, path: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_sale(text)
    assert caught.value.path == path
    assert words in caught.value.problem


@pytest.mark.parametrize("text", [
    PAUSE + '[[changes]]\nat_s = 5\naction = "resume"\n[[changes]]\nat_s = 9\naction = "pause"\n',
    FAULT + 'kind = "flush"\n[[changes]]\nat_s = 5\naction = "resume"\n',
    CHANGE + 'action = "admit"\ncount = 5\n', CHANGE + 'action = "reset"\n',
    CHANGE + "limits = { admit_per_minute = -1, max_active = 5, burst = -1 }\n", CHANGE + "limits = { admit_per_minute = 0 }\n",
    PEOPLE + "closers_percent = 50\nleavers_percent = 50\n", PLAIN + "[bots]\n", PLAIN,
])  # fmt: skip
def test_what_means_something_is_taken(text: str) -> None:
    assert read_sale(text).persons == 10


def test_a_group_is_one_line_of_queues() -> None:
    sale = read_sale(GROUP.replace("60", "60\nquotas = { b = 3 }"))
    assert [(queue.id, queue.scope, queue.line, queue.admit_per_minute) for queue in sale.queues] == [
        ("a", "sale", 0, 60), ("b", "sale", 1, 60)]  # fmt: skip
    assert sale.queue.line_shares == (1000, 3000)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sale.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"^is not UTF-8 "):
        load_sale(tmp_path / "sale.toml")


def test_a_file_that_cannot_be_read_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^cannot be read: No such file"):
        load_sale(tmp_path / "none.toml")
