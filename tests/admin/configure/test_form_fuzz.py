"""Whatever is sent to the forms of the settings, the answer is one of theirs: no fault of ours, and nothing bad is published."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from edge.core.config import CONFIG_KEY, load_config
from tests.admin.configure.pages import form_at, send
from tests.admin.configure.test_document import GROUP, entry, member
from tests.admin.conftest import Admin, Browser

_TEXT = st.sampled_from(["", "0", "-1", "1e9", "x", "/x", "/x/*", "null", "{}", "[]", "5", '{"id": 5}', "é\u2028", "a" * 300,
                         "UTC", "Asia/Tokyo", "../../x", "2026-02-30T99:00", "1,000", "sale", "a", "b"])  # fmt: skip
_NAMES = st.sampled_from([
    "id", "name", "base", "shown", "zone_was", "zone", "entry_json", "confirmed", "routes[0].path", "routes[9].path",
    "routes[0].host", "routes[999999].path", "lanes[0].name", "lanes[1].share", "countries", "opens_at",
    "admit_per_minute", "bypass", "held_status", "member[0].queue", "member[0].quota", "member[x].queue",
    "quotas", "queues", "visitor_key", "language",
])  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 99) | st.sampled_from(["a", "b", "/x", ""]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["id", "queues", "routes", "path", "quotas", "lanes", "name"]), inner, max_size=4),
    max_leaves=8,
).map(json.dumps)
_FORM = st.dictionaries(_NAMES, _TEXT | _JSON, max_size=5)
_PAGES = ["/configuration/queues/sale", "/configuration/queues/_new", "/configuration/groups/world", "/configuration/groups/_new"]


@settings(max_examples=15, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(_PAGES), _FORM, st.sampled_from(["save", "check", "zone", "from_json", "what"]))
@example("/configuration/queues/sale", {"entry_json": '{"id": "x"}'}, "from_json")
@example("/configuration/queues/sale", {"base": '{"routes": null}'}, "save")
def _sent(admin: Admin, browser: Browser, html: dict[str, str], page: str, form: dict[str, Any], do: str) -> None:
    answer = send(browser.client, html[page], page, do, **form)
    assert answer.status_code in (200, 303, 409, 422), (answer.status_code, answer.text[:300])
    load_config(admin.kv.get(CONFIG_KEY) or "")


def test_no_form_is_a_fault_of_ours(admin: Admin, browser: Browser) -> None:
    admin.publish(entry("sale"), member("a"), member("b"), groups=[GROUP])
    html = {page: browser.get(page) for page in _PAGES}
    assert form_at(html[_PAGES[0]], _PAGES[0])["csrf"]
    _sent(admin, browser, html)


@settings(max_examples=10, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(_JSON | _TEXT, st.sampled_from(["save", "check"]), st.booleans())
def _edited(admin: Admin, browser: Browser, html: str, text: str, do: str, is_stale: bool) -> None:
    page = "/configuration/json"
    answer = send(browser.client, html, page, do, text=text, **({"etag": "x"} if is_stale else {}))
    assert answer.status_code in (200, 303, 409, 422), (answer.status_code, answer.text[:300])
    load_config(admin.kv.get(CONFIG_KEY) or "")


def test_no_text_is_a_fault_of_ours(admin: Admin, browser: Browser) -> None:
    _edited(admin, browser, browser.get("/configuration/json"))
