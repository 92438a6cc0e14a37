"""The studio through its API and its pages: nothing typed is lost, nothing unfit is published, the way back is there."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import httpx
import pytest

from admin.access.permissions import MARKETER, OPERATOR, OWNER, VIEWER
from edge.core.page_set import read_page_set
from tests.admin.conftest import Admin, Browser
from tests.admin.world import RedisServer

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def files_of(admin: Admin, brand: str) -> tuple[dict[str, Any], str]:
    answer = admin.api("GET", f"/brands/{brand}")
    assert answer.status_code == 200
    return answer.json()["files"], answer.headers["etag"]


def put(admin: Admin, brand: str, files: dict[str, Any], etag: str) -> httpx.Response:
    return admin.api("PUT", f"/brands/{brand}/draft", json={"files": files}, headers={"If-Match": etag})


def small(files: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """The same brand in one language: quick to publish."""
    values = json.loads(files["brand.json"]) | {"languages": ["en"]} | changed
    return {**files, "brand.json": json.dumps(values)}


def published(admin: Admin, brand: str) -> int:
    text = admin.kv.get(f"pages/{brand}/current.json")
    return read_page_set(text).version if text else 0


def test_a_brand_from_nothing_to_the_store_and_back(admin: Admin) -> None:
    made = admin.api("POST", "/brands", json={"id": "gala", "from": "concert"})
    assert made.status_code == 201
    assert json.loads(made.json()["files"]["brand.json"])["name"] == "Gala"
    files, etag = files_of(admin, "gala")
    saved = put(admin, "gala", small(files, name="Gala One"), etag)
    assert saved.status_code == 200
    assert admin.api("POST", "/brands/gala/check").json() == {"fit": True, "faults": []}
    assert published(admin, "gala") == 0

    say = {"note": "first"}
    done = admin.api("POST", "/brands/gala/publish", json=say, headers={"If-Match": saved.headers["etag"]})
    assert (done.status_code, done.json()["version"]) == (200, 1)
    assert "Gala One" in (admin.kv.get("pages/gala/1/en/waiting.html") or "")
    files, etag = files_of(admin, "gala")
    assert etag == '"0"', "publishing ends the draft"

    second = put(admin, "gala", small(files, name="Gala Two"), etag).headers["etag"]
    assert admin.api("POST", "/brands/gala/publish", json={}, headers={"If-Match": second}).json()["version"] == 2
    back = admin.api("POST", "/brands/gala/roll-back", json={"version": 1, "in_force": 2})
    assert (back.status_code, published(admin, "gala")) == (200, 1)
    assert admin.api("POST", "/brands/gala/roll-back", json={"version": 1, "in_force": 2}).status_code == 409

    lines = admin.api("GET", "/brands/gala/versions").json()["versions"]
    assert [(line["version"], line["in_force"], line["note"]) for line in lines] == [(2, False, ""), (1, True, "first")]
    source = admin.api("GET", "/brands/gala/versions/2").json()["files"]
    assert json.loads(source["brand.json"])["name"] == "Gala Two"
    deeds = [one["action"] for one in admin.api("GET", "/audit?target=brand:gala").json()["entries"]]
    assert deeds == ["brand.roll_back", "brand.publish", "brand.publish", "brand.make"]


def test_a_brand_may_extend_one_that_was_made_here(admin: Admin) -> None:
    admin.api("POST", "/brands", json={"id": "house"})
    files, etag = files_of(admin, "house")
    etag = put(admin, "house", small(files, support="mailto:help@example.com"), etag).headers["etag"]
    assert admin.api("POST", "/brands/house/publish", json={}, headers={"If-Match": etag}).status_code == 200
    admin.api("POST", "/brands", json={"id": "tour"})
    files, etag = files_of(admin, "tour")
    etag = put(admin, "tour", small(files, extends="house"), etag).headers["etag"]
    assert admin.api("POST", "/brands/tour/publish", json={}, headers={"If-Match": etag}).status_code == 200
    assert "mailto:help@example.com" in (admin.kv.get("pages/tour/1/en/waiting.html") or "")


def test_what_is_unfit_is_said_and_never_published(admin: Admin) -> None:
    files, etag = files_of(admin, "shop")
    etag = put(admin, "shop", {**files, "brand.css": "a { background: url(//evil.example) }"}, etag).headers["etag"]
    fault = admin.api("POST", "/brands/shop/check").json()["faults"][0]
    assert fault["file"].endswith("brand.css")
    assert fault["line"] == 1
    refused = admin.api("POST", "/brands/shop/publish", json={}, headers={"If-Match": etag})
    assert refused.status_code == 422
    assert "evil.example" in refused.json()["detail"]
    assert published(admin, "shop") == 0
    assert files_of(admin, "shop")[1] == etag, "the draft is kept"


@pytest.mark.parametrize(
    "template", ["{{ 'x' * 3000000000 }}", "{% for a in range(10**9) %}{% for b in range(10**9) %}{% endfor %}{% endfor %}"]
)
def test_a_template_that_would_hang_is_stopped(admin: Admin, template: str) -> None:
    files, etag = files_of(admin, "shop")
    put(admin, "shop", {**small(files), "ended.html.jinja": template}, etag)
    answer = admin.api("POST", "/brands/shop/check")
    assert answer.status_code == 200
    assert answer.json()["faults"][0]["file"].endswith("ended.html.jinja")
    assert admin.api("GET", "/brands").status_code == 200


def test_the_later_of_two_sees_that_the_draft_has_moved(admin: Admin, browser: Browser) -> None:
    html = browser.get("/pages/shop/look")
    seen = dict(re.findall(r'<input type="hidden" name="(csrf|revision)" value="([^"]*)"', html))
    files, etag = files_of(admin, "shop")
    assert put(admin, "shop", small(files, name="Theirs"), etag).status_code == 200
    late = browser.client.post("/pages/shop/look", data={**seen, "name": "Mine"})
    assert late.status_code == 409
    assert "saved this draft meanwhile" in late.text
    assert 'value="Mine"' in late.text, "what was typed is still there"
    assert json.loads(files_of(admin, "shop")[0]["brand.json"])["name"] == "Theirs"
    assert put(admin, "shop", files, etag).status_code == 412


def test_saving_what_did_not_change_makes_no_draft(admin: Admin) -> None:
    files, etag = files_of(admin, "default")
    assert put(admin, "default", files, etag).headers["etag"] == '"0"'
    assert admin.api("GET", "/brands/default").json()["draft"] is None


def test_which_draft_was_seen_must_be_said(admin: Admin) -> None:
    files, _ = files_of(admin, "shop")
    assert admin.api("PUT", "/brands/shop/draft", json={"files": files}).status_code == 428
    assert put(admin, "shop", files, "no tag").status_code == 412
    assert admin.api("POST", "/brands/shop/publish", json={}).status_code == 428
    assert admin.api("DELETE", "/brands/shop/draft").status_code == 428


@pytest.mark.parametrize(
    ("body", "at"),
    [({"id": "Shop"}, "brand"), ({"id": "shop"}, "brand"), ({"id": 3}, "id"), ({}, "id"), ({"id": "a", "x": 1}, "'x'")],
)
def test_a_bad_id_is_named(admin: Admin, body: dict[str, Any], at: str) -> None:
    answer = admin.api("POST", "/brands", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["at"] == at


def test_what_is_not_there(admin: Admin, browser: Browser) -> None:
    assert admin.api("GET", "/brands/nobody").status_code == 404
    assert admin.api("GET", "/brands/shop/versions/7").status_code == 404
    assert admin.api("POST", "/brands", json={"id": "a", "from": "nobody"}).status_code == 404
    assert browser.client.get("/pages/nobody").status_code == 404


def test_the_preview_is_fenced_in(browser: Browser) -> None:
    frame = browser.client.get("/pages/shop/preview?state=called&language=ja")
    policy = frame.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert "connect-src 'none'" in policy
    assert "frame-src" not in browser.client.get("/").headers["content-security-policy"]
    assert "frame-src 'self'" in browser.client.get("/pages/shop").headers["content-security-policy"]


def test_pictures_are_taken_checked_and_given_back(admin: Admin, browser: Browser) -> None:
    def send(data: bytes, name: str = "logo.png", **more: str) -> httpx.Response:
        html = browser.get("/pages/shop/look")
        fields = dict(re.findall(r'<input type="hidden" name="(csrf|revision)" value="([^"]*)"', html))
        form = {**fields, "key": "logo", **more}
        return browser.client.post("/pages/shop/picture", data=form, files={"file": (name, data)})

    assert send(PNG).status_code == 303
    files, _ = files_of(admin, "shop")
    assert base64.b64decode(files["logo.png"]["base64"]) == PNG
    assert json.loads(files["brand.json"])["logo"] == "logo.png"
    assert send(b"x" * 600_000).status_code == 413
    assert send(b"", "logo.gif").status_code == 422
    assert send(PNG, remove="1").status_code == 303
    assert "logo.png" not in files_of(admin, "shop")[0]
    refused = send(b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1'><script>1</script></svg>", "a.svg")
    assert refused.status_code == 422
    assert re.search(r'data-error="logo">[^<]+', refused.text), "a picture with a script is named at its field"
    assert send(b"notpng").status_code == 422
    assert send(PNG + b"x" * 20_000).status_code == 422
    assert "logo" not in json.loads(files_of(admin, "shop")[0]["brand.json"]), "what is refused is not kept"
    assert admin.api("POST", "/brands/shop/check").json()["fit"] is True


@pytest.mark.parametrize(("role", "edits"), [(VIEWER, False), (OPERATOR, False), (MARKETER, True), (OWNER, True)])
def test_roles_see_what_they_may_do(admin: Admin, role: str, edits: bool) -> None:
    with admin.as_role(role) as person:
        html = person.get("/pages/shop/look")
        assert ("Save draft" in html) is edits
        assert ("Publish…" in html) is edits
        assert (" disabled" in html) is not edits
        token = re.search(r'name="csrf" value="([^"]+)"', html)
        assert token
        sent = person.client.post("/pages/shop/look", data={"csrf": token[1], "revision": "0", "name": "Mine"})
        assert sent.status_code == (303 if edits else 403)


def test_the_store_away_loses_no_draft(admin: Admin, browser: Browser) -> None:
    files, etag = files_of(admin, "shop")
    admin.settings.kv_dir.rename(admin.settings.kv_dir.with_name("away"))
    etag = put(admin, "shop", small(files, name="While away"), etag).headers["etag"]
    assert "cannot be read" in browser.get("/pages")
    refused = admin.api("POST", "/brands/shop/publish", json={}, headers={"If-Match": etag})
    assert refused.status_code == 503
    admin.settings.kv_dir.with_name("away").rename(admin.settings.kv_dir)
    assert admin.api("POST", "/brands/shop/publish", json={}, headers={"If-Match": etag}).status_code == 200


def test_pages_that_were_published_elsewhere_are_in_the_history(admin: Admin, redis_server: RedisServer) -> None:
    files, etag = files_of(admin, "shop")
    etag = put(admin, "shop", small(files), etag).headers["etag"]
    admin.api("POST", "/brands/shop/publish", json={}, headers={"If-Match": etag})
    page = admin.kv.get("pages/shop/1/en/waiting.html") or ""
    admin.kv.put("pages/shop/2/en/waiting.html", page)
    admin.kv.put("pages/shop/current.json", json.dumps({"version": 2, "previous": 1, "languages": ["en"]}))
    lines = admin.api("GET", "/brands/shop/versions").json()["versions"]
    assert {(line["version"], line["has_source"], line["in_force"]) for line in lines} == {(1, True, False), (2, False, True)}
