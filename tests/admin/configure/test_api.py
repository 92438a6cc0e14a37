"""The configuration over the API, before a real Redis: read, plan, publish, entries, versions, restore, explain."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from edge.core.config import CONFIG_KEY, load_config
from tests.admin.configure.test_document import GROUP, entry, member, value
from tests.admin.conftest import Admin


def put(admin: Admin, path: str, body: Any, etag: str = "*", method: str = "PUT") -> httpx.Response:
    headers = {"If-Match": etag if etag == "*" else f'"{etag}"'}
    return admin.api(method, path, headers=headers, **({} if body is None else {"json": body}))


def good(answer: httpx.Response, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def published(admin: Admin) -> Any:
    text = admin.kv.get(CONFIG_KEY)
    assert text is not None
    return load_config(text)


def etag(answer: httpx.Response) -> str:
    return answer.headers["etag"].strip('"')


def test_the_whole_is_read_planned_and_published(admin: Admin) -> None:
    read = admin.api("GET", "/configuration")
    whole = good(read)
    assert [each["id"] for each in whole["queues"]] == ["sale"]
    wanted = {"queues": [*whole["queues"], entry("b")]}
    plan = good(admin.api("POST", "/configuration/plan", json=wanted))
    assert ([change["words"] for change in plan["changes"]], plan["errors"]) == (["Queue b is new."], [])
    assert published(admin).queue("b") is None
    done = good(put(admin, "/configuration", wanted, etag(read)))
    assert (done["published"], done["raised"]) == (True, ["b"])
    assert published(admin).queue("b") is not None
    # The same again changes nothing, and an old etag is refused.
    again = good(put(admin, "/configuration", good(admin.api("GET", "/configuration")), done["etag"]))
    assert (again["published"], again["changes"]) == (False, [])
    assert put(admin, "/configuration", wanted, etag(read)).status_code == 412
    assert admin.api("PUT", "/configuration", json=wanted).status_code == 428


def test_faults_are_named_with_their_place(admin: Admin) -> None:
    wrong = value(entry("a", burst=-1), entry("b", poll_s="x"))
    errors = good(put(admin, "/configuration", wrong), 422)["errors"]
    assert [each["at"] for each in errors] == ["queues[0].burst", "queues[1].poll_s"]
    assert [each["at"] for each in good(admin.api("POST", "/configuration/plan", json=wrong))["errors"]] == [
        "queues[0].burst", "queues[1].poll_s"]  # fmt: skip
    assert good(put(admin, "/configuration", [1]), 422)["errors"][0]["at"] == "body"


def test_one_queue_is_added_changed_and_removed(admin: Admin) -> None:
    made = admin.api("POST", "/configuration/queues", json=entry("b"))
    good(made, 201)
    assert made.headers["location"] == "/api/v1/configuration/queues/b"
    assert good(admin.api("POST", "/configuration/queues", json=entry("b")), 409)
    read = admin.api("GET", "/configuration/queues/b")
    done = good(put(admin, "/configuration/queues/b", {"poll_s": 9, "burst": 3}, etag(read), "PATCH"))
    assert [change["key"] for change in done["changes"]] == ["burst", "poll_s"]
    assert put(admin, "/configuration/queues/b", {"poll_s": 8}, etag(read), "PATCH").status_code == 412
    # Another queue that changes meanwhile is nobody's business.
    fresh = etag(admin.api("GET", "/configuration/queues/b"))
    good(put(admin, "/configuration/queues/sale", {"poll_s": 8}, "*", "PATCH"))
    good(put(admin, "/configuration/queues/b", {"burst": None}, fresh, "PATCH"))
    assert published(admin).queue("b").burst is None
    good(put(admin, "/configuration/queues/b", entry("b", max_active=7)))
    assert published(admin).queue("b").max_active == 7
    done = good(put(admin, "/configuration/queues/b", None, "*", "DELETE"))
    assert [change["code"] for change in done["changes"]] == ["queue_removed", "unguarded"]
    assert admin.api("GET", "/configuration/queues/b").status_code == 404
    assert good(put(admin, "/configuration/queues/sale", {"id": "other"}, "*", "PATCH"), 422)["errors"][0]["at"] == "id"


def test_groups_are_put_together_and_taken_apart(admin: Admin) -> None:
    good(put(admin, "/configuration", value(entry("a"), entry("b"), entry("c"))))
    done = good(admin.api("POST", "/configuration/groups", json=GROUP), 201)
    assert {"reset"} <= {change["code"] for change in done["changes"]}
    assert published(admin).queue("a").scope == "world"
    done = good(put(admin, "/configuration/groups/world", {"queues": ["a", "b", "c"]}, "*", "PATCH"))
    assert [change["target"] for change in done["changes"] if change["code"] == "reset"] == ["queue:c"]
    good(put(admin, "/configuration/groups/world", None, "*", "DELETE"))
    assert published(admin).groups == ()
    assert admin.api("GET", "/configuration/groups/world").status_code == 404
    assert admin.api("GET", "/configuration/rooms/world").status_code == 422


def test_every_version_is_kept_and_can_come_back(admin: Admin) -> None:
    first = good(admin.api("GET", "/versions"))["versions"]
    assert [(each["found"], each["by"]) for each in first] == [(True, None)]
    good(put(admin, "/configuration/queues/sale", {"poll_s": 9}, "*", "PATCH"))
    admin.kv.put(CONFIG_KEY, json.dumps(value(entry("by-hand"))))
    listed = good(admin.api("GET", "/versions", params={"limit": 2}))
    assert [(each["found"], each["by"]) for each in listed["versions"]] == [(True, None), (False, "token")]
    rest = good(admin.api("GET", "/versions", params={"after": listed["next"]}))
    assert ([each["id"] for each in rest["versions"]], rest["next"]) == ([first[0]["id"]], None)
    changed_by = listed["versions"][1]["id"]
    diff = good(admin.api("GET", f"/versions/{changed_by}/diff"))
    assert [change["words"] for change in diff["changes"]] == ["Queue sale, poll_s: 5 → 9."]
    codes = [each["code"] for each in good(admin.api("GET", f"/versions/{changed_by}/diff?to=current"))["changes"]]
    assert codes == ["queue_added", "queue_removed", "unguarded"]
    assert admin.api("GET", f"/versions/{changed_by}/diff?to=x").status_code == 422
    done = good(put(admin, f"/versions/{changed_by}/restore", None, "*", "POST"))
    assert done["published"]
    assert published(admin).queue("sale").poll_s == 9
    newest = good(admin.api("GET", "/versions"))["versions"][0]
    assert newest["note"] == f"version {changed_by} restored"
    assert good(admin.api("GET", f"/versions/{newest['id']}"))["configuration"]["queues"][0]["id"] == "sale"
    assert admin.api("GET", "/versions/99999").status_code == 404


def test_what_was_done_is_in_the_audit_log(admin: Admin) -> None:
    good(put(admin, "/configuration/queues/sale", {"poll_s": 9}, "*", "PATCH"))
    rows = admin.app.state.desk.db.run_now(lambda session: list(session.execute(_audit())))
    action, target, before, after = rows[-1]
    assert (action, target) == ("queue.change", "queue:sale")
    assert (before, after["queue:sale poll_s"]) == ({"queue:sale poll_s": 5}, 9)
    assert after["version"] >= 1


def _audit() -> Any:
    from sqlalchemy import select

    from admin.state.tables import AuditRow

    return select(AuditRow.action, AuditRow.target, AuditRow.before, AuditRow.after).order_by(AuditRow.id)


def test_explain_is_the_command_lines_answer(admin: Admin) -> None:
    admin.start("sale")
    said = good(admin.api("GET", "/explain", params={"url": "https://shop.example.org/sale/x", "country": "DE"}))
    assert (said["outcome"], said["queue"], said["note"]) == ("admit", "sale", "")
    assert good(admin.api("GET", "/explain", params={"url": "/elsewhere"}))["outcome"] == "bypass"
    body = {"url": "/sale/x", "method": "post", "headers": {"Cookie": "stanchion-sale=x.y.z"}}
    said = good(admin.api("POST", "/explain", json=body))
    assert "no_keys" in [step["code"] for step in said["steps"]]
    for wrong, at in (({}, "url"), ({"url": 5}, "url"), ({"url": "/x", "headers": {"a": 1}}, "headers"),
                      ({"url": "/x", "country": "Japan"}, "country"), ({"url": "ftp://x"}, "url")):  # fmt: skip
        assert good(admin.api("POST", "/explain", json=wrong), 422)["errors"][0]["at"] == at
    admin.kv.put(CONFIG_KEY, json.dumps(value(member("new", max_active=1))))
    admin.clock.ahead_s += 2
    assert "no state" in good(admin.api("GET", "/explain", params={"url": "/new/x"}))["note"]


def test_a_broken_configuration_is_told_and_can_be_replaced(admin: Admin) -> None:
    admin.kv.put(CONFIG_KEY, "{")
    assert "cannot be used" in good(admin.api("GET", "/configuration"), 409)["detail"]
    good(put(admin, "/configuration", value(entry("a"))))
    assert published(admin).queue("a")


@pytest.mark.parametrize("path", ["/configuration/queues/sale", "/configuration", "/versions/1/restore"])
def test_a_change_says_what_it_was_made_from(admin: Admin, path: str) -> None:
    method = "POST" if path.endswith("restore") else "PUT"
    answer = admin.api(method, path, **({} if method == "POST" else {"json": {"id": "sale"}}))
    assert answer.status_code == 428
