"""More than one tab, a network that goes, a page that is closed, and being told of the turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.admin.publish.visitor import NOW_MS, Visit, chromium, filled, status

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

Open = Callable[..., Visit]
AWAY = f"http://shop.test/.stanchion/launch/away?since={NOW_MS}"
HIDE_PAGE = "window.dispatchEvent(new PageTransitionEvent('pagehide'))"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="en-GB", timezone_id="UTC")
    yield made
    made.close()


@pytest.fixture
def visit(context: BrowserContext) -> Open:
    def open_page(html: str, *answers: object) -> Visit:
        return Visit(context.new_page(), html, *answers)

    return open_page


def together(seconds: float, *tabs: Visit) -> None:
    """The same time passes in all tabs."""
    for _ in range(round(seconds)):
        for tab in tabs:
            tab.after(1, step_s=1)


def test_two_tabs_ask_no_more_than_one_and_show_the_same(visit: Open) -> None:
    one, other = visit(filled("default", "en", "waiting"), status()), visit(filled("default", "en", "waiting"), status())
    together(45, one, other)
    # The page's clock runs on while the test does: what one tab alone would have asked follows from that clock.
    alone = (one.tab.evaluate("Date.now()") - NOW_MS) / 10_000
    assert 0.7 * alone - 1 <= one.asked + other.asked <= 1.4 * alone + 1
    one.answers = other.answers = [status(ahead=900)]
    together(13, one, other)
    assert one.text("#ahead") == other.text("#ahead") == "900"


def test_a_tab_that_is_left_alone_goes_on_asking(visit: Open) -> None:
    one, other = visit(filled("default", "en", "waiting"), status()), visit(filled("default", "en", "waiting"), status(ahead=77))
    together(3, one, other)
    one.tab.close()
    other.after(13)
    assert other.text("#ahead") == "77"


def test_tabs_of_different_lines_have_nothing_to_do_with_each_other(visit: Open) -> None:
    one = visit(filled("default", "en", "waiting"), status(ahead=900))
    other = visit(filled("default", "en", "waiting", status_url="/.stanchion/other/status"), status(ahead=5))
    one.after(13)
    assert one.text("#ahead") == "900"
    assert other.text("#ahead") == "1,204"


def test_a_page_that_is_closed_says_that_nobody_looks(visit: Open) -> None:
    tab = visit(filled("default", "en", "waiting"), status())
    tab.tab.evaluate(HIDE_PAGE)
    tab.settle()
    assert tab.posts == [AWAY]


def test_one_of_two_tabs_that_is_closed_says_nothing_and_the_last_one_does(visit: Open) -> None:
    one, other = visit(filled("default", "en", "waiting"), status()), visit(filled("default", "en", "waiting"), status())
    one.settle()
    one.tab.evaluate(HIDE_PAGE)
    one.settle()
    other.settle()
    other.tab.evaluate(HIDE_PAGE)
    other.settle()
    assert (one.posts, other.posts) == ([], [AWAY])


@pytest.mark.parametrize("how", ["button", "leave"])
def test_who_goes_in_or_leaves_is_not_away(visit: Open, how: str) -> None:
    tab = visit(filled("default", "en", "called"), status("called"))
    if how == "button":
        tab.tab.click("#enter")
    else:
        tab.tab.click("text=Leave the line")
        tab.tab.click("text=Give up my place")
    tab.settle()
    assert [post for post in tab.posts if "away" in post] == []


def test_who_holds_nothing_has_nothing_to_say_on_going(visit: Open) -> None:
    tab = visit(filled("default", "en", "closed", position=""), status("closed", position=None))
    tab.after(13)
    tab.tab.evaluate(HIDE_PAGE)
    tab.settle()
    assert tab.posts == []


def test_offline_is_said_as_such_and_coming_back_asks_at_once(visit: Open, context: BrowserContext) -> None:
    tab = visit(filled("default", "en", "waiting", poll_s="20"), status(poll_s=20))
    tab.after(5)
    context.set_offline(True)
    tab.answers = ["away"]
    tab.after(25)
    assert tab.sees("#offline")
    assert not tab.sees("#trouble")
    assert tab.text("#ahead") == "1,204"
    tab.answers, asked = [status(ahead=3, poll_s=20)], tab.asked
    context.set_offline(False)
    tab.after(1)
    assert tab.asked == asked + 1
    assert tab.text("#ahead") == "3"
    assert not tab.sees("#offline")


def test_a_page_that_slept_asks_once_when_it_wakes(visit: Open) -> None:
    tab = visit(filled("default", "en", "waiting"), status(ahead=900))
    tab.tab.clock.fast_forward(8 * 3600 * 1000)  # a closed lid: timers are late, and fire once
    tab.settle()
    assert tab.asked == 1
    assert tab.text("#ahead") == "900"


SPY = """
window.told = [];
window.Notification = class {
  constructor(title) { window.told.push(title); }
  static permission = "default";
  static async requestPermission() { return (this.permission = "granted"); }
};
window.AudioContext = class {
  currentTime = 0;
  createOscillator() {
    return { frequency: {}, connect: x => x, start: () => window.told.push("beep"), stop() {} };
  }
  createGain() { return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: x => x }; }
};
Object.defineProperty(document, "hidden", { value: true, configurable: true });
"""


def test_the_turn_is_told_to_who_asked_for_it(visit: Open) -> None:
    tab = visit(filled("default", "en", "waiting"), status("called"))
    tab.tab.evaluate(SPY)
    tab.tab.click("#notify-button")
    assert tab.sees("#notify-on")
    assert not tab.sees("#notify-button")
    tab.after(13)
    assert tab.tab.evaluate("window.told") == ["beep"] * 3 + ["It is your turn: Spring Release"]


def test_nothing_is_told_to_who_did_not(visit: Open) -> None:
    tab = visit(filled("default", "en", "waiting"), status("called"))
    tab.tab.evaluate(SPY)
    tab.after(13)
    assert tab.tab.evaluate("window.told") == []


def test_a_visitor_chooses_the_language_on_the_page(visit: Open, context: BrowserContext) -> None:
    tab = visit(filled("default", "en", "waiting"), status())
    tab.tab.click("#languages summary")
    current = tab.tab.locator("#languages [aria-current]")
    assert (current.inner_text(), current.get_attribute("lang")) == ("English", "en")
    tab.tab.click("text=日本語")
    tab.settle()
    assert tab.loads == 2
    (cookie,) = context.cookies()
    assert (cookie["name"], cookie["value"], cookie["path"]) == ("stanchion-.language", "ja", "/")


def test_the_operators_message_comes_and_goes_and_is_spoken_once(visit: Open) -> None:
    said = status(message="Doors open at two.")
    tab = visit(filled("default", "en", "waiting"), said, said, status())
    tab.after(13)
    assert tab.text(".message p") == "Doors open at two."
    assert tab.text("#spoken") == "Doors open at two."
    tab.after(13)
    tab.after(13)
    assert not tab.sees(".message")


@pytest.mark.parametrize(
    ("settings", "seen", "unseen"),
    [
        ({"claim": "90", "claim_unit": "s"}, "you have 90 seconds to come in", "2 minutes"),
        ({"claim": "90", "claim_unit": "min"}, "you have 1 hour 30 minutes to come in", "90"),
        ({"late_claim": "back", "late": "1", "late_unit": "h"}, "within 1 hour you can still join again", "come back in"),
        ({"late_claim": "refused"}, "If you are away then, your place is lost.", "others go first"),
        ({"grace": "1", "grace_unit": "min"}, "your place is kept for 1 minute.", "24 hours"),
    ],
)
def test_the_promise_follows_the_settings_of_the_queue(visit: Open, settings: dict[str, str], seen: str, unseen: str) -> None:
    text = " ".join(visit(filled("default", "en", "waiting", **settings)).text(".promise").split())
    assert seen in text
    assert unseen not in text


@pytest.mark.parametrize(("late_claim", "words"), [("head", "as soon as there is room"), ("back", "at the end of the line"),
                                                   ("refused", "like everybody who comes now")])  # fmt: skip
def test_who_missed_the_turn_reads_what_the_queue_does_then(visit: Open, late_claim: str, words: str) -> None:
    text = visit(filled("default", "en", "lapsed", late_claim=late_claim)).text(".lead")
    assert words in text
    assert text.count("You can") == 1
