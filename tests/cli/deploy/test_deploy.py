"""The command against a stand-in that holds every call to Fastly's own description."""

from __future__ import annotations

import json

import pytest

import cli.deploy.command
from edge.core.model import Queue
from host.component.build import ROOT
from tests.cli.deploy.described import ROWS, operations
from tests.cli.deploy.standin import TOKEN
from tests.cli.deploy.world import REDIS_TOKEN, SIGNING_KEYS, Desk, configuration, write_package


def test_every_row_of_the_table_is_what_fastly_describes() -> None:
    assert [(o.method, o.path) for o in operations()] == [
        (o.described.settings["http_method"], o.described.settings["endpoint_path"]) for o in operations()
    ]
    assert len({(method, path) for method, path, _, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("method", "path", "kind", "body"), [
    ("POST", "/service", "application/x-www-form-urlencoded", b"name=a&type=wasi"),
    ("POST", "/service", "application/x-www-form-urlencoded", b"name=a&kind=wasm"),
    ("POST", "/service", "application/json", b'{"name": "a"}'),
    ("PUT", "/service/S1/version/1/backend/redis", "application/x-www-form-urlencoded", b"port=https"),
    ("PUT", "/service/S1/version/1/backend/redis", "application/x-www-form-urlencoded", b"use_ssl=yes"),
    ("PUT", "/resources/stores/kv/k/keys/pages/a", "application/octet-stream", b"x"),
    ("PUT", "/resources/stores/kv/k/keys/a?ttl=1", "application/octet-stream", b"x"),
    ("PUT", "/resources/stores/kv/k/keys/a", "text/plain", b"x"),
    ("PUT", "/resources/stores/secret/s/secrets", "application/json", b'{"name": "a", "value": "eA=="}'),
    ("PUT", "/resources/stores/secret/s/secrets", "application/json", b'{"name": 1}'),
])  # fmt: skip
def test_the_stand_in_takes_nothing_that_is_not_described(desk: Desk, method: str, path: str, kind: str, body: bytes) -> None:
    status, *_ = desk.fastly.answer(method, path, TOKEN, kind, body)
    assert status in (400, 404)
    assert desk.fastly.faults != []


def test_the_first_deploy_makes_everything(desk: Desk) -> None:
    output = desk.act()
    version, service = desk.live(), desk.service()
    assert (service["name"], service["type"], version["number"]) == ("stanchion", "wasm", 1)
    assert version["domains"] == ["shop.edgecompute.app"]
    assert version["package"]
    assert version["comment"].startswith("stanchion sources=")
    assert {(link["name"], link["resource_id"]) for link in version["links"]} == {
        (f"stanchion-{kind}", store) for kind, stores in desk.fastly.stores.items() for store in stores
    }
    assert desk.held("secret") == {"signing-keys": SIGNING_KEYS.encode(), "redis-rest-token": REDIS_TOKEN.encode()}
    assert set(desk.held("kv")) == {"config.json", "pages/default/en/waiting.html", "pages/default/en/paused.html"}
    assert desk.held("kv")["config.json"] == (desk.kv / "config.json").read_bytes()
    told = json.loads(desk.held("config")["settings"])
    assert told["UPSTASH_REDIS_REST_URL"] == "https://eu1-gate.upstash.io"
    assert told["STANCHION_REDIS_FLAVOUR"] == "upstash"
    assert desk.begun == ["sale"]
    assert "plan for stanchion" in output
    assert "log endpoint stanchion" in output


def test_the_backends_check_the_certificate_and_wait_no_longer_than_the_guest(desk: Desk) -> None:
    desk.act()
    redis, origin = desk.live()["backends"]["redis"], desk.live()["backends"]["origin"]
    names = {redis[field] for field in ("address", "override_host", "ssl_cert_hostname", "ssl_sni_hostname")}
    assert names == {"eu1-gate.upstash.io"}
    assert (redis["port"], redis["use_ssl"], redis["ssl_check_cert"]) == (443, True, True)
    assert redis["first_byte_timeout"] == 800
    assert origin["override_host"] is None, "the site gets the visitor's Host"
    assert origin["address"] == "shop.example.org"


def test_a_second_run_has_nothing_to_do(desk: Desk) -> None:
    desk.act()
    before = len(desk.fastly.writes())
    assert "nothing to do: version 1" in desk.act()
    assert len(desk.fastly.writes()) == before


def test_another_build_of_the_same_sources_is_no_change(desk: Desk) -> None:
    desk.act()
    write_package(desk.package, wasm=b"\0asm\x0d\0\x01\0" + b"other bytes, same sources")
    assert "nothing to do" in desk.act()
    write_package(desk.package, sources="two")
    desk.act()
    assert desk.live()["number"] == 2
    assert "nothing to do" in desk.act()


def test_a_changed_page_needs_no_new_version(desk: Desk) -> None:
    desk.act()
    (desk.kv / "pages/default/en/waiting.html").write_text("<p>wait a little</p>")
    before = len(desk.fastly.writes())
    desk.act()
    assert [write.partition("/keys/")[2] for write in desk.fastly.writes()[before:]] == ["pages/default/en/waiting.html"]
    assert desk.live()["number"] == 1


def test_on_a_live_service_the_configuration_goes_last_and_begins_what_is_new(desk: Desk) -> None:
    desk.act()
    (desk.kv / "config.json").write_text(configuration("sale", "drop"))
    write_package(desk.package, sources="two")
    before = len(desk.fastly.writes())
    desk.act()
    writes = desk.fastly.writes()[before:]
    assert writes[-1].endswith("/keys/config.json")
    assert writes[-2].endswith("/activate")
    assert desk.begun == ["sale", "drop"]


def test_a_group_begins_once(desk: Desk) -> None:
    (desk.kv / "config.json").write_text((ROOT / "examples/queues/countries.json").read_text())
    assert "begin the group concert in Redis" in desk.act()
    assert len(desk.begun) == 1


def test_limits_that_will_not_follow_are_named(desk: Desk) -> None:
    assert "note:" not in desk.act()
    (desk.kv / "config.json").write_text(configuration("sale", admit_per_minute=60))
    assert "note: sale changed without a higher config_version" in desk.deploy("--dry-run")[1]
    (desk.kv / "config.json").write_text(configuration("sale", admit_per_minute=60, config_version=2))
    assert "note:" not in desk.act()


def test_a_changed_secret_is_set_and_noted(desk: Desk) -> None:
    desk.act()
    desk.environ["STANCHION_SIGNING_KEYS"] = "k2:" + "B" * 43 + " " + SIGNING_KEYS
    desk.act()
    assert desk.held("secret")["signing-keys"].startswith(b"k2:")
    assert "nothing to do" in desk.act()


def test_a_secret_that_somebody_changed_there_is_noticed(desk: Desk) -> None:
    desk.act()
    desk.held("secret")["signing-keys"] = b"somebody else's"
    desk.act()
    assert desk.held("secret")["signing-keys"] == SIGNING_KEYS.encode()
    assert "nothing to do" in desk.act()


def test_a_backend_that_somebody_changed_there_is_mended(desk: Desk) -> None:
    desk.act()
    desk.live()["backends"]["redis"]["first_byte_timeout"] = 15000
    assert "change the backend redis (first_byte_timeout)" in desk.act()
    assert (desk.live()["number"], desk.live()["backends"]["redis"]["first_byte_timeout"]) == (2, 800)


@pytest.mark.parametrize("broken", [
    "POST /resources/stores/secret", "PUT /service/[^/]+/version/1/package", "PUT /resources/stores/kv/[^/]+/keys/config.json",
    "PUT /service/[^/]+/version/1/activate", "POST /service/[^/]+/version/1/backend", "PUT /service/[^/]+/version/1",
])  # fmt: skip
def test_a_failure_half_way_says_how_to_go_on_and_the_next_run_does(desk: Desk, broken: str) -> None:
    desk.fastly.failing.append([broken, 1, 400])
    code, output = desk.deploy("--yes")
    assert code == 1
    assert "failed: " in output
    assert "run the same command again" in output
    assert "done:   create the service stanchion" in output
    assert SIGNING_KEYS not in output
    desk.act()
    assert desk.live()["number"] == 1, "the version that was begun is finished"
    assert len(desk.fastly.services) == 1
    assert [len(stores) for stores in desk.fastly.stores.values()] == [1, 1, 1]
    assert "nothing to do" in desk.act()


def test_a_failed_update_goes_on_with_its_own_copy(desk: Desk) -> None:
    desk.act()
    write_package(desk.package, sources="two")
    desk.fastly.failing.append(["PUT /service/[^/]+/version/2/package", 1, 400])
    assert desk.deploy("--yes")[0] == 1
    assert desk.live()["number"] == 1, "the old version goes on"
    desk.act()
    assert [version["number"] for version in desk.service()["versions"]] == [1, 2]
    assert desk.live()["number"] == 2


def test_another_store_under_the_same_name_takes_the_old_ones_place(desk: Desk) -> None:
    desk.act()
    desk.act("--kv-store", "other-pages")
    (other,) = [store for store, held in desk.fastly.stores["kv"].items() if held["name"] == "other-pages"]
    assert [link["resource_id"] for link in desk.live()["links"] if link["resource_type"] == "kv-store"] == [other]
    assert len(desk.live()["links"]) == 3


def test_a_live_service_of_somebody_else_is_not_taken_over_unasked(desk: Desk) -> None:
    desk.act()
    desk.live()["comment"] = "our API gateway"
    before = len(desk.fastly.writes())
    code, output = desk.deploy("--yes")
    assert (code, "--adopt to put the gate in its place" in output) == (1, True)
    assert len(desk.fastly.writes()) == before
    desk.act("--adopt")
    assert desk.live()["number"] == 2


def test_ctrl_c_half_way_gives_the_same_account(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(queue: Queue, environ: dict[str, str], *, new: bool) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cli.deploy.command, "start_queue", interrupt)
        code, output = desk.deploy("--yes")
    assert (code, "failed: begin the queue sale in Redis\n        it was interrupted" in output) == (1, True)
    assert "open:   write config.json" in output
    desk.act()


def test_somebody_elses_open_version_is_left_alone(desk: Desk) -> None:
    desk.act()
    theirs = dict(desk.live(), number=2, active=False, locked=False, comment="an experiment", domains=[])
    desk.service()["versions"].append(theirs)
    write_package(desk.package, sources="two")
    desk.act()
    assert (theirs["comment"], theirs["domains"], desk.live()["number"]) == ("an experiment", [], 3)


def test_a_passing_fault_is_tried_again_but_never_a_creation(desk: Desk) -> None:
    desk.fastly.failing.append(["PUT /service/[^/]+/version/1/package", 2, 503])
    desk.act()
    desk.fastly.failing.append(["PUT /service/[^/]+/version/1/clone", 1, 503])
    write_package(desk.package, sources="two")
    assert desk.deploy("--yes")[0] == 1
    assert len(desk.service()["versions"]) == 1


def test_a_dry_run_prints_the_calls_and_sends_none(desk: Desk) -> None:
    code, output = desk.deploy("--dry-run")
    assert code == 0
    assert desk.fastly.writes() == desk.begun == []
    assert "POST /service name=stanchion type=wasm" in output
    assert "POST /service/{service}/version/{version}/resource name=stanchion-kv resource_id={kv_store}" in output
    assert "secret=********" in output
    assert SIGNING_KEYS not in output
    assert REDIS_TOKEN not in output
    assert desk.environ["FASTLY_API_TOKEN"] not in output


def test_nobody_there_to_say_yes(desk: Desk) -> None:
    code, output = desk.deploy()
    assert code == 1
    assert "--yes" in output
    assert desk.fastly.writes() == []


def test_the_stores_and_the_service_can_be_named(desk: Desk) -> None:
    desk.act("--name", "Ticket gate", "--kv-store", "pages", "--config-store", "gate.settings")
    names = [store["name"] for stores in desk.fastly.stores.values() for store in stores.values()]
    assert names == ["pages", "Ticket-gate-secret", "gate.settings"]
    code, output = desk.run("kv", "diff", "fastly:pages")
    assert code == 0, output
