"""What operators do to a running sale: two at once, taking back, live limits, one visit ended, and who may not."""

from __future__ import annotations

import re

import pytest

from edge.core import calls
from tests.admin.conftest import Admin, Browser, text_of
from tests.admin.world import queue_json

SALE = "/queues/sale"
STEPS = [("pause", "paused"), ("drain", "draining"), ("close", "closed"), ("maintenance", "maintenance")]


@pytest.fixture
def sale(admin: Admin) -> Admin:
    admin.publish(queue_json("sale", name="Summer sale", admit_per_minute=60, max_active=100, inventory=500))
    admin.start()
    return admin


def page_text(browser: Browser) -> str:
    return text_of(browser.get(SALE))


def rate_form(browser: Browser) -> dict[str, str]:
    return browser.fields(SALE, f"{SALE}/rate")


def test_the_later_of_two_operators_sees_that_the_value_changed_and_by_whom(sale: Admin, browser: Browser) -> None:
    form = rate_form(browser)
    assert form["seen"] == "60"
    assert sale.api("PATCH", f"{SALE}/limits", json={"admit_per_minute": 90}).status_code == 200
    answer = browser.client.post(f"{SALE}/rate", data={**form, "rate": "120", "do": "set"})
    assert answer.status_code == 409
    text = text_of(answer.text)
    assert "Meanwhile token changed it from 60 to 90. Nothing was done" in text
    assert 'value="120"' in answer.text, "what was typed is lost"
    assert sale.api("GET", SALE).json()["limits"]["admit_per_minute"] == 90
    shown = answer.text.partition(f'action="{SALE}/rate"')[2].partition("</form>")[0]
    again = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', shown))
    assert again["seen"] == "90"
    assert browser.client.post(f"{SALE}/rate", data={**again, "rate": "120", "do": "set"}).status_code == 303
    assert sale.api("GET", SALE).json()["limits"]["admit_per_minute"] == 120


def test_a_form_that_is_sent_twice_is_no_surprise(sale: Admin, browser: Browser) -> None:
    form = {**rate_form(browser), "rate": "75", "do": "set"}
    assert [browser.client.post(f"{SALE}/rate", data=form).status_code for _ in range(2)] == [303, 303]


def test_on_the_page_of_all_limits_too(sale: Admin, browser: Browser) -> None:
    form = browser.fields(f"{SALE}/limits", f"{SALE}/limits")
    sale.api("PATCH", f"{SALE}/limits", json={"max_active": 80})
    rest = {"admit_per_minute": "60", "burst": "", "inventory": "500"}
    answer = browser.client.post(f"{SALE}/limits", data={**form, **rest, "max_active": "70"})
    assert answer.status_code == 409
    assert "Meanwhile token changed it from 100 to 80" in text_of(answer.text)
    assert browser.client.post(f"{SALE}/limits", data={**form, **rest, "max_active": "100", "burst": "9"}).status_code == 303


@pytest.mark.parametrize(("field", "name", "value"), [("cap", "max_active", 40), ("inventory", "inventory", 450)])
def test_cap_and_inventory_change_live_and_go_back(sale: Admin, browser: Browser, field: str, name: str, value: int) -> None:
    assert browser.send(SALE, f"{SALE}/{field}", **{field: str(value), "do": "set"}).status_code == 303
    assert sale.api("GET", SALE).json()["limits"][name] == value
    assert browser.send(SALE, f"{SALE}/{field}", **{field: "much", "do": "set"}).status_code == 422
    assert browser.send(SALE, f"{SALE}/{field}", do="config").status_code == 303
    assert sale.api("GET", SALE).json()["limits"]["live"] == []


def undo_form(browser: Browser) -> dict[str, str]:
    return browser.fields(SALE, f"{SALE}/undo")


def test_limits_are_taken_back_until_the_next_change(sale: Admin, browser: Browser) -> None:
    browser.send(SALE, f"{SALE}/rate", rate="200", do="set")
    assert "Rate: 60 → 200, by admin" in page_text(browser)
    old = undo_form(browser)
    browser.send(SALE, f"{SALE}/cap", cap="50", do="set")
    refused = browser.client.post(f"{SALE}/undo", data=old)
    assert refused.status_code == 409
    assert "not the last change any more" in text_of(refused.text)
    assert browser.client.post(f"{SALE}/undo", data=undo_form(browser)).status_code == 303
    limits = sale.api("GET", SALE).json()["limits"]
    assert (limits["admit_per_minute"], limits["max_active"], limits["live"]) == (200, 100, ["admit_per_minute"])


