"""The settings in the console, without scripts and before a real Redis: every flow, two editors, and trouble."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from admin.state import users
from edge.core.config import CONFIG_KEY, load_config
from tests.admin.configure.pages import form_at, seen, send
from tests.admin.configure.test_document import GROUP, entry, member, value
from tests.admin.conftest import PASSWORD_HASH, Admin, Browser, sign_in

Page = Callable[[str], str]
HOME = "/configuration"


@pytest.fixture
def client(browser: Browser) -> httpx.Client:
    return browser.client


def published(admin: Admin) -> Any:
    text = admin.kv.get(CONFIG_KEY)
    assert text is not None
    return load_config(text)


def get(client: httpx.Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, (answer.status_code, seen(answer)[:400])
    return answer.text


def save(client: httpx.Client, path: str, do: str = "save", **changes: Any) -> httpx.Response:
    return send(client, get(client, path), path.partition("?")[0], do, **changes)


def after(client: httpx.Client, answer: httpx.Response) -> str:
    """The page that a save leads to."""
    assert answer.status_code == 303, (answer.status_code, seen(answer)[:800])
    return seen(get(client, answer.headers["location"]))


SALE = f"{HOME}/queues/sale"


def test_a_queue_is_changed_by_form_and_the_save_tells_what_changed(admin: Admin, client: httpx.Client) -> None:
    said = after(client, save(client, SALE, admit_per_minute="1,200", countries=["JP", "US"]))
    assert 'Saved, and in force: Queue sale, Countries: none → ["JP", "US"].' in said
    assert "Queue sale, Admissions a minute: 60 → 1200." in said
    assert published(admin).queue("sale").admit_per_minute == 1200
    assert "Japan, United States" in seen(get(client, HOME))


def test_saving_a_form_as_it_stands_changes_nothing(admin: Admin, client: httpx.Client) -> None:
    text = admin.kv.get(CONFIG_KEY)
    assert "Nothing changed" in after(client, save(client, SALE))
    assert admin.kv.get(CONFIG_KEY) == text


def test_faults_stand_at_their_field_and_nothing_typed_is_lost(admin: Admin, client: httpx.Client) -> None:
    text = admin.kv.get(CONFIG_KEY)
    answer = save(client, SALE, admit_per_minute="many", name="Autumn sale", opens_at="someday", **{"routes[1].path": "no-slash"})
    assert answer.status_code == 422
    assert "Nothing was saved" in seen(answer)
    assert "'many' is not allowed: a whole number from 0 to 1000000" in seen(answer)
    again = form_at(answer.text, SALE)
    assert [again[name][0] for name in ("admit_per_minute", "name", "opens_at", "routes[1].path")] == [
        "many", "Autumn sale", "someday", "no-slash"]  # fmt: skip
    assert answer.text.count('aria-invalid="true"') == 3
    assert admin.kv.get(CONFIG_KEY) == text


def test_a_new_queue_and_a_copy(admin: Admin, client: httpx.Client) -> None:
    new = f"{HOME}/queues/_new"
    said = after(client, save(client, new, id="drop", name="The drop", manual="1", **{"routes[0].path": "/drop/*"}))
    assert "Queue drop is new." in said
    assert published(admin).queue("drop").manual
    html = get(client, f"{new}?from=drop")
    answer = send(client, html, new)
    assert answer.status_code == 422
    assert "queue drop has the same rule" in seen(answer)
    said = after(client, send(client, answer.text, new, id="drop-jp", **{"routes[0].path": "/drop/jp/*"}))
    assert "Queue drop-jp is new." in said
    taken = save(client, new, id="drop", name="Again", manual="1", **{"routes[0].path": "/again"})
    assert "is taken by another queue" in seen(taken)


def test_what_people_will_notice_is_asked_about(admin: Admin, client: httpx.Client) -> None:
    asked = save(client, SALE, id="sale-2")
    assert asked.status_code == 200
    assert "Queue sale is removed." in seen(asked)
    assert published(admin).queue("sale-2") is None
    after(client, send(client, asked.text, SALE))
    assert published(admin).queue("sale-2") is not None
    # Agreeing to one thing is not agreeing to another.
    path = f"{HOME}/queues/sale-2"
    asked = save(client, path, **{"routes[0].path": "/elsewhere"})
    other = send(client, asked.text, path, id="sale-3")
    assert other.status_code == 200
    assert published(admin).queue("sale-3") is None


def test_what_would_change_is_told_without_saving(admin: Admin, client: httpx.Client) -> None:
    answer = save(client, SALE, "check", max_active="7")
    assert "Saving would change Queue sale, People inside: 100 → 7." in seen(answer)
    assert published(admin).queue("sale").max_active == 100


def test_form_and_json_are_the_same_both_ways(admin: Admin, client: httpx.Client) -> None:
    answer = save(client, SALE, "check", max_active="7")
    assert json.loads(form_at(answer.text, SALE)["entry_json"][0])["max_active"] == 7
    wanted = {"id": "sale", "name": "By hand", "routes": [{"path": "/sale/*"}], "max_active": 9, "burst": 0}
    answer = send(client, answer.text, SALE, "from_json", entry_json=json.dumps(wanted))
    assert form_at(answer.text, SALE)["name"] == ["By hand"]
    assert "0 is not allowed" in seen(answer)
    broken = send(client, answer.text, SALE, "from_json", entry_json='{"id": "sale"', name="Kept")
    assert broken.status_code == 422
    assert "was not taken over" in seen(broken)
    assert form_at(broken.text, SALE)["entry_json"] == ['{"id": "sale"']
    assert form_at(broken.text, SALE)["name"] == ["Kept"]


def test_the_later_of_two_editors_gets_both_changes(admin: Admin, client: httpx.Client) -> None:
    mine = get(client, SALE)
    after(client, save(client, SALE, poll_s="9"))
    said = after(client, send(client, mine, SALE, idle_s="99"))
    assert "The change that somebody else made meanwhile is kept." in said
    queue = published(admin).queue("sale")
    assert (queue.poll_s, queue.idle_s) == (9, 99)


def test_where_two_editors_change_the_same_the_later_decides(admin: Admin, client: httpx.Client) -> None:
    mine = get(client, SALE)
    after(client, save(client, SALE, admit_per_minute="90"))
    answer = send(client, mine, SALE, admit_per_minute="120", max_active="7")
    assert answer.status_code == 409
    assert "Meanwhile somebody else published: Queue sale, Admissions a minute: 60 → 90." in seen(answer)
    again = form_at(answer.text, SALE)
    assert (again["admit_per_minute"], again["max_active"]) == (["120"], ["7"])
    after(client, send(client, answer.text, SALE))
    assert published(admin).queue("sale").admit_per_minute == 120


def test_a_queue_that_somebody_removed_can_be_made_anew(admin: Admin, client: httpx.Client) -> None:
    admin.publish(entry("sale"), entry("b"))
    mine = get(client, SALE)
    admin.publish(entry("b"))
    answer = send(client, mine, SALE, poll_s="9")
    assert answer.status_code == 409
    assert "Somebody removed it" in seen(answer)
    after(client, send(client, answer.text, f"{HOME}/queues/_new"))
    assert published(admin).queue("sale").poll_s == 9


def test_removing_is_confirmed_in_words(admin: Admin, client: httpx.Client) -> None:
    path = f"{SALE}/remove"
    html = get(client, path)
    assert "No queue guards /sale/* any longer" in seen(html)
    assert "Type sale to remove it." in seen(send(client, html, path, typed="sail"))
    assert published(admin).queue("sale")
    assert "Queue sale is removed." in after(client, send(client, html, path, typed="sale"))
    assert published(admin).queues == ()
    assert "No queue yet" in seen(get(client, HOME))


def test_groups_by_form(admin: Admin, client: httpx.Client) -> None:
    admin.publish(entry("a"), entry("b"), entry("c"))
    new = f"{HOME}/groups/_new"
    rows = {"member[0].queue": "a", "member[0].quota": "2", "member[1].queue": "b"}
    asked = save(client, new, id="world", name="World", max_active="40", **rows)
    assert "Queue a enters another line (world, before a): who waits or is inside begins anew." in seen(asked)
    after(client, send(client, asked.text, new))
    config = published(admin)
    assert (config.queue("a").scope, config.groups[0].quotas, config.queue("a").max_active) == ("world", (("a", 2),), 40)
    # A member's form has not what the group shares, and says so.
    html = get(client, f"{HOME}/queues/a")
    assert "limits, schedule and timers are the group's" in seen(html)
    assert "admit_per_minute" not in form_at(html, f"{HOME}/queues/a")
    assert "Nothing changed" in after(client, send(client, html, f"{HOME}/queues/a"))
    path = f"{HOME}/groups/world"
    wrong = save(client, path, **{"member[0].quota": "much", "member[2].queue": "nobody"})
    assert "there is no queue 'nobody'" in seen(wrong) or "'much' is not allowed" in seen(wrong)
    said = after(client, save(client, path, poll_s="7"))
    assert "Group world, Page asks every: 5 → 7." in said
    html = get(client, f"{path}/remove")
    after(client, send(client, html, f"{path}/remove", typed="world"))
    assert published(admin).groups == ()


def test_the_whole_as_json(admin: Admin, client: httpx.Client) -> None:
    path = f"{HOME}/json"
    text = form_at(get(client, path), path)["text"][0]
    assert "Nothing changed" in after(client, save(client, path))
    wrong = save(client, path, text=text.replace('"max_active": 100', '"max_active": -1'))
    assert wrong.status_code == 422
    assert "line" in seen(wrong)
    assert 'class="bad" id="line-' in wrong.text
    assert '"max_active": -1' in form_at(wrong.text, path)["text"][0]
    broken = save(client, path, text="{\n oops")
    assert "line 2" in seen(broken)
    assert form_at(broken.text, path)["text"] == ["{\n oops"]
    said = after(client, save(client, path, text=text.replace('"max_active": 100', '"max_active": 50')))
    assert "People inside: 100 → 50" in said
    checked = save(client, path, "check", text=json.dumps(value(entry("other"))))
    assert "Queue other is new." in seen(checked)
    asked = save(client, path, text=json.dumps(value(entry("other"))))
    assert published(admin).queue("other") is None
    after(client, send(client, asked.text, path))
    assert published(admin).queue("other")


def test_two_who_edit_the_json_are_merged(admin: Admin, client: httpx.Client) -> None:
    path = f"{HOME}/json"
    client.get(f"{HOME}/history")  # keeps what stands in the store
    mine = get(client, path)
    text = form_at(mine, path)["text"][0]
    after(client, save(client, SALE, poll_s="9"))
    answer = send(client, mine, path, text=text.replace('"max_active": 100', '"max_active": 50'))
    assert answer.status_code == 409
    assert "Page asks every: 5 → 9" in seen(answer)
    both = json.loads(form_at(answer.text, path)["text"][0])["queues"][0]
    assert (both["poll_s"], both["max_active"]) == (9, 50)
    after(client, send(client, answer.text, path))
    assert (published(admin).queue("sale").poll_s, published(admin).queue("sale").max_active) == (9, 50)
    # Without the text that mine was made from, mine stays and theirs is told.
    answer = send(client, mine, path, etag="0" * 32, text=text.replace('"max_active": 100', '"max_active": 30'))
    assert answer.status_code == 409
    assert "replaces theirs" in seen(answer)


def test_a_broken_configuration_is_mended_in_place(admin: Admin, client: httpx.Client) -> None:
    admin.kv.put(CONFIG_KEY, '{"queues": [\n{"id": 5}\n]}')
    assert "cannot be used" in seen(get(client, HOME))
    html = get(client, f"{HOME}/json")
    assert "line 2" in seen(html)
    after(client, send(client, html, f"{HOME}/json", text=json.dumps(value(entry("mended")))))
    assert published(admin).queue("mended")


def test_history_shows_who_what_and_the_way_back(admin: Admin, client: httpx.Client) -> None:
    after(client, save(client, SALE, poll_s="9"))
    html = seen(get(client, f"{HOME}/history"))
    assert "published now" in html
    assert "another program" in html
    version = seen(get(client, f"{HOME}/history/2"))
    assert "What it changed Queue sale, Page asks every: 5 → 9." in version
    first = get(client, f"{HOME}/history/1")
    assert "To restore it would change Queue sale, Page asks every: 9 → 5." in seen(first)
    after(client, save(client, SALE, idle_s="99"))
    late = send(client, first, f"{HOME}/history/1/restore")
    assert late.status_code == 409
    assert "somebody published in the meantime" in seen(late)
    said = after(client, send(client, late.text, f"{HOME}/history/1/restore"))
    assert "Page asks every: 9 → 5" in said
    assert published(admin).queue("sale").poll_s == 5
    assert "version 1 restored" in seen(get(client, f"{HOME}/history"))
    assert client.get(f"{HOME}/history/999").status_code == 404
    assert client.get(f"{HOME}/history/x").status_code == 404


def test_an_address_is_tried(admin: Admin, client: httpx.Client) -> None:
    both = {"max_active": 5, "routes": [{"path": "/jp/*"}]}
    admin.publish(member("jp", countries=["JP"], **both), member("us", countries=["US"], **both))
    html = get(client, f"{HOME}/explain?url=https%3A%2F%2Fshop.example.org%2Fjp%2Fx&country=US")
    assert "Queue us names the country US." in seen(html)
    assert "The queue has no state in Redis yet" in seen(html)
    html = get(client, f"{HOME}/explain?url=%2Fjp%2Fx&cookie=stanchion-jp%3Dx.y.z&header=Sec-Purpose%3A+prefetch")
    assert "signing keys are not known here" in seen(html)
    answer = client.get(f"{HOME}/explain?url=ftp%3A%2F%2Fx")
    assert answer.status_code == 422
    assert "an address begins with" in seen(answer)


def test_times_are_shown_and_read_in_a_chosen_zone(admin: Admin, client: httpx.Client) -> None:
    admin.publish(entry("sale", opens_at="2026-12-01T10:00:00Z"))
    html = get(client, SALE)
    assert "= 2026-12-01 10:00:00 UTC" in seen(html)
    tokyo = send(client, html, SALE, "zone", zone="Asia/Tokyo")
    assert form_at(tokyo.text, SALE)["opens_at"] == ["2026-12-01T19:00:00"]
    assert "Nothing changed" in after(client, send(client, tokyo.text, SALE))
    after(client, send(client, tokyo.text, SALE, opens_at="2026-12-01T20:00"))
    assert "2026-12-01T11:00:00Z" in (admin.kv.get(CONFIG_KEY) or "")


def test_without_redis_nothing_is_saved_and_nothing_typed_is_lost(serve: Any, admin: Admin) -> None:
    away = serve("http://127.0.0.1:9")
    away.publish(entry("sale"))
    with away.anyone() as client:
        assert sign_in(client).status_code == 303
        answer = save(client, SALE, poll_s="9")
        assert answer.status_code == 503
        assert "nothing of what you typed is lost" in seen(answer)
        assert form_at(answer.text, SALE)["poll_s"] == ["9"]


def test_what_is_perhaps_not_meant_is_said(admin: Admin, client: httpx.Client) -> None:
    admin.publish(entry("sale", routes=[{"path": "/*"}], page="summer"))
    said = seen(get(client, SALE))
    assert "There are no published pages of the brand summer: visitors see a plain page." in said
    assert "/webhook" in said
    assert "warnings" in seen(get(client, HOME))
    assert "servers call such an address" in seen(get(client, f"{HOME}/json"))
    assert "servers call such an address" in seen(get(client, f"{HOME}/explain?url=https://shop.example/webhook/1&method=POST"))
    assert "servers call such an address" not in seen(get(client, f"{HOME}/explain?url=https://shop.example/dates&method=POST"))


def test_what_is_not_there_is_not_found(client: httpx.Client) -> None:
    for path in ("queues/nobody", "groups/nobody", "queues/nobody/remove", "rooms/x"):
        assert client.get(f"{HOME}/{path}").status_code == 404


def test_a_group_of_a_published_configuration_is_listed(admin: Admin, client: httpx.Client) -> None:
    admin.publish(member("a"), member("b"), groups=[GROUP])
    said = seen(get(client, HOME))
    assert "a (2), b" in said
    assert "40 inside" in said
    assert "No queue matches" in seen(get(client, f"{HOME}?q=zzz"))


def test_the_settings_speak_japanese(admin: Admin, client: httpx.Client) -> None:
    client.headers["Accept-Language"] = "ja"
    assert "待ち列の設定" in seen(get(client, HOME))
    said = after(client, save(client, SALE, admit_per_minute="90", countries=["JP"]))
    assert "待ち列 sale、国：なし → [\"JP\"]。 待ち列 sale、毎分の入場数：60 → 90。" in said
    assert "日本" in get(client, SALE)
    assert "待ち列 sale のルール /sale/* が当てはまります。" in seen(get(client, f"{HOME}/explain?url=%2Fsale%2Fx"))


def test_what_a_role_may_not_do_is_shown_disabled_and_refused(admin: Admin, client: httpx.Client) -> None:
    html = get(client, SALE)
    with admin.anyone() as viewer:
        admin.app.state.desk.db.run_now(
            lambda session: users.add(session, "v1", "vera", "viewer", 0, password_hash=PASSWORD_HASH)
        )
        assert sign_in(viewer, user="vera").status_code == 303
        page = get(viewer, SALE)
        assert "Your role may look, not change. Roles that may: operator, owner." in seen(page)
        assert '<fieldset class="plain" disabled>' in page
        assert "New queue" not in seen(get(viewer, HOME))
        assert send(viewer, page, SALE, poll_s="9").status_code == 403
        assert viewer.get(f"{SALE}/remove").status_code == 403
        assert viewer.get(f"{HOME}/transfer/export?part=people").status_code == 403
    assert "disabled" not in form_html(html)


def form_html(html: str) -> str:
    return html.partition('<fieldset class="plain')[2].partition(">")[0]
