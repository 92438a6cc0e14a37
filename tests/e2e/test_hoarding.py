"""One place for one account, and work before a place, on the whole product and a real Redis."""

from __future__ import annotations

import httpx

from edge.core.work import Challenge, solve
from tests.e2e.stack import Stack, enter, status, until


def device(stack: Stack, account: str) -> httpx.Client:
    visitor = stack.visitor()
    if account:
        visitor.cookies.set("account", stack.account(account), domain="127.0.0.1")
    return visitor


def test_an_account_has_one_place_and_one_visit_on_all_its_devices(stack: Stack) -> None:
    stranger, phone, laptop, other = (device(stack, name) for name in ("", "anna@example.org", "anna@example.org", "bob"))
    for visitor in (stranger, phone, other, laptop):
        page = visitor.get("/account/tickets")
    page = stranger.get("/account/tickets")
    assert (page.status_code, page.headers["stanchion-state"]) == (401, "sign_in")
    assert 'href="/sign-in"' in page.text
    assert "Please sign in first" in page.text
    places = [until(visitor, "account", "waiting")["position"] for visitor in (phone, other, laptop)]
    assert places == [1, 2, 1]
    assert stack.api("GET", "/queues/account")["length"] == 2
    stack.api("POST", "/queues/account/admit", {"count": 1})
    until(laptop, "account", "called")
    seen = enter(laptop, "/account/tickets").json()
    assert enter(phone, "/account/tickets").status_code == 200
    queue = stack.api("GET", "/queues/account")
    assert (queue["inside"], queue["called"]) == (1, 0)
    assert "anna" not in str([value for name, value in seen["headers"] if name.lower().startswith("stanchion")])
    # The purchase ends the visit; the account gets no other.
    laptop.get("/account/tickets", headers={"x-answer-stanchion-command": "complete"})
    tablet = device(stack, "anna@example.org")
    tablet.get("/account/tickets")
    answer = tablet.get("/account/tickets")
    assert (answer.status_code, answer.headers["stanchion-state"]) == (403, "had_visit")
    assert "once" in answer.text
    assert status(tablet, "account")["state"] == "had_visit"
    assert stack.api("GET", "/queues/account")["length"] == 2
    assert "anna" not in stack.log()


def test_a_place_costs_work_that_only_the_candidate_can_show(stack: Stack) -> None:
    asks = {"Accept": "application/json"}
    visitor, thief = stack.visitor(), stack.visitor()
    task = Challenge(**visitor.get("/toil/", headers=asks).json()["challenge"])
    thief.get("/toil/")
    for each, said in ((visitor, ""), (visitor, "1,2,3,4,5,6,7,8"), (thief, solve(task))):
        answer = each.get("/.stanchion/toil/status", headers={**asks, "Stanchion-Work": said}).json()
        assert (answer["state"], answer["position"]) == ("candidate", None)
    before = stack.api("GET", "/queues/toil")["length"]
    placed = visitor.get("/.stanchion/toil/status", headers={**asks, "Stanchion-Work": solve(task)}).json()
    assert (placed["state"], placed["position"], placed["challenge"]) == ("waiting", before + 1, None)
    page = stack.visitor().get("/toil/")
    assert 'data-work="yes"' in page.text
    assert "small task" in page.text
