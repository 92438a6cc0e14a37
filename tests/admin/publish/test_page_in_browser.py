"""A published page in a real browser, in front of a scripted edge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from admin.publish.samples import sample_values
from edge.core.pages import builtin
from tests.admin.publish.visitor import NOW_MS, URL, Visit, chromium, filled, status

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Open = Callable[..., Visit]
LISTEN = """() => {
  const at = document.getElementById("spoken");
  window.said = [];
  new MutationObserver(() => { if (at.textContent) said.push(at.textContent); }).observe(at, { childList: true });
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    context = browser.new_context(locale="en-GB", timezone_id="UTC")

    def open_page(html: str, *answers: object, fragment: str = "") -> Visit:
        return Visit(context.new_page(), html, *answers, fragment=fragment)

    yield open_page
    context.close()


def waiting(state: str = "waiting", **changed: str) -> str:
    return filled("default", "en", state, **changed)


def test_the_numbers_change_in_place(visit: Open) -> None:
    wait = {"low": 120, "high": 290}
    tab = visit(waiting(), status(ahead=900, wait_s=wait, now=NOW_MS + 12_000))
    assert tab.text("#ahead") == "1,204"
    tab.after(12)
    assert tab.text("#ahead") == "900"
    assert tab.text("#wait").strip() == "Expected wait: about 2 to 5 minutes"
    assert "12:04:43" in tab.text(".updated >> visible=true")
    assert tab.tab.title() == "(900) In line for Spring Release"
    assert (tab.asked, tab.loads, tab.complaints) == (1, 1, [])


def test_polls_keep_to_the_pace_of_the_server_with_a_fifth_of_jitter(visit: Open) -> None:
    tab = visit(waiting(poll_s="20"), status(poll_s=40))
    tab.after(15)
    assert tab.asked == 0
    tab.after(10)
    assert tab.asked == 1
    tab.after(22)
    assert tab.asked == 1
    tab.after(27)
    assert tab.asked == 2


def test_the_bar_only_ever_fills(visit: Open) -> None:
    tab = visit(waiting(), status(ahead=602), status(ahead=1000), status(ahead=1000, epoch="e2"))
    tab.after(12)
    assert tab.tab.get_attribute("#bar", "aria-valuenow") == "50"
    tab.after(12)
    assert tab.tab.get_attribute("#bar", "aria-valuenow") == "50"
    tab.tab.reload()
    tab.settle()
    assert tab.tab.get_attribute("#bar", "aria-valuenow") == "50", "the tab remembers where it began"


def test_one_who_is_next_reads_it_in_words(visit: Open) -> None:
    tab = visit(waiting(), status(ahead=0, wait_s={"low": 0, "high": 30}))
    tab.after(12)
    assert tab.sees(".count-none")
    assert not tab.sees("#ahead")
    assert tab.text("#wait").strip() == "Expected wait: less than 1 minute"


def test_a_wait_that_nobody_knows_is_said_in_words(visit: Open) -> None:
    tab = visit(waiting(), status(wait_s=None))
    tab.after(12)
    assert tab.text("#wait").strip() == "Expected wait: not known yet"


def test_a_change_is_spoken_and_an_answer_without_one_is_not(visit: Open) -> None:
    tab = visit(waiting(), status(), status(ahead=1100), status(ahead=1090), status(ahead=9), status("paused", ahead=9))
    tab.tab.evaluate(LISTEN)
    counts = []
    for asked in range(1, 6):
        tab.until_asked(asked)
        counts.append(tab.tab.evaluate("said.length"))
    assert counts == [0, 1, 1, 2, 3], "at most once a minute while the line is long"
    spoken = tab.tab.evaluate("said")
    assert spoken[0].startswith("People ahead of you 1,100")
    assert "9" in spoken[1]
    assert spoken[2].startswith("The line for Spring Release is paused")


def test_a_candidate_gets_the_position_after_a_second(visit: Open) -> None:
    tab = visit(waiting("candidate"), status(ahead=77))
    assert not tab.sees(".count")
    assert tab.text("h1 >> visible=true").startswith("One moment")
    tab.after(1.5)
    assert tab.text("#ahead") == "77"
    assert tab.text("h1 >> visible=true").strip() == "You are in line for Spring Release"
    assert (tab.asked, tab.loads) == (1, 1)


def test_the_builtin_page_tells_of_a_missed_turn_and_joins_nobody(visit: Open) -> None:
    tab = visit(builtin("called").fill(sample_values("called")), status("called"), status("lapsed"), status("candidate"))
    tab.after(60, step_s=2)
    assert (tab.asked, tab.loads, tab.complaints) == (2, 1, [])
    assert tab.text("h1") == "Your turn has passed"
    assert "did not come" in tab.text("main")
    tab.tab.click("a.go")
    tab.settle()
    assert tab.loads == 2


def test_blocked_cookies_are_said_in_words(visit: Open) -> None:
    tab = visit(waiting("candidate"), *[status("candidate", poll_s=1)] * 4, status(ahead=5))
    tab.after(2)
    assert not tab.sees("#blocked")
    tab.after(2)
    assert "does not keep this site's cookie" in tab.text("#blocked")
    assert not tab.sees("#blocked .button")
    tab.until_asked(5)
    assert not tab.sees("#blocked"), "a cookie that comes back after all ends the complaint"
    assert tab.text("#ahead") == "5"


def test_who_keeps_no_cookies_is_told_and_asks_ever_more_seldom(visit: Open) -> None:
    tab = visit(waiting("candidate"), status("candidate", poll_s=1))
    tab.after(10)
    assert tab.sees("#blocked")
    fast = tab.asked
    tab.after(600, step_s=5)
    assert 3 <= fast <= 6
    assert 8 <= tab.asked - fast <= 20, "about once a minute in the end"
    assert tab.loads == 1
    assert tab.sees("#blocked")
    tab.answers = [status(ahead=5), status("candidate", poll_s=1)]
    tab.until_asked(tab.asked + 1)
    assert not tab.sees("#blocked")
    tab.until_asked(tab.asked + 1)
    assert not tab.sees("#blocked"), "a second of patience for who begins anew"


def test_the_builtin_page_tells_who_keeps_no_cookies_too(visit: Open) -> None:
    tab = visit(builtin("waiting").fill(sample_values("candidate")), status("candidate", poll_s=1), status("candidate", poll_s=1))
    assert not tab.sees(".k")
    tab.after(60, step_s=5)
    assert "Cookies are blocked" in tab.text(".k")
    fast = tab.asked
    tab.after(600, step_s=5)
    assert 8 <= tab.asked - fast <= 20
    assert tab.loads == 1


def test_cloudflare_13525_2303_a_page_in_an_iframe_whose_cookie_is_blocked_offers_to_open_on_top(visit: Open) -> None:
    tab = visit(waiting("candidate"), status("candidate"))
    tab.tab.unroute("**/*")
    tab.tab.route("http://elsewhere.test/", lambda r: r.fulfill(body=f"<iframe src='{URL}'>", content_type="text/html"))
    tab.tab.route("http://shop.test/**", tab._serve)
    tab.tab.goto("http://elsewhere.test/")
    tab.settle()
    tab.after(5)
    frame = tab.tab.frame_locator("iframe")
    assert frame.locator("#blocked .button").is_visible()
    assert frame.locator("#blocked .button").get_attribute("target") == "_top"
    assert "inside another site" in frame.locator("#blocked").inner_text()


def test_your_turn_changes_everything_at_once_and_lets_in(visit: Open) -> None:
    tab = visit(waiting(), status("called", ahead=0), fragment="#seat-12")
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    before = tab.tab.evaluate(ground)
    tab.until_asked(1)
    assert tab.text("h1 >> visible=true") == "It is your turn"
    assert tab.tab.evaluate("document.activeElement.id") == "enter"
    assert tab.tab.evaluate(ground) != before
    assert tab.tab.title() == "● It is your turn: Spring Release"
    assert tab.loads == 1
    tab.after(1)
    assert tab.loads == 1
    tab.after(1.5)
    assert tab.loads == 2
    assert tab.tab.url == URL + "#seat-12"


def test_the_entry_can_be_stopped_and_taken_by_hand(visit: Open) -> None:
    tab = visit(waiting("called"), status("called", ahead=0), fragment="#seat-12")
    assert tab.text("#left") == "Your turn is kept for 4:52."
    tab.tab.click("#stop")
    tab.after(60)
    assert tab.loads == 1
    assert tab.sees("#stopped")
    # The page goes by its own clock, which a busy machine lets run a moment longer.
    assert re.fullmatch(r"Your turn is kept for 3:(52|51|50)\.", tab.text("#left"))
    assert tab.tab.evaluate("document.activeElement.id") == "enter"
    tab.tab.keyboard.press("Enter")
    tab.settle()
    assert tab.loads == 2
    assert tab.tab.url == URL + "#seat-12"


def test_a_called_page_that_comes_from_the_edge_knocks_again_when_told(visit: Open) -> None:
    tab = visit(waiting("called", poll_s="7"), status("called", ahead=0, poll_s=7))
    tab.after(5)
    assert tab.loads == 1
    tab.after(3)
    assert tab.loads == 2


HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_hidden_tab_says_so_and_does_not_go_in(visit: Open) -> None:
    tab = visit(waiting(), status("called", ahead=0))
    tab.tab.evaluate(HIDE, True)
    tab.after(60)
    assert tab.tab.title().startswith("● It is your turn")
    assert tab.loads == 1
    tab.tab.evaluate(HIDE, False)
    tab.after(2.5)
    assert tab.loads == 2


@pytest.mark.parametrize(("late_claim", "words"), [("refused", "like everybody who comes now"),
                                                   ("back", "at the end of the line")])  # fmt: skip
def test_a_missed_turn_is_told_and_a_new_place_is_for_the_visitor_to_ask(visit: Open, late_claim: str, words: str) -> None:
    # After `lapsed` a place that is gone makes a newcomer of whoever asks: the page must not.
    tab = visit(waiting(late_claim=late_claim), status("called", ahead=0, claim_left_s=30), status("lapsed"), status("candidate"),
                fragment="#f")  # fmt: skip
    tab.tab.evaluate(HIDE, True)
    tab.until_asked(1)
    assert tab.text("#left") == "Your turn is kept for 0:30."
    tab.until_asked(2)
    tab.tab.evaluate(HIDE, False)
    tab.after(60)
    assert (tab.asked, tab.loads, tab.complaints) == (2, 1, [])
    assert tab.text("h1 >> visible=true").strip() == "Your turn has passed"
    assert words in tab.text(".lead >> visible=true")
    assert tab.tab.title() == "Your turn has passed"
    assert tab.tab.evaluate("document.activeElement.textContent") == "Come back"
    assert not tab.tab.evaluate("document.body.innerText").count("in line")
    tab.tab.click("#lapsed .button")
    tab.settle()
    assert (tab.loads, tab.tab.url) == (2, URL + "#f")


def test_at_the_head_a_missed_turn_is_told_in_the_line(visit: Open) -> None:
    tab = visit(waiting(late_claim="head"), status("called", ahead=0, claim_left_s=30), status(ahead=0), status(ahead=0),
                status("called", ahead=0))  # fmt: skip
    assert not tab.sees("#missed")
    tab.tab.evaluate(HIDE, True)
    tab.tab.evaluate(LISTEN)
    tab.until_asked(2)
    assert tab.text("h1 >> visible=true").strip() == "You are in line for Spring Release"
    told = " ".join(tab.text("#missed").split())
    assert told == ("You were called for Spring Release and did not come in, so others went on. "
                    "You can still come back: you are let in again as soon as there is room.")  # fmt: skip
    assert told in tab.tab.evaluate("said")[-1]
    tab.until_asked(3)
    assert tab.sees("#missed"), "it holds for as long as one waits for it"
    tab.until_asked(4)
    assert not tab.sees("#missed")
    assert tab.loads == 1


def test_a_pause_of_the_line_is_no_missed_turn(visit: Open) -> None:
    tab = visit(waiting(), status("called", ahead=0), status("paused", ahead=0), status(ahead=0))
    tab.tab.evaluate(HIDE, True)
    tab.until_asked(3)
    assert not tab.sees("#missed")


def test_who_is_called_again_at_once_has_a_new_turn(visit: Open) -> None:
    turns = (status("called", ahead=0, claim_left_s=left_s, poll_s=60) for left_s in (20, 290))
    tab = visit(waiting(), *turns)
    tab.tab.evaluate(HIDE, True)
    tab.until_asked(2)
    assert tab.sees("#left")
    assert not tab.sees("#over")
    tab.tab.evaluate(HIDE, False)
    tab.after(2.5)
    assert tab.loads == 2


def test_a_turn_that_ran_out_unseen_is_not_taken(visit: Open) -> None:
    """A device that slept: its clock goes on, its timers do not. The door would give a place at the end without a word."""
    tab = visit(waiting(poll_s="60"), status("called", ahead=0, claim_left_s=30, poll_s=60), "away")
    tab.tab.evaluate(HIDE, True)
    tab.until_asked(1)
    tab.tab.clock.fast_forward(200_000)
    tab.settle()
    tab.tab.evaluate(HIDE, False)
    tab.after(5)
    assert tab.loads == 1


def test_who_leaves_may_join_again_at_the_same_place_of_the_page(visit: Open) -> None:
    tab = visit(waiting(), status("ended"), fragment="#f")
    tab.tab.click(".leave summary")
    tab.tab.click(".leave button")
    tab.settle()
    assert (tab.loads, len(tab.posts)) == (1, 1)
    assert tab.text("h1 >> visible=true").strip() == "You are no longer in line"
    assert not tab.sees(".leave")
    tab.after(60)
    assert (tab.asked, tab.loads) == (0, 1), "nothing joins by itself"
    tab.tab.click("#ended .button")
    tab.settle()
    assert (tab.loads, tab.tab.url) == (2, URL + "#f")


def test_what_was_spoken_does_not_stay_behind(visit: Open) -> None:
    tab = visit(waiting(), status(ahead=3), status("called", ahead=0))
    tab.tab.evaluate(HIDE, True)
    tab.until_asked(1)
    assert "3" in tab.text("#spoken")
    tab.after(6)
    assert tab.text("#spoken") == ""
    tab.until_asked(2)
    assert tab.text("#spoken") == ""


def test_after_the_draw_number_place_and_link_stand_there(visit: Open) -> None:
    drawn = {"position": 17, "ahead": 16, "arrival": 4711, "draw": "/.stanchion/launch/draw"}
    tab = visit(waiting("prequeue", order="draw"), status(**drawn))
    tab.until_asked(1)
    after_reload = filled("default", "en", "waiting", position="17", arrival_number="4711", drawn="yes", draw_url=drawn["draw"],
                          status_json=json.dumps(status(**drawn)))  # fmt: skip
    for page in (tab, visit(after_reload, status(**drawn))):
        page.tab.click("text=How is the order decided?")
        assert "Your arrival number was 4,711; your place after the draw is 17." in page.text(".drawn")
        assert page.sees(".check a")
    unknown = visit(waiting(drawn="yes"))
    unknown.tab.click("text=How is the order decided?")
    assert not unknown.sees(".drawn"), "no sentence with a gap"


@pytest.mark.parametrize("state", ["inside", "had_visit"])
def test_a_state_with_another_page_loads_it(visit: Open, state: str) -> None:
    tab = visit(waiting(), status(), status(state))
    tab.after(12)
    assert tab.loads == 1
    tab.after(12)
    assert tab.loads == 2
    assert tab.tab.url == URL


def test_a_line_that_is_gone_leads_to_the_site(visit: Open) -> None:
    tab = visit(waiting(), 404)
    tab.after(12)
    assert tab.loads == 2


def test_a_pause_and_its_end_need_no_load(visit: Open) -> None:
    tab = visit(waiting(), status("paused"), status(ahead=1000))
    tab.after(12)
    assert tab.text("h1 >> visible=true").strip() == "The line for Spring Release is paused"
    assert not tab.sees("#wait")
    assert tab.sees("#ahead")
    tab.after(12)
    assert tab.text("#ahead") == "1,000"
    assert tab.sees("#wait")
    assert tab.loads == 1


@pytest.mark.parametrize("trouble", ["away", 503, 429, 500, status("unavailable"), [], {"no": "state"}])
def test_trouble_keeps_the_number_and_backs_off_to_a_minute(visit: Open, trouble: object) -> None:
    tab = visit(waiting(), trouble)
    tab.after(12)
    assert tab.sees("#trouble")
    assert tab.text("#ahead") == "1,204"
    tab.after(600, step_s=4)
    assert 6 <= tab.asked <= 16
    tab.answers = [status(ahead=3)]
    tab.after(60)
    assert tab.text("#ahead") == "3"
    assert not tab.sees("#trouble")
    assert tab.loads == 1


def test_a_tab_that_is_looked_at_again_asks_at_once_but_not_twice(visit: Open) -> None:
    tab = visit(waiting(poll_s="60"), status(poll_s=60))
    tab.after(10)
    assert tab.asked == 0
    tab.tab.evaluate(HIDE, True)
    tab.settle()
    assert tab.asked == 0
    for _ in range(3):
        tab.tab.evaluate(HIDE, False)
        tab.settle()
    assert tab.asked == 1
    tab.after(3)
    tab.tab.evaluate("window.dispatchEvent(new Event('online'))")
    tab.settle()
    assert tab.asked == 2


@pytest.mark.parametrize("state", ["unavailable", "busy"])
def test_a_page_of_trouble_tries_again_by_itself(visit: Open, state: str) -> None:
    tab = visit(waiting(state), 503, status("unavailable"), status("candidate"))
    tab.until_asked(2)
    assert tab.loads == 1
    tab.until_asked(3)
    assert tab.loads == 2


def test_a_page_of_trouble_without_a_status_address_loads_itself(visit: Open) -> None:
    tab = visit(waiting("unavailable", status_url=""))
    tab.after(12)
    assert tab.loads == 2


def test_after_the_only_visit_the_page_asks_nothing_and_leads_nowhere(visit: Open) -> None:
    tab = visit(filled("default", "en", "had_visit"))
    tab.after(30)
    assert "once" in tab.text("main .lead")
    assert (tab.asked, tab.loads, tab.tab.locator("main .button").count()) == (0, 1, 0)


def test_who_has_to_sign_in_sees_where_and_goes_on_by_itself(visit: Open) -> None:
    tab = visit(filled("default", "en", "sign_in"), status("sign_in"), status("candidate"))
    assert tab.tab.get_attribute("main .button", "href") == "/account/sign-in"
    tab.after(13)
    assert (tab.asked, tab.loads) == (1, 1)
    tab.after(13)
    assert tab.loads == 2, "the cookie is there: the page is loaded anew"


@pytest.mark.parametrize("state", ["lapsed", "form", "ended"])
def test_a_final_page_asks_nothing_and_shows_the_way(visit: Open, state: str) -> None:
    tab = visit(waiting(state))
    tab.after(120)
    assert (tab.asked, tab.loads) == (0, 1)
    tab.tab.click("main .button")
    tab.settle()
    assert tab.loads == 2
    assert tab.tab.url == URL


@pytest.mark.parametrize(
    ("state", "words"),
    [("closed", "is closed"), ("sold_out", "is sold out"), ("not_open", "has not opened yet"),
     ("maintenance", "is being worked on"), ("prequeue", "opens soon")],
)  # fmt: skip
def test_a_line_that_changes_says_so_without_a_load(visit: Open, state: str, words: str) -> None:
    tab = visit(waiting(), status(state), status(ahead=3))
    tab.after(12)
    assert words in tab.text("h1 >> visible=true")
    assert words in tab.tab.title()
    assert not tab.sees("#count")
    tab.after(12)
    assert tab.text("#ahead") == "3"
    assert tab.loads == 1


def test_before_the_opening_the_registered_read_so(visit: Open) -> None:
    opens = {"opens_at": "2030-05-03T12:06:31Z", "arrival": 4711, "draw": "/.stanchion/launch/draw"}
    unknown = json.dumps(status("not_open", opens_at=None))
    tab = visit(waiting("not_open", opens_iso="", status_json=unknown), status("prequeue", **opens), status("waiting"))
    assert "has not opened" in tab.text("h1 >> visible=true")
    assert "Keep this page open" in tab.text(".lead >> visible=true")
    assert not tab.sees("#opens")
    tab.after(12)
    assert "by lot" in tab.text(".by-draw")
    assert not tab.sees(".by-arrival")
    assert tab.text("#clock") in ("2:00", "1:59", "1:58", "1:57", "1:56")
    assert "May 3, 2030" in tab.text(".opens-at")
    assert "4,711" in tab.text(".arrived")
    assert tab.tab.get_attribute(".check a", "href") == "/.stanchion/launch/draw"
    assert tab.loads == 1


def test_at_zero_everybody_asks_but_not_at_once(visit: Open) -> None:
    tab = visit(waiting("prequeue", poll_s="600"), status("prequeue", opens_at="2030-05-03T12:04:41Z", poll_s=600))
    tab.after(3)
    tab.tab.evaluate("window.dispatchEvent(new Event('online'))")
    tab.until_asked(1)
    tab.answers = [status("waiting", ahead=7)]
    tab.after(9)
    assert tab.asked == 1
    tab.after(31, step_s=1)
    assert tab.text("#ahead") == "7"
    assert tab.loads == 1


def test_without_a_store_of_its_own_the_tab_goes_on(visit: Open) -> None:
    tab = visit(waiting(), status(ahead=602))
    tab.tab.add_init_script("Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no'); } })")
    tab.tab.reload()
    tab.after(12)
    assert tab.text("#ahead") == "602"
    assert tab.tab.get_attribute("#bar", "aria-valuenow") == "50"


def test_without_javascript_everything_is_there(browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    try:
        tab = Visit(context.new_page(), waiting(message="Sector B opens at two."))
        assert tab.text("#ahead") == "1204"
        assert tab.text("#wait").strip() == "Expected wait: about 8 to 12 minutes"
        assert "12:04:31 UTC" in tab.text(".updated >> visible=true")
        assert "your place is kept for 24 hours" in tab.text(".promise")
        assert "you have 2 minutes to come in" in tab.text(".promise")
        assert "within 15 minutes you can still come back in" in tab.text(".promise")
        assert "Sector B opens at two." in tab.text(".message")
        assert not tab.sees("#bar")
        assert tab.tab.get_attribute("meta[http-equiv]", "content") == "15;url=/launch/?a=1&b=%2F"
        tab.tab.locator("#languages summary").click()
        assert tab.tab.locator("#languages button").all_inner_texts() == ["English", "日本語"]
        tab.tab.locator("summary").last.click()
        tab.tab.click("form[method=post] button")
        assert tab.posts == ["http://shop.test/.stanchion/launch/leave"]
    finally:
        context.close()


def test_a_message_that_is_not_there_takes_no_room(visit: Open) -> None:
    assert not visit(waiting()).sees(".message")
