"""What a configuration would hold that should not wait in line, and that the gate really would hold it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from admin.configure import warn
from admin.configure.warn import Warning_, warning_about, warnings
from cli.main import main
from edge.core.config import check_config
from edge.core.routing import Router

ROOT = Path(__file__).resolve().parents[3]


def queue(queue_id: str = "sale", path: str = "/*", **values: Any) -> dict[str, Any]:
    return {"id": queue_id, "name": "Sale", "routes": [{"path": path}], "manual": True} | values


def found(*queues: dict[str, Any], **values: Any) -> tuple[Warning_, ...]:
    return warnings(check_config({"queues": list(queues) or [queue(**values)]}))


def urls(*queues: dict[str, Any], **values: Any) -> list[str]:
    return [warning.url for warning in found(*queues, **values)]


def test_a_rule_for_everything_holds_what_does_not_wait() -> None:
    told = found()
    assert [each.url for each in told] == ["POST /webhook", "GET /healthz", "GET /.well-known/acme-challenge/token"]
    assert {each.rule for each in told} == {"/*"}
    assert {each.queue_id for each in told} == {"sale"}
    assert '"/webhook*"' in told[0].advice
    assert "bypass" in told[0].advice
    assert told[0].words.startswith("queue sale (rule /*): POST /webhook: servers call")


@pytest.mark.parametrize("values", [
    {"path": "/launch/*"}, {"path": "/"}, {"routes": [{"path": "/*", "methods": ["GET"]}], "bypass": ["/health", "/robots.txt"]},
    {"bypass": ["/hooks/*", "/up", "/.well-known/*"]}, {"bypass": ["/stripe/*", "/api/health", "/robots.txt"]},
])  # fmt: skip
def test_what_holds_none_of_it_or_has_thought_of_it_is_not_warned_of(values: dict[str, Any]) -> None:
    assert urls(**values) == []


def test_the_advice_followed_ends_the_warnings() -> None:
    for values in ({}, {"path": "/shop/*"}, {"asset_extensions": ["html"]}, {"path": "/api/*"}):
        told = found(queue(**values))
        assert told
        bypass = [pattern for each in told for pattern in each.advice.split('"')[1::2] if pattern.startswith("/")]
        extensions = [pattern for each in told for pattern in each.advice.split('"')[1::2] if not pattern.startswith("/")]
        mended = queue(**values | {"bypass": bypass, "asset_extensions": [*warn._PARTS_OF_PAGES, "html"]})
        assert found(mended) == (), extensions


def test_below_the_paths_of_a_shop_callbacks_are_looked_for() -> None:
    assert urls(path="/shop/*") == ["POST /shop/webhook"]
    assert urls(path="/eu/checkout/*") == ["POST /eu/checkout/webhook"]
    assert urls(path="/shopping/*") == []
    assert urls(routes=[{"host": "*.example.org", "path": "/api/*"}]) == [
        "POST https://www.example.org/api/webhooks", "GET https://www.example.org/api/health",
    ]  # fmt: skip


def test_what_a_more_specific_rule_of_another_queue_takes_is_that_queues() -> None:
    told = found(queue(bypass=["/up", "/robots.txt"]), queue("hooks", "/webhook", bypass=["/up"]))
    assert {(each.queue_id, each.rule) for each in told} == {("sale", "/*"), ("hooks", "/webhook")}


def test_assets_that_are_not_exempt_are_named() -> None:
    told = found(path="/launch/*", asset_extensions=["css", "js"])
    assert [each.url for each in told] == ["GET /launch/page.mjs"]
    assert '"svg"' in told[0].advice
    assert urls(path="/launch/*", asset_extensions=["css", "js"], bypass=["/launch/*"]) == []


KEYED: dict[str, Any] = {"visitor_key": "cookie:a", "visitor_key_required": True, "bypass": ["/up", "/robots.txt", "/hooks/*"]}


def test_who_has_to_sign_in_must_get_there() -> None:
    (told,) = found(sign_in_url="/login?next=/", **KEYED)
    assert told.url == "GET /login?next=/"
    assert '"/login"' in told.advice
    assert urls(sign_in_url="/login", **KEYED | {"bypass": [*KEYED["bypass"], "/login"]}) == []
    assert (
        urls(sign_in_url="https://id.example.org/login", **KEYED | {"routes": [{"host": "shop.example.org", "path": "/*"}]}) == []
    )
    other = queue("id", "/login", bypass=[])
    (told,) = found(queue(path="/sale/*", sign_in_url="/login", **KEYED), other)
    assert "queue id holds them" in told.what


def test_a_group_that_asks_for_accounts_in_one_queue_only_is_warned_of() -> None:
    members = [{"id": name, "name": name, "routes": [{"path": f"/{name}/*"}]} for name in ("eu", "jp")]
    group = {"id": "world", "name": "World", "queues": ["eu", "jp"], "admit_per_minute": 5}
    strict = members[0] | {"visitor_key": "cookie:a", "visitor_key_required": True}
    assert [each.queue_id for each in warnings(check_config({"queues": [strict, members[1]], "groups": [group]}))] == ["jp"]
    assert warnings(check_config({"queues": members, "groups": [group]})) == ()


def test_every_example_is_one_of_its_kind_and_would_be_held() -> None:
    config = check_config({"queues": [queue()]})
    router = Router(config)
    for kind in warn._KINDS:
        for path, bypass in kind.examples:
            assert kind.is_one(path), path
            assert kind.is_one(bypass), bypass
            assert warning_about(config.queues[0], kind.method, path) is not None
            match = router.match("any", path, kind.method)
            assert match is not None
            assert not match.is_all_exempt
            freed = Router(check_config({"queues": [queue(bypass=[bypass])]})).match("any", path, kind.method)
            assert freed is not None
            assert freed.is_all_exempt, bypass


@pytest.mark.parametrize(("method", "target"), [
    ("GET", "/"), ("GET", "/webhook"), ("POST", "/login"), ("POST", "/health-shop/"), ("GET", "/tickets/status-quo"),
    ("POST", "/hooked"),
])  # fmt: skip
def test_what_people_ask_for_is_not_warned_of(method: str, target: str) -> None:
    assert warning_about(check_config({"queues": [queue()]}).queues[0], method, target) is None


@pytest.mark.parametrize("file", [*sorted((ROOT / "examples/queues").glob("*.json")), ROOT / "kv-seed/config.json"])
def test_no_ready_example_is_warned_of(file: Path) -> None:
    assert warnings(check_config(json.loads(file.read_text("utf-8")))) == ()


def test_many_queues_are_looked_through_quickly() -> None:
    queues = [queue(f"q{number}", f"/shop/{number}/*") for number in range(300)]
    assert len(found(*queues)) == 300


def test_the_commands_say_it_and_refuse_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"queues": [queue()]}))
    checked = CliRunner().invoke(main, ["config", "check", str(file)])
    assert checked.exit_code == 0
    assert "warning: queue sale (rule /*): POST /webhook: " in checked.output
    (tmp_path / "kv").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STANCHION_KV_DIR", str(tmp_path / "kv"))
    options = ["--no-state", "--config", str(file)]
    told = CliRunner().invoke(main, ["explain", "/stripe/webhook", "--method", "POST", *options])
    assert told.exit_code == 0, told.output
    assert "warning: queue sale: /stripe/webhook: servers call" in told.output
    assert "warning" not in CliRunner().invoke(main, ["explain", "/tickets", *options]).output
    said = json.loads(CliRunner().invoke(main, ["explain", "/healthz", "--json", *options]).output)
    assert "load balancer" in said["warning"]
