"""Fastly's limit of changes: a short wait is waited for, the hourly one is told with its end, and the next run goes on."""

from __future__ import annotations

import time

import pytest

from cli.deploy.api import Api, ApiError, Call
from tests.cli.deploy.standin import TOKEN, running_fastly
from tests.cli.deploy.world import Desk

NOW_S = 1_700_000_000
PUT, POST = Call("PUT", "/resources/stores/kv/K1/keys/a", content="x"), Call("POST", "/service", form={"name": "a"})


def test_the_hourly_limit_says_when_it_ends_and_the_next_run_goes_on(desk: Desk) -> None:
    desk.fastly.changes_left = 6
    code, output = desk.deploy("--yes")
    assert (code, "1,000 changes an hour" in output) == (1, True)
    assert "starts anew at " + time.strftime("%H:%M:%S UTC", time.gmtime(int(desk.fastly.resets_at))) in output
    assert "open:   activate the version" in output
    before, desk.fastly.changes_left = len(desk.fastly.writes()), 1000
    desk.act()
    assert not [write for write in desk.fastly.writes()[before:] if write.startswith("POST /resources/stores")]
    assert "nothing to do" in desk.act()


@pytest.mark.parametrize(("call", "headers", "waits", "code"), [
    (PUT, {"Fastly-RateLimit-Reset": str(NOW_S + 4)}, [4.0], 0),
    (POST, {"Fastly-RateLimit-Reset": str(NOW_S + 4)}, [4.0], 0),
    (POST, {"Retry-After": "2"}, [2.0], 0),
    (PUT, {"Fastly-RateLimit-Reset": str(NOW_S - 4)}, [0.0], 0),
    (PUT, {"Fastly-RateLimit-Reset": str(NOW_S + 1800)}, [], 429),
    (PUT, {"Retry-After": "3600"}, [], 429),
    (PUT, {}, [0.5], 0),
    (POST, {}, [], 429),
])  # fmt: skip
def test_a_limit_that_ends_soon_is_waited_for(call: Call, headers: dict[str, str], waits: list[float], code: int) -> None:
    slept: list[float] = []
    with running_fastly() as fastly:
        fastly.resets_at = headers.get("Fastly-RateLimit-Reset", "")
        fastly.stores["kv"]["K1"] = {"name": "pages", "held": {}}
        fastly.failing.append([".*", 1, 429, headers])
        api = Api(TOKEN, fastly.url, sleep=slept.append, now=lambda: NOW_S)
        try:
            api.run(call, {})
            status = 0
        except ApiError as error:
            status = error.status
        finally:
            api.close()
        assert fastly.faults == []
    assert (slept, status) == (waits, code)


def test_a_limit_that_does_not_end_is_given_up(desk: Desk) -> None:
    slept: list[float] = []
    desk.fastly.stores["kv"]["K1"] = {"name": "pages", "held": {}}
    desk.fastly.failing.append(["PUT .*", 9, 429, {"Retry-After": "1"}])
    api = Api(TOKEN, desk.fastly.url, sleep=slept.append)
    with pytest.raises(ApiError, match="429"):
        api.run(PUT, {})
    api.close()
    assert slept == [1.0, 1.0]
