"""Whoever keeps asking is present, however short the time is after which silence counts as absence."""

from __future__ import annotations

import pytest

from tests.core.support import MANUAL, Browser, World, queue


@pytest.mark.parametrize("grace_s", [4, 8, 12, 20, 60])
def test_who_keeps_asking_is_called_by_a_batch(grace_s: int) -> None:
    settings = {"poll_s": 1, "settle_s": 2, "presence_grace_s": grace_s, "claim_within_s": 10, **MANUAL}
    here = World(queue(**settings))
    people = [Browser(here, client=f"192.0.2.{number}") for number in range(3)]
    for browser in people:
        browser.join()
    for _ in range(4 * grace_s):
        here.pass_time(0.6)
        for browser in people:
            browser.status()
    here.admit(1)
    here.pass_time(0.6)
    assert [browser.status().state for browser in people] == ["called", "waiting", "waiting"]
