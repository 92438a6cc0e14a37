from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.hosts import chosen, chosen_limits
from tests.conformance.world import World, running
from tests.e2e.stack import queue

QUEUES = [
    queue("rate", admit_per_minute=20, burst=1),
    queue("slow", admit_per_minute=1, burst=1),
    queue("hand", manual=True),
    queue("cap", max_active=1),
    queue("calm", admit_per_minute=100_000, burst=10_000),
    queue("pay", manual=True, return_paths=["/pay/return"], bypass=["/pay/hook/*"]),
    queue("live", admit_per_minute=1, burst=1),
    queue("again", manual=True),
    queue("rejoin", manual=True),
    queue("done", max_active=1),
    queue("renew", admit_per_minute=100_000, burst=1000, idle_s=30, renew_every_s=10),
    queue("few", manual=True, places_per_network_per_minute=3),
    queue("code", manual=True, held_status=429, same_site="none"),
    queue("jp", manual=True, routes=[{"path": "/country/*"}], countries=["JP"]),
    queue("us", manual=True, routes=[{"path": "/country/*"}], countries=["US"], unknown_country="enter"),
    queue("wide", manual=True, routes=[{"path": "/wide/*"}]),
    queue("cross", manual=True, allowed_origins=["https://app.example"]),
    queue("deep", manual=True, routes=[{"path": "/wide/deep/*"}]),
    queue("vouch", manual=True, lanes=[{"name": "standard"}, {"name": "members", "rule": "header:X-Member"}]),
    queue("account", manual=True, visitor_key="cookie:member", visitor_key_required=True, sign_in_url="/sign-in"),
]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One edge for many tests, each with queues of its own."""
    with running(chosen(), tmp_path_factory.mktemp("conformance"), QUEUES) as started:
        yield started


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Turns `limited` marks into expected failures where the host names that limit; a limit that is none any more fails."""
    marked = [(item, mark) for item in items for mark in item.iter_markers("limited")]
    if not marked:
        return
    limits = chosen_limits()
    for item, mark in marked:
        for name in mark.args:
            if name in limits:
                told = limits[name]
                item.add_marker(pytest.mark.xfail(reason=f"{name}: {told.reason}", strict=True, run=told.runs), append=False)
