"""The console without JavaScript: what its pages say, and what its forms do."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from edge.core import commands
from edge.core.moments import moment_text
from tests.admin.conftest import Admin, Browser, Serve, sign_in, text_of
from tests.admin.world import Bridge, free_port, queue_json

SALE = "/queues/sale"


def manual(admin: Admin, waiting: int, **values: Any) -> None:
    admin.publish(queue_json("sale", name="Summer sale", manual=True, **values))
    admin.start()
    admin.visitors.join(admin.queues["sale"], waiting)
    admin.clock.ahead_s += 2


def test_the_list_shows_every_queue(admin: Admin, browser: Browser) -> None:
    admin.publish(queue_json("sale", name="Summer sale", max_active=100), queue_json("drop", manual=True), queue_json("later"))
    admin.start("sale", "drop")
    admin.visitors.join(admin.queues["drop"], 1234)
    admin.visitors.run(commands.set_limits("sale", {"admit_per_minute": 90}, "0" * 32))
    admin.visitors.run(commands.control("sale", "pause", "p", "0" * 32))
    text = text_of(browser.get("/"))
    assert "Summer sale sale Paused 0" in text
    assert "90 configured 60" in text
    assert "0 of 100" in text
    assert "Drop drop Open 1,234" in text
    assert "Later later Missing –" in text


def test_search_and_pages(admin: Admin, browser: Browser) -> None:
    admin.publish(*(queue_json(f"q{number:03d}", name=f"Concert {number}") for number in range(120)))
    assert "Page 1 of 3" in browser.get("/")
    assert "q119" in browser.get("/?page=3")
    assert "q119" in browser.get("/?page=99")
    assert "Page 1 of 3" in browser.get("/?page=x")
    found = browser.get("/?q=cert+11")
    assert "q110" in found
    assert "q050" not in found
    assert "No queue matches" in browser.get("/?q=%3Cscript%3E")
    rail = browser.get("/queues/q060")
    assert "q099" in rail
    assert "q049" not in rail


def test_no_queue_yet(admin: Admin, browser: Browser) -> None:
    admin.publish()
    assert "No queue yet" in browser.get("/")


def test_names_are_escaped(admin: Admin, browser: Browser) -> None:
    admin.publish(queue_json("sale", name="<script>alert(1)</script>&\"'"))
    admin.start()
    for page in ("/", SALE, f"{SALE}/reset", f"{SALE}/limits"):
        html = browser.get(page)
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in html


def test_the_queue_page_says_what_each_control_will_do(admin: Admin, browser: Browser) -> None:
    manual(admin, 640, max_active=30)
    text = text_of(browser.get(SALE))
    assert "640 people keep their places; 0 inside stay inside" in text
    assert "Calls the next 30 of 640 waiting; each has 2 min to come in. Only 30 slots are free." in text
    assert "640 of 640 who got a place" in text


def test_pause_and_resume(admin: Admin, browser: Browser) -> None:
    admin.start()
    assert browser.send(SALE, f"{SALE}/pause").headers["location"] == SALE
    text = text_of(browser.get(SALE))
    assert "Paused: nobody is called until you resume." in text
    assert "Resume" in text
    assert admin.visitors.state(admin.queues["sale"])["status"] == "paused"
    assert "Paused: nobody is called until you resume." not in browser.get(SALE), "a message is shown once"
    browser.send(SALE, f"{SALE}/resume")
    assert admin.visitors.state(admin.queues["sale"])["status"] == "open"


def test_admit_and_admit_twice(admin: Admin, browser: Browser) -> None:
    manual(admin, 80)
    form = {**browser.fields(SALE, f"{SALE}/admit"), "count": "50"}
    for _ in range(2):
        assert browser.client.post(f"{SALE}/admit", data=form).status_code == 303
    assert "Called 50 people." in browser.get(SALE)
    assert admin.api("GET", SALE).json()["called"] == 50
    browser.send(SALE, f"{SALE}/admit", count="1,000")
    assert "Called 30 people of 1,000 asked for: nobody else waits." in browser.get(SALE)


@pytest.mark.parametrize("count", ["", "0", "-3", "abc", "1.5", "100001", "<b>"])
def test_an_error_stands_at_its_field_and_nothing_is_lost(admin: Admin, browser: Browser, count: str) -> None:
    manual(admin, 5)
    answer = browser.send(SALE, f"{SALE}/admit", count=count)
    assert answer.status_code == 422
    assert "is no number of people." in answer.text or (not count and "Nothing was typed." in answer.text)
    assert "A whole number from 1 to 100,000." in answer.text
    field = re.search(r'<input id="count"[^>]*>', answer.text)
    assert field
    assert 'aria-invalid="true"' in field[0]
    assert f'value="{count.replace("<", "&lt;").replace(">", "&gt;")}"' in field[0]
    assert admin.api("GET", SALE).json()["called"] == 0


def test_admit_while_paused_says_why(admin: Admin, browser: Browser) -> None:
    manual(admin, 5)
    form = browser.fields(SALE, f"{SALE}/admit")
    browser.send(SALE, f"{SALE}/pause")
    answer = browser.client.post(f"{SALE}/admit", data={**form, "count": "3"})
    assert answer.status_code == 409
    assert "The queue is paused" in answer.text


def test_rate_and_back_to_the_configuration(admin: Admin, browser: Browser) -> None:
    admin.start()
    browser.send(SALE, f"{SALE}/rate", rate="90", do="set")
    text = text_of(browser.get(SALE))
    assert "Rate: 60 → 90." in text
    assert "90 set by an operator" in text
    browser.send(SALE, f"{SALE}/rate", rate="whatever", do="config")
    assert "Rate: 90 → 60." in browser.get(SALE)
    assert admin.api("GET", SALE).json()["limits"]["live"] == []
    assert browser.send(SALE, f"{SALE}/rate", rate="fast", do="set").status_code == 422
    browser.send(SALE, f"{SALE}/rate", rate="", do="set")
    assert admin.api("GET", SALE).json()["limits"]["admit_per_minute"] is None


def test_a_late_repeat_of_a_rate_undoes_nothing(admin: Admin, browser: Browser) -> None:
    admin.start()
    form = {**browser.fields(SALE, f"{SALE}/rate"), "rate": "90", "do": "set"}
    browser.client.post(f"{SALE}/rate", data=form)
    browser.send(SALE, f"{SALE}/rate", rate="120", do="set")
    browser.client.post(f"{SALE}/rate", data=form)
    assert admin.api("GET", SALE).json()["limits"]["admit_per_minute"] == 120


def test_the_limits_form_changes_what_was_changed(admin: Admin, browser: Browser) -> None:
    admin.start()
    page = f"{SALE}/limits"
    asked = {"admit_per_minute": "60", "burst": "5", "max_active": "80", "inventory": ""}
    assert browser.send(page, page, **asked).status_code == 303
    assert "Burst: a sixth of the rate → 5; Inside, at most: 100 → 80." in browser.get(SALE)
    assert admin.api("GET", SALE).json()["limits"]["live"] == ["burst", "max_active"]
    back = {"admit_per_minute": "60", "burst": "5", "max_active": "80", "inventory": "", "max_active-config": "1"}
    browser.send(page, page, **back)
    assert admin.api("GET", SALE).json()["limits"]["max_active"] == 100


def test_the_limits_form_keeps_what_was_typed(admin: Admin, browser: Browser) -> None:
    admin.start()
    page = f"{SALE}/limits"
    answer = browser.send(page, page, admit_per_minute="", burst="7", max_active="x", inventory="")
    assert answer.status_code == 422
    assert 'value="x"' in answer.text
    assert 'value="7"' in answer.text
    answer = browser.send(page, page, admit_per_minute="", burst="7", max_active="100", inventory="")
    assert answer.status_code == 422
    assert "means nothing without" in answer.text
    answer = browser.send(page, page, admit_per_minute="60", burst="", max_active="100", inventory="")
    assert "Nothing was changed" in answer.text


def test_reset_wants_the_id_in_words(admin: Admin, browser: Browser) -> None:
    manual(admin, 12)
    page = f"{SALE}/reset"
    text = text_of(browser.get(page))
    assert "12 people waiting lose their places" in text
    epoch = admin.api("GET", SALE).json()["epoch"]
    wrong = browser.send(page, page, confirm="Sale")
    assert wrong.status_code == 422
    assert "Type sale to reset" in wrong.text
    assert admin.api("GET", SALE).json()["epoch"] == epoch
    assert browser.send(page, page, confirm=" sale ").status_code == 303
    after = admin.api("GET", SALE).json()
    assert after["epoch"] != epoch
    assert after["waiting"] == 0


def test_a_missing_queue_is_started_on_purpose_only(admin: Admin, browser: Browser) -> None:
    text = text_of(browser.get(SALE))
    assert "Redis has no state for this queue" in text
    assert "begins its recovery" in text
    assert browser.send(SALE, f"{SALE}/start").status_code == 422
    assert admin.api("GET", SALE).json()["status"] == "missing"
    assert browser.send(SALE, f"{SALE}/start", never_ran="1").status_code == 303
    assert "The queue is open." in browser.get(SALE)


def test_recovery_is_told_and_can_be_ended(admin: Admin, browser: Browser) -> None:
    admin.visitors.run(commands.configure(admin.queues["sale"], "0" * 32))
    admin.clock.ahead_s += 2
    text = text_of(browser.get(SALE))
    assert "Recovering" in text
    assert "A pause from before is lost" in text
    assert "End recovery" in text
    browser.send(SALE, f"{SALE}/resume")
    assert admin.api("GET", SALE).json()["status"] == "open"


def test_live_says_what_the_page_says(admin: Admin, browser: Browser) -> None:
    manual(admin, 300)
    html = browser.get(SALE)
    answer = browser.client.get(f"{SALE}/live", params={"count": "50", "rate": ""}).json()
    assert answer["shape"] == "running"
    assert answer["stale"] is False
    compared = 0
    for name, text in answer["text"].items():
        found = re.search(rf'data-k="{re.escape(name)}"[^>]*>([^<]*)<', html)
        if found and found[1].strip():
            assert found[1].replace("&#39;", "'") == text, name
            compared += 1
    assert compared > 25
    typed = browser.client.get(f"{SALE}/live", params={"count": "7", "rate": "5"}).json()["text"]
    assert "Calls the next 7 of 300" in typed["say-admit"]
    assert "to 5 a minute" in typed["say-rate"]


def test_every_name_that_moves_is_on_the_page(admin: Admin, browser: Browser) -> None:
    manual(admin, 3)
    for page, live in ((SALE, f"{SALE}/live"), ("/", "/live")):
        html = browser.get(page)
        answer = browser.client.get(live).json()
        names = set(answer["attr"])
        assert names
        missing = {name for name in names if f'data-k="{name}"' not in html}
        # The rail of a queue's page is a part of the list.
        assert {name for name in missing if not re.search(r"\.fill-(inside|called)$", name)} == set()


def test_redis_away_leaves_the_page_up(serve: Serve, redis_server: Any) -> None:
    bridge = Bridge(redis_server.port)
    bridge.start()
    try:
        admin = serve(bridge.url)
        admin.publish(queue_json("sale", name="Summer sale", manual=True))
        admin.start()
        admin.visitors.join(admin.queues["sale"], 77)
        admin.clock.ahead_s += 2
        with admin.anyone() as client:
            sign_in(client)
            browser = Browser(client)
            assert "No fresh numbers" not in text_of(browser.get(SALE))
            form = browser.fields(SALE, f"{SALE}/admit")
            bridge.stop()
            admin.clock.ahead_s += 12
            html = browser.get(SALE)
            text = text_of(html)
            assert "No fresh numbers. Redis cannot be reached" in text
            assert re.search(r"Last update 1\d s ago", text)
            assert 'data-stale="yes"' in html
            assert "77" in text
            assert client.get(f"{SALE}/live").json()["stale"] is True
            assert browser.get("/")
            failed = client.post(f"{SALE}/admit", data={**form, "count": "5"})
            assert failed.status_code == 503
            assert "safe to press the same button again" in failed.text
            assert form["request_id"] in failed.text, "pressing again has to be the same step"
            unsure = browser.send(f"{SALE}/reset", f"{SALE}/reset", confirm="sale", request_id="r-1")
            assert unsure.status_code == 503
            assert 'name="request_id" value="r-1"' in unsure.text
            assert 'value="sale"' in unsure.text
            assert client.get("/healthz").json() == {"status": "ok", "database": "ok", "redis": "away", "configuration": "ok"}
            bridge.start()
            admin.clock.ahead_s += 2
            assert client.post(f"{SALE}/admit", data={**form, "count": "5"}).status_code == 303
            assert "No fresh numbers" not in text_of(browser.get(SALE))
    finally:
        bridge.stop()


def test_redis_away_from_the_start(serve: Serve) -> None:
    admin = serve(f"http://127.0.0.1:{free_port()}")
    admin.publish(queue_json("sale"))
    with admin.anyone() as client:
        sign_in(client)
        browser = Browser(client)
        for page in ("/", SALE, f"{SALE}/reset", f"{SALE}/limits"):
            browser.get(page)
        text = text_of(browser.get(SALE))
    assert "Not known" in text
    assert "No numbers yet" in text


def test_a_broken_configuration_keeps_the_last_good_one(admin: Admin, browser: Browser) -> None:
    admin.start()
    browser.get(SALE)
    admin.kv.put("config.json", json.dumps({"queues": [queue_json("sale", admit_per_minute=-1)]}))
    admin.clock.ahead_s += 2
    text = text_of(browser.get(SALE))
    assert "queues[0].admit_per_minute" in text
    assert "The last good one stays in use" in text
    assert browser.client.get("/healthz").json()["configuration"] == "bad"


def test_a_newer_configuration_is_announced(admin: Admin, browser: Browser) -> None:
    admin.start()
    admin.publish(queue_json("sale", config_version=3, admit_per_minute=10))
    assert "Configuration 3 is published, 1 is in force" in browser.get(SALE)


def test_what_is_not_there(admin: Admin, browser: Browser) -> None:
    for path in ("/queues/nope", "/queues/nope/reset", "/nothing", "/static/nope.css", "/static/../app.py"):
        answer = browser.client.get(path)
        assert answer.status_code == 404
        assert "Not Found" in answer.text
    assert browser.client.post("/").status_code == 405


def test_a_batch_of_a_lane_and_a_message(admin: Admin, browser: Browser) -> None:
    admin.publish(queue_json("sale", manual=True, lanes=[{"name": "standard"}, {"name": "members", "invite": True}]))
    admin.start()
    admin.visitors.join(admin.queues["sale"], 3)
    admin.visitors.run(commands.join("sale", "a-member", "0" * 32, line=1))
    sent = browser.send("/queues/sale", "/queues/sale/admit", count="9", lane="members", over_rate="1")
    assert sent.status_code == 303
    assert "Called 1 person of 9 asked for: nobody else waits in members." in text_of(browser.get("/queues/sale"))
    wrong = browser.send("/queues/sale", "/queues/sale/admit", count="1", lane="gold")
    assert (wrong.status_code, "no lane of this queue" in text_of(wrong.text)) == (422, True)
    for text, says in (("Soon", "shown to those who wait"), ("", "message is gone")):
        assert browser.send("/queues/sale", "/queues/sale/message", text=text).status_code == 303
        assert says in text_of(browser.get("/queues/sale"))
        assert admin.api("GET", "/queues/sale").json()["message"] == text
    assert browser.send("/queues/sale", "/queues/sale/message", text="x" * 501).status_code == 422


def test_the_value_of_a_beacon_is_asked_for_when_the_opening_waits_for_it(admin: Admin, browser: Browser) -> None:
    now_ms = int(time.time() * 1000)
    schedule = {"prequeue_at": moment_text(now_ms - 60_000), "opens_at": moment_text(now_ms + 3_600_000)}
    admin.publish(queue_json("sale", draw_beacon="drand round 7", **schedule))
    admin.start()
    admin.visitors.join(admin.queues["sale"], 2)
    before = browser.get(SALE)
    assert "It opens once the value of drand round 7 is entered." in text_of(before)
    assert 'data-k="beacon" hidden' in before
    assert browser.send(SALE, f"{SALE}/resume").status_code == 303
    asked = browser.get(SALE)
    assert "The pre-queue is over. The queue opens once the value of drand round 7 is entered." in text_of(asked)
    assert 'data-k="beacon" hidden' not in asked
    empty = browser.send(SALE, f"{SALE}/beacon", value=" ")
    assert (empty.status_code, "one line of 1 to 200 characters" in text_of(empty.text)) == (422, True)
    assert browser.send(SALE, f"{SALE}/beacon", value="b1a5e").status_code == 303
    told = browser.get(SALE)
    assert "The value is in the draw. The next request opens the queue." in text_of(told)
    assert 'data-k="beacon" hidden' in told
    assert admin.api("GET", "/queues/sale").json()["beacon"] == "b1a5e"
    late = browser.send(SALE, f"{SALE}/beacon", value="other")
    assert late.status_code == 409


def test_in_a_group_the_page_says_whom_a_step_concerns(admin: Admin, browser: Browser) -> None:
    group = {"id": "eu", "name": "Europe", "queues": ["de", "fr"], "admit_per_minute": 30}
    admin.publish(*({"id": name, "name": name, "routes": [{"path": f"/{name}/*"}]} for name in ("de", "fr")), groups=[group])
    admin.start("de")
    assert "steps concern all queues of the group eu: de, fr" in text_of(browser.get("/queues/de"))
    assert browser.send("/queues/de", "/queues/de/pause").status_code == 303
    assert "It concerns all queues of the group eu: de, fr." in text_of(browser.get("/queues/de"))
    assert "Resume" in text_of(browser.get("/queues/fr"))
    assert browser.send("/queues/fr", "/queues/fr/resume").status_code == 303
    assert "Pause only this queue" in text_of(browser.get("/queues/fr"))
    assert browser.send("/queues/fr", "/queues/fr/pause_alone").status_code == 303
    assert "Paused by itself: nobody of this queue is called. " in text_of(browser.get("/queues/fr")) + " "
    assert "Calls people of the group's other queues: this one is paused by itself." in text_of(browser.get("/queues/fr"))
    assert 'data-k="resume" hidden' in browser.get("/queues/de")
    assert browser.send("/queues/fr", "/queues/fr/resume").status_code == 303
    assert "This queue calls people again." in text_of(browser.get("/queues/fr"))
    assert admin.api("GET", "/queues/fr").json()["paused_alone"] is False
