"""The secrets by which a site vouches for visitors: brought with the configuration that asks for them, or named as missing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.deploy.secrets import asks_for_one, fastly_name
from edge.core.config import load_config
from tests.cli.deploy.world import Desk

ONE, OTHER = "the-first-secret-of-the-shop-has-32-bytes", "another-secret-of-the-shop-has-32-bytes"
LANES = [{"name": "standard", "share": 1}, {"name": "members", "share": 1, "rule": "cookie:member"}]
BY_LINK = [{"name": "standard", "share": 1}, {"name": "guests", "share": 1, "invite": True}]


def configure(desk: Desk, **queues: dict[str, Any]) -> None:
    made = [{"id": id, "name": id, "routes": [{"path": f"/{id}/*"}], "admit_per_minute": 6} | more for id, more in queues.items()]
    (desk.kv / "config.json").write_text(json.dumps({"queues": made}))


def test_each_secret_that_the_configuration_asks_for_is_set(desk: Desk) -> None:
    configure(desk, drop={"lanes": LANES}, exam={"visitor_key": "header:X-Account"}, open={}, links={"lanes": BY_LINK})
    desk.environ["STANCHION_LANE_SECRETS"] = f"drop={ONE} exam={OTHER} open={OTHER}"
    output = desk.act()
    assert set(desk.held("secret")) == {"signing-keys", "redis-rest-token", "lane.drop", "lane.exam"}
    assert (desk.held("secret")["lane.drop"], desk.held("secret")["lane.exam"]) == (ONE.encode(), OTHER.encode())
    assert "set the secret lane.drop" in output
    assert "not brought for open: no such queue asks for a secret" in output
    assert ONE not in output
    assert OTHER not in output
    assert "nothing to do" in desk.act()


def test_a_dry_run_masks_them(desk: Desk) -> None:
    configure(desk, drop={"lanes": LANES})
    desk.environ["STANCHION_LANE_SECRETS"] = f"drop={ONE}"
    code, output = desk.deploy("--dry-run")
    assert code == 0
    assert "name=lane.drop secret=********" in output
    assert ONE not in output


def test_a_new_value_is_set_and_so_is_one_that_was_changed_there(desk: Desk) -> None:
    configure(desk, drop={"lanes": LANES})
    desk.environ["STANCHION_LANE_SECRETS"] = f"drop={ONE}"
    desk.act()
    desk.environ["STANCHION_LANE_SECRETS"] = f"drop={OTHER}"
    desk.act()
    assert desk.held("secret")["lane.drop"] == OTHER.encode()
    desk.held("secret")["lane.drop"] = b"somebody else's"
    desk.act()
    assert desk.held("secret")["lane.drop"] == OTHER.encode()


@pytest.mark.parametrize("argument", ["--yes", "--dry-run"])
def test_all_that_are_missing_are_named_before_anything_is_done(desk: Desk, argument: str) -> None:
    configure(desk, drop={"lanes": LANES}, exam={"visitor_key": "header:X-Account"}, third={"visitor_key": "cookie:who"})
    desk.environ["STANCHION_LANE_SECRETS"] = f"third={ONE}"
    code, output = desk.deploy(argument)
    assert (code, desk.fastly.writes()) == (1, [])
    assert "lane.drop (queue drop), lane.exam (queue exam)" in output
    assert "STANCHION_LANE_SECRETS as 'drop=... exam=...'" in output
    assert ONE not in output


def test_one_that_was_put_there_by_hand_stays(desk: Desk) -> None:
    desk.act()
    desk.held("secret")["lane.drop"] = ONE.encode()
    configure(desk, drop={"lanes": LANES})
    output = desk.act()
    assert "no secret for the queue drop: lane.drop of the secret store stays as it is" in output
    assert desk.held("secret")["lane.drop"] == ONE.encode()
    assert "nothing to do" in desk.act()


def test_a_push_says_which_secret_the_configuration_now_asks_for(desk: Desk) -> None:
    desk.act()
    configure(desk, sale={"lanes": LANES}, exam={"visitor_key": "header:X-Account"})
    code, output = desk.run("kv", "push", "fastly:stanchion-kv")
    assert code == 0
    assert "note: sale, exam ask for a secret: lane.sale, lane.exam" in output
    assert "stanchion deploy fastly" in output
    (desk.kv / "config.json").write_text((desk.kv / "config.json").read_text().replace('"/exam/*"', '"/exam2/*"'))
    assert "ask for a secret" not in desk.run("kv", "push", "fastly:stanchion-kv")[1]


def test_names_are_those_that_the_guest_opens_and_fastly_takes() -> None:
    longest = "a" * 48
    queue = {"id": longest, "name": "a", "routes": [{"path": "/a"}], "admit_per_minute": 6, "visitor_key": "cookie:w"}
    (read,) = load_config(json.dumps({"queues": [queue]})).queues
    assert asks_for_one(read)
    assert fastly_name(read) == f"lane.{longest}"
