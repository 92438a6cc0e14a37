"""The benchmark of the scripts runs, and says what it promises to say."""

from __future__ import annotations

import pytest

from bench import redis_scripts
from bench.sale import bytes_per_visitor
from sim.server import Server
from sim.store import Store
from tests.needs import needs


def test_each_step_is_measured_against_a_bare_script(monkeypatch: pytest.MonkeyPatch) -> None:
    needs("redis")
    monkeypatch.setattr(redis_scripts, "VISITORS", 400)
    with redis_scripts.redis_server() as port:
        ratios = redis_scripts.measure(port, rounds=1)
    assert set(redis_scripts.AT_MOST) < set(ratios)
    assert min(ratios.values()) > 1, "no step of ours is cheaper than a script that does nothing"


def test_who_waits_with_an_account_takes_a_second_entry_within_what_is_allowed() -> None:
    needs("redis")
    with Server() as server:
        store = Store(server.port)
        plain, with_account = (bytes_per_visitor(store, 5_000, account) for account in ("", ".0"))
        store.close()
    assert 40 < plain < with_account < 200
