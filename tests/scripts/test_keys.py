"""Keys: all declared, on one slot, bounded in time; no rule rests on an expiry."""

from __future__ import annotations

import re

import pytest

from edge.core import calls, scripts
from edge.core.calls import keys
from tests.scripts.backends import SCOPE, Store
from tests.scripts.line import Line

_DECLARED = re.search(r"local ([A-Z_,\s]+) = unpack\(KEYS\)", scripts.JOIN.text["redis"])
assert _DECLARED
_NAMES = {*re.findall(r"[A-Z_]+", _DECLARED[1]), "KEYS[i]"}


@pytest.mark.parametrize("script", scripts.ALL, ids=lambda script: str(script.name))
def test_every_command_names_a_declared_key(script: scripts.Script) -> None:
    """On a real server the tests run as a user who may touch these only; this looks where no test goes."""
    first_words = re.findall(r"\bcall\('([A-Z]+)'(?:, (KEYS\[i\]|[A-Z_]+))?", script.text["redis"])
    assert first_words
    assert {command for command, key in first_words if key not in _NAMES} <= {"TIME", "ZCOUNT"}
    assert len(_NAMES) == 1 + len(keys("s"))
    # The one place where a key is a parameter: those who call it name a declared one.
    assert set(re.findall(r"count_between\(([A-Za-z_]+),", script.text["redis"])) <= _NAMES | {"key"}


def test_all_keys_of_a_scope_are_on_one_slot(store: Store) -> None:
    if store.name != "redis":
        assert len({re.findall(r"\{(.+?)\}", key)[0] for key in keys("some-scope")}) == 1
        return
    assert len({store.command("CLUSTER", "KEYSLOT", key) for key in keys("some-scope")}) == 1


def test_a_key_that_is_not_declared_is_refused_here(store: Store) -> None:
    """The safety net of these tests itself."""
    if store.name != "redis":
        pytest.skip("only a real server knows users")
    script = scripts.Script(
        "stray", {"redis": "return redis.call('SET', KEYS[1] .. 'x', '1')"}, {"redis": "0" * 40}
    )
    with pytest.raises(Exception, match=r"(?i)NOPERM|no permissions|can't access"):
        store.script(calls.Call(script, SCOPE, ()))


def _fill(line: Line) -> None:
    line.end(line.enter("a"), "revoked")
    tickets = line.places(300, "b")
    line.end(tickets[250])
    line.end(tickets[0])
    line.admit(1)
    line.live(70)


def test_rubbish_goes_by_itself_but_the_state_stays(line: Line) -> None:
    _fill(line)
    there = [key for key in keys(SCOPE) if line.store.command("EXISTS", key)]
    ttl_ms = {key.rsplit(":", 1)[1]: line.store.command("PTTL", key) for key in there}
    assert ttl_ms.pop("state") == -1
    assert len(ttl_ms) >= 7
    assert all(0 < value <= 8 * 86_400_000 for value in ttl_ms.values())


def test_no_rule_depends_on_an_expiry(store: Store) -> None:
    """Eight silent days: everything but the state has gone. A pause, a limit and the numbering hold."""
    line = Line(store)
    line.set_limits(admit_per_minute=7)
    line.places(5)
    line.control("pause")
    line.wait(9 * 86_400)
    for key in keys(SCOPE)[1:]:
        store.command("DEL", key)
    answer = line.join("v6", wants_in=True)
    assert (answer.verdict, answer.number(0)) == ("waiting", 6)
    assert line.set_limits().details[:1] == ("7",)
    assert line.state()["status"] == "paused"


def test_the_state_is_a_real_table(line: Line) -> None:
    assert line.store.command("HSTRLEN", keys(SCOPE)[0], "pad") > 64
    if line.store.name == "redis":
        assert line.store.command("OBJECT", "ENCODING", keys(SCOPE)[0]) == "hashtable"


def test_sweeps_are_bounded_and_go_on_with_the_next_call(store: Store) -> None:
    line = Line(store, admit_per_minute=None, max_active=1000)
    for number in range(200):
        line.enter(f"v{number}")
    line.wait(1_000)
    left = []
    for _ in range(5):
        line.snapshot()
        left.append(len(line.members("active")))
    assert left == [150, 100, 50, 0, 0]
    assert line.number("expired") == 200