@pytest.mark.parametrize(("step", "then"), STEPS)
def test_a_step_is_taken_back(sale: Admin, browser: Browser, step: str, then: str) -> None:
    csrf = undo_free(browser)
    assert browser.client.post(f"{SALE}/{step}", data=csrf).status_code == 303
    assert sale.api("GET", SALE).json()["status"] == then
    browser.client.post(f"{SALE}/undo", data=undo_form(browser))
    assert sale.api("GET", SALE).json()["status"] == "open"
    browser.client.post(f"{SALE}/undo", data=undo_form(browser))
    assert sale.api("GET", SALE).json()["status"] == then, "taking back is a change like any other"


def undo_free(browser: Browser) -> dict[str, str]:
    return {"csrf": rate_form(browser)["csrf"]}


def test_a_message_is_taken_back_to_the_one_before(sale: Admin, browser: Browser) -> None:
    for text in ("First", "Second"):
        browser.send(SALE, f"{SALE}/message", text=text)
    browser.client.post(f"{SALE}/undo", data=undo_form(browser))
    assert sale.api("GET", SALE).json()["message"] == "First"


def test_a_reset_cannot_be_taken_back(sale: Admin, browser: Browser) -> None:
    browser.send(f"{SALE}/reset", f"{SALE}/reset", confirm="sale")
    change = sale.api("GET", f"{SALE}/change").json()["last"]
    assert (change["action"], change["can_be_taken_back"]) == ("queue.reset", False)
    assert sale.api("POST", f"{SALE}/undo", json={"change": change["id"]}).status_code == 409


def test_undo_over_the_api(sale: Admin) -> None:
    assert sale.api("GET", f"{SALE}/change").json() == {"last": None}
    sale.api("PATCH", f"{SALE}/limits", json={"admit_per_minute": None})
    change = sale.api("GET", f"{SALE}/change").json()["last"]
    assert change["before"] == {"admit_per_minute": 60, "live": []}
    told = sale.api("POST", f"{SALE}/undo", json={"change": change["id"]}).json()
    assert (told["limits"]["admit_per_minute"], told["limits"]["live"]) == (60, [])
    assert sale.api("POST", f"{SALE}/undo", json={"change": change["id"]}).status_code == 409
    assert sale.api("POST", f"{SALE}/undo", json={"change": 7}).status_code == 422


def test_one_visit_is_ended_by_its_place_or_its_visitor(sale: Admin, browser: Browser) -> None:
    queue = sale.queues["sale"]
    sale.visitors.join(queue, 3, wants_in=True)
    assert sale.api("GET", SALE).json()["inside"] == 3
    assert browser.send(SALE, f"{SALE}/revoke", visit="2").status_code == 303
    assert sale.api("POST", f"{SALE}/revoke", json={"visit": "visitor-00000002"}).json()["inside"] == 1
    assert sale.api("GET", SALE).json()["counts"]["revoked"] == 2
    for who, status in (("2", 409), ("nobody", 409), ("two words", 422), ("", 422)):
        assert browser.send(SALE, f"{SALE}/revoke", visit=who).status_code == status, who
    assert sale.api("POST", f"{SALE}/revoke", json={"visit": "1", "lane": "vip"}).status_code == 422
    ended = calls.keys("sale")
    assert sale.visitors.client.zcard(next(key for key in ended if key.endswith(":ended"))) == 2


def test_the_place_of_one_who_waits_is_not_taken(sale: Admin) -> None:
    sale.api("POST", f"{SALE}/pause")
    sale.visitors.join(sale.queues["sale"], 2)
    assert sale.api("POST", f"{SALE}/revoke", json={"visit": "1"}).status_code == 409
    assert sale.api("GET", SALE).json()["waiting"] == 2


def test_steps_that_turn_people_away_ask_first(sale: Admin, browser: Browser) -> None:
    sale.visitors.join(sale.queues["sale"], 30)
    sale.clock.ahead_s += 2
    expected = {"drain": "are called as before", "close": "They keep their places", "maintenance": "page of a maintenance"}
    for step, says in expected.items():
        text = text_of(browser.get(f"{SALE}/confirm-{step}"))
        assert says in text
        assert "You can take it back" in text
    assert sale.api("GET", SALE).json()["status"] == "open"


def test_everything_is_in_the_audit_log_with_before_and_after(sale: Admin, browser: Browser) -> None:
    browser.send(SALE, f"{SALE}/rate", rate="70", do="set")
    change = sale.api("GET", f"{SALE}/change").json()["last"]
    assert (change["who"], change["before"], change["after"]) == (
        "admin", {"admit_per_minute": 60, "live": []}, {"admit_per_minute": 70, "live": ["admit_per_minute"]},
    )  # fmt: skip
