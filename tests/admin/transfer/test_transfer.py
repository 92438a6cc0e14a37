"""Everything as one file: out of one admin and into another, planned first, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from admin.publish.publish import Publication
from admin.publish.publish import publish as rendered
from admin.publish.sources import TEMPLATES
from admin.publish.versions import in_force, pages_of, publish
from admin.state import brands, schedule, users
from admin.state.schedule import Step
from admin.state.tables import AuditRow
from admin.transfer.bundle import BadBundle, read_bundle
from cli.main import main
from edge.core.config import CONFIG_KEY, load_config
from tests.admin.configure.pages import form_at, seen
from tests.admin.configure.test_document import entry, value
from tests.admin.conftest import Admin, Browser
from tests.admin.world import REST_TOKEN, Bridge

STEP = {"id": "s", "queue": "sale", "at": "2999-01-01T00:00:00Z", "changes": None, "action": "pause", "by": "x"}
SOURCE = {"brand.json": "{}"}
TOMORROW_MS = 24 * 3600 * 1000


@pytest.fixture(scope="module")
def pages() -> Publication:
    """Pages as publishing makes them, of one language."""
    return rendered("default", TEMPLATES, ("en",))


@pytest.fixture
def full(admin: Admin, pages: Publication) -> Admin:
    """An admin with something of everything."""
    now_ms = int(admin.clock.unix_s() * 1000)
    publish(admin.kv, pages, "mai", now_ms)

    def add(session: Any) -> None:
        users.add(session, "u1", "mai", "operator", now_ms, password_hash="$argon2id$secret")
        brands.save_draft(session, brands.Draft("default", SOURCE, 1, 0, "mai", now_ms))
        brands.keep_version(session, brands.BrandVersion("default", 1, now_ms, "mai", "", SOURCE))
        at_ms = (now_ms + TOMORROW_MS) // 1000 * 1000
        schedule.add(session, Step("s1", "sale", at_ms, {"admit_per_minute": 90}, "", "mai", now_ms))

    admin.app.state.desk.db.run_now(add)
    return admin


def good(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text[:600]
    return answer.json()


def empty(admin: Admin) -> None:
    """As if it were another admin that has only just been set up."""

    def clear(session: Any) -> None:
        for table in ("users", "drafts", "schedule_steps", "brand_versions"):
            session.connection().exec_driver_sql(f"DELETE FROM {table}")

    admin.app.state.desk.db.run_now(clear)
    for key in list(admin.kv.keys("")):
        admin.kv.delete(key)
    admin.clock.ahead_s += 2


def bring(admin: Admin, bundle: Any, etag: str = "*") -> httpx.Response:
    return admin.api("POST", "/import", json=bundle, headers={"If-Match": etag})


def rows(admin: Admin, work: Any) -> Any:
    return admin.app.state.desk.db.run_now(work)


def test_everything_goes_out_and_comes_back(full: Admin, pages: Publication) -> None:
    bundle = good(full.api("GET", "/export"))
    assert {"configuration", "pages", "drafts", "people", "schedule"} <= set(bundle)
    assert "secret" not in json.dumps(bundle)
    before = json.loads(json.dumps(bundle["configuration"]))
    empty(full)
    plan = good(full.api("POST", "/import/plan", json=bundle))
    assert plan["errors"] == []
    assert [step["code"] for step in plan["steps"]] == ["pages", "source", "draft", "person", "step"]
    assert full.kv.get(CONFIG_KEY) is None
    done = good(bring(full, bundle))
    assert [change["code"] for change in done["changes"]] == ["queue_added"]
    published = load_config(full.kv.get(CONFIG_KEY) or "")
    assert [queue.id for queue in published.queues] == [each["id"] for each in before["queues"]]
    shown = in_force(full.kv, "default")
    assert shown is not None
    assert pages_of(full.kv, "default", shown.version) == pages.pages
    person = rows(full, lambda session: users.by_name(session, "mai"))
    assert (person.role, person.password_hash) == ("operator", "")
    assert [step.id for step in rows(full, lambda session: schedule.to_come(session))] == ["s1"]
    kept = rows(full, brands.latest)["default"]
    assert (kept.version, kept.content, kept.note) == (shown.version, SOURCE, "import")
    assert rows(full, brands.drafts)["default"].content == SOURCE
    # Once more there is nothing to do.
    again = good(bring(full, bundle))
    assert (again["changes"], again["steps"]) == ([], [])
    assert in_force(full.kv, "default") == shown
    actions = rows(full, lambda session: [row.action for row in session.query(AuditRow).order_by(AuditRow.id)])
    assert actions.count("transfer.import") == 1
    assert "configuration.publish" in actions


def test_a_file_with_any_fault_changes_nothing(full: Admin) -> None:
    bundle = good(full.api("GET", "/export"))
    bundle["configuration"]["queues"][0]["burst"] = -1
    bundle["pages"]["default"]["en"]["waiting"] = "<p onclick='x()'>no</p>"
    bundle["people"].append({"name": "eve", "role": "king", "disabled": False})
    bundle["schedule"].append({**STEP, "id": "s2", "queue": "nobody"})
    bundle["sources"]["Bad name"] = {}
    bundle["drafts"].append({"brand": "other", "content": {"x.exe": "no"}})
    text = full.kv.get(CONFIG_KEY)
    errors = good(bring(full, bundle), 422)["errors"]
    assert [each["at"] for each in errors] == [
        "configuration.queues[0].burst", "pages.default.en.waiting", "sources.Bad name",
        "drafts[1].brand.json", "people[1].role", "schedule[1]"]  # fmt: skip
    assert full.kv.get(CONFIG_KEY) == text
    assert rows(full, users.count) == 1


def test_what_fails_in_the_middle_is_taken_back(full: Admin, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = good(full.api("GET", "/export"))
    bundle["people"].append({"name": "ann", "role": "viewer", "disabled": True})
    bundle["pages"]["default"]["en"]["waiting"] += "<!-- another one -->"
    bundle["crawlers"] = json.dumps({"bot": ["66.249.64.0/19"]})
    bundle["sources"]["other"] = SOURCE
    bundle["configuration"]["queues"][0]["poll_s"] = 9
    shown, text = in_force(full.kv, "default"), full.kv.get(CONFIG_KEY)
    real_put = full.app.state.desk.kv.put

    def put(key: str, value: str) -> None:
        if key == CONFIG_KEY:
            from admin.kv import KvError

            raise KvError("the disk is full")
        real_put(key, value)

    monkeypatch.setattr(full.app.state.desk.kv, "put", put)
    answer = bring(full, bundle)
    assert answer.status_code == 503
    assert "the disk is full" in answer.text
    monkeypatch.undo()
    assert full.kv.get(CONFIG_KEY) == text
    assert full.kv.get("crawlers.json") is None
    now = in_force(full.kv, "default")
    assert now is not None
    assert shown is not None
    assert now.version == shown.version
    assert rows(full, users.count) == 1
    assert set(rows(full, brands.latest)) == {"default"}
    good(bring(full, bundle))
    assert rows(full, lambda session: users.by_name(session, "ann")).disabled


def test_an_old_plan_is_refused(full: Admin) -> None:
    bundle = good(full.api("GET", "/export", params={"parts": "configuration"}))
    assert set(bundle) == {"stanchion_export", "made_at", "configuration"}
    bundle["configuration"]["queues"][0]["poll_s"] = 9
    etag = good(full.api("POST", "/import/plan", json=bundle))["etag"]
    full.publish(entry("sale"), entry("other"))
    assert bring(full, bundle, f'"{etag}"').status_code == 412
    assert full.api("POST", "/import", json=bundle).status_code == 428
    assert full.api("GET", "/export", params={"parts": "secrets"}).status_code == 422


def test_steps_of_the_past_are_left_out_and_people_keep_their_role(full: Admin) -> None:
    bundle = good(full.api("GET", "/export"))
    bundle["people"][0]["role"] = "owner"
    bundle["drafts"][0]["content"] = {"brand.json": "{ }"}
    bundle["schedule"] = [{**STEP, "id": "old", "at": "2020-01-01T00:00:00Z"}]
    said = [step["code"] for step in good(bring(full, bundle))["steps"]]
    assert said == ["draft_kept", "person_kept", "step_past"]
    assert rows(full, lambda session: users.by_name(session, "mai")).role == "operator"
    assert rows(full, lambda session: schedule.find(session, "old")) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [("[]", "stanchion_export"), ("{", ""), ('{"stanchion_export": 2}', "stanchion_export"),
     ('{"stanchion_export": 1, "keys": {}}', "keys"), ('{"stanchion_export": 1, "people": [5]}', "people[0]"),
     ('{"stanchion_export": 1, "pages": {"a": {"en": 5}}}', "pages.a"), ('{"stanchion_export": 1, "people": {}}', "people"),
     ('{"stanchion_export": 1, "drafts": [{"brand": 1, "content": {}}]}', "drafts[0].brand")],
)  # fmt: skip
def test_what_is_no_file_of_ours_is_refused_with_the_place(text: str, place: str) -> None:
    with pytest.raises(BadBundle) as caught:
        read_bundle(text)
    assert caught.value.faults[0][0] == place


# --- in the console -------------------------------------------------------------------------------------------------


PATH = "/configuration/transfer"


def upload(client: httpx.Client, data: str) -> httpx.Response:
    csrf = form_at(client.get(PATH).text, PATH)["csrf"][0]
    return client.post(PATH, data={"csrf": csrf}, files={"file": ("stanchion.json", data, "application/json")})


def test_the_console_shows_the_plan_first(full: Admin, browser: Browser) -> None:
    answer = browser.client.get(f"{PATH}/export")
    assert "attachment" in answer.headers["content-disposition"]
    bundle = answer.json()
    bundle["configuration"]["queues"].append(entry("more"))
    shown = upload(browser.client, json.dumps(bundle))
    assert shown.status_code == 200
    assert "Queue more is new." in seen(shown)
    assert load_config(full.kv.get(CONFIG_KEY) or "").queue("more") is None
    form = form_at(shown.text, f"{PATH}/import")
    done = browser.client.post(f"{PATH}/import", data=form)
    assert done.status_code == 303
    assert "Imported, all of it: 1 changes." in seen(browser.client.get(PATH))
    assert load_config(full.kv.get(CONFIG_KEY) or "").queue("more")
    late = browser.client.post(f"{PATH}/import", data={**form, "etag": "0"})
    assert late.status_code == 409
    gone = browser.client.post(f"{PATH}/import", data={**form, "token": "../../x"})
    assert gone.status_code == 410
    assert "cannot be taken" in seen(upload(browser.client, "no"))
    bundle["configuration"]["queues"][0]["burst"] = -1
    assert "configuration.queues[0].burst" in seen(upload(browser.client, json.dumps(bundle)))
    assert browser.client.post(PATH, data={"csrf": form["csrf"][0]}).status_code == 415


# --- on the command line --------------------------------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["admin", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_the_command_line_does_the_same(full: Admin, bridge: Bridge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, given in {"STANCHION_KV_DIR": str(full.settings.kv_dir), "STANCHION_ADMIN_DIR": str(full.settings.admin_dir),
                        "UPSTASH_REDIS_REST_URL": bridge.url, "UPSTASH_REDIS_REST_TOKEN": REST_TOKEN}.items():  # fmt: skip
        monkeypatch.setenv(name, given)
    file = tmp_path / "all.json"
    code, output = run("export", str(file))
    assert code == 0, output
    assert "configuration, pages, sources, drafts, people, schedule" in output
    assert "nothing to do" in run("import", str(file))[1]
    bundle = json.loads(file.read_text())
    bundle["configuration"] = value(entry("sale"), entry("more"))
    file.write_text(json.dumps(bundle))
    code, output = run("import", str(file))
    assert "Queue more is new." in output
    assert "add --yes" in output
    assert load_config(full.kv.get(CONFIG_KEY) or "").queue("more") is None
    code, output = run("import", str(file), "--yes")
    assert code == 0, output
    assert load_config(full.kv.get(CONFIG_KEY) or "").queue("more")
    vias = rows(full, lambda session: {row.via for row in session.query(AuditRow)})
    assert "command line" in vias
    bundle["people"].append({"name": "eve", "role": "king", "disabled": False})
    file.write_text(json.dumps(bundle))
    code, output = run("import", str(file), "--yes")
    assert code == 1
    assert "people[1].role" in output
    file.write_text("{}")
    assert run("import", str(file))[0] == 1
    assert run("import", str(tmp_path / "none.json"))[0] == 1
