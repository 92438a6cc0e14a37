"""One visitor's walk in Chromium, from the arrival to the order, through the whole product."""

from __future__ import annotations

import re
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import APP
from tests.browser.shop import WAIT_MS, ahead, becomes, has_state, heading, in_line, leave, moves_up, reset, see, visitor
from tests.e2e.stack import Stack, enter

ASKED = "/launch/checkout?item=six&b=&b=%2F#pay"
ORDER = {"item": "season", "count": "1", "name": "Ada", "email": "ada@example.org"}


def order(page: Page) -> None:
    """Fills in the checkout and sends it."""
    page.get_by_label("Name").fill("Grace")
    page.get_by_label("E-mail").fill("grace@example.org")
    page.get_by_role("button", name="Place the order").click()


def test_arrives_waits_gets_in_and_buys(stack: Stack, browser: Browser) -> None:
    reset(stack, "launch")
    buyer = stack.visitor()
    enter(buyer, "/launch/")
    hopeful, next_one = in_line(stack, "launch"), in_line(stack, "launch")
    with visitor(browser) as person:
        page = person.new_page()
        arrival = page.goto(stack.edge + ASKED)
        assert arrival
        assert arrival.status == 503
        heading(page, "You are in line for Launch day")
        ahead(page, 2)
        expect(page).to_have_title("(2) In line for Launch day")
        expect(page.locator("#bar")).to_have_attribute("aria-valuenow", "0")

        leave(hopeful, "launch")
        ahead(page, 1)
        expect(page.locator("#bar")).to_have_attribute("aria-valuenow", "50")
        assert "Order received" in buyer.post("/launch/checkout", data=ORDER).text
        see(page, "You are next")
        enter(next_one, "/launch/")
        leave(next_one, "launch")

        heading(page, "It is your turn")
        expect(page.get_by_role("link", name="Enter now")).to_be_focused()
        heading(page, "Checkout")
        assert page.url == stack.edge + ASKED
        assert page.get_by_label("What").input_value() == "six"
        see(page, "pass for launch")

        order(page)
        see(page, "Six evenings is yours")
        becomes(stack, "launch", waiting=0, called=0, inside=0)
        enter(stack.visitor(), "/launch/")
        page.get_by_role("link", name="Launch day").first.click()
        heading(page, "You are in line for Launch day")


def test_a_second_tab_has_the_same_place(stack: Stack, browser: Browser) -> None:
    reset(stack, "drop")
    in_line(stack, "drop")
    with visitor(browser) as person:
        first, second = person.new_page(), person.new_page()
        first.goto(f"{stack.edge}/drop/")
        ahead(first, 1)
        second.goto(f"{stack.edge}/drop/item/print")
        for page in (first, second):
            ahead(page, 1)
            see(page, "Your number in line: 2")
        assert stack.api("GET", "/queues/drop")["length"] == 2

        stack.api("POST", "/queues/drop/admit", {"count": 2})
        heading(first, "The drop")
        heading(second, "Poster, 50 x 70 cm")
        becomes(stack, "drop", inside=1)


def test_gives_up_the_place(stack: Stack, browser: Browser) -> None:
    reset(stack, "drop")
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{stack.edge}/drop/")
        ahead(page, 0)
        behind = in_line(stack, "drop")
        becomes(stack, "drop", waiting=2)
        page.get_by_text("Leave the line").click()
        page.get_by_role("button", name="Give up my place").click()
        heading(page, "You are no longer in line")
        becomes(stack, "drop", waiting=1)
        assert [cookie["name"] for cookie in person.cookies() if "stanchion" in cookie["name"]] == []
        moves_up(behind, "drop", 0)
        page.get_by_role("link", name="Join again").click()
        ahead(page, 1)
        see(page, "Your number in line: 3")


def test_a_tab_that_stays_open_reads_it_and_joins_at_the_end_when_asked(stack: Stack, browser: Browser) -> None:
    """Who gives up the place in one tab and keeps another one open is in no line, reads so there, and may join at the end."""
    reset(stack, "drop")
    in_line(stack, "drop")
    with visitor(browser) as person:
        first, second = person.new_page(), person.new_page()
        first.goto(f"{stack.edge}/drop/")
        ahead(first, 1)
        stack.api("POST", "/queues/drop/admit", {"count": 1})
        ahead(first, 0)
        expect(first.locator("#bar")).to_have_attribute("aria-valuenow", "100")
        second.goto(f"{stack.edge}/drop/item/print")
        ahead(second, 0)
        in_line(stack, "drop")
        second.get_by_text("Leave the line").click()
        second.get_by_role("button", name="Give up my place").click()
        heading(second, "You are no longer in line")
        heading(first, "You are no longer in line")
        first.bring_to_front()
        first.get_by_role("link", name="Join again").click()
        see(first, "Your number in line: 4")
        ahead(first, 1)
        # Begun anew; how far it is depends on whether the new place was seen before or after the old one was gone.
        expect(first.locator("#bar")).to_have_attribute("aria-valuenow", re.compile("^(0|50)$"))


def test_a_pause_and_its_end_need_no_reload(stack: Stack, browser: Browser) -> None:
    reset(stack, "drop")
    in_line(stack, "drop")
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{stack.edge}/drop/")
        ahead(page, 1)
        page.evaluate("window.stayed = 'yes'")
        stack.api("POST", "/queues/drop/pause")
        heading(page, "The line for The drop is paused")
        see(page, "You keep your place")
        ahead(page, 1)
        stack.api("POST", "/queues/drop/resume")
        heading(page, "You are in line for The drop")
        ahead(page, 1)
        assert page.evaluate("window.stayed") == "yes"

        stack.api("POST", "/queues/drop/pause")
        with visitor(browser) as late:
            newcomer = late.new_page()
            newcomer.goto(f"{stack.edge}/drop/")
            heading(newcomer, "The line for The drop is paused")
            stack.api("POST", "/queues/drop/resume")
            heading(newcomer, "You are in line for The drop")


def test_without_javascript(stack: Stack, browser: Browser) -> None:
    reset(stack, "concert")
    hopeful = in_line(stack, "concert")
    with visitor(browser, java_script_enabled=False) as person:
        page = person.new_page()
        page.goto(f"{stack.edge}/concert/checkout?item=view&a=1&a=")
        heading(page, "You are in line for The concert")
        ahead(page, 1)
        leave(hopeful, "concert")
        see(page, "You are next")
        stack.api("POST", "/queues/concert/admit", {"count": 1})
        heading(page, "Checkout")
        assert page.url == f"{stack.edge}/concert/checkout?item=view&a=1&a="
        assert page.get_by_label("What").input_value() == "view"
        order(page)
        see(page, "Side view is yours")
        becomes(stack, "concert", inside=0)

        page.goto(f"{stack.edge}/concert/?a=1&b=%2F")
        see(page, "Your number in line: 3")
        page.get_by_text("Language").click()
        page.get_by_role("button", name="日本語").click()
        assert page.locator("html").get_attribute("lang") == "ja"
        assert page.url == f"{stack.edge}/concert/?a=1&b=%2F"
        page.get_by_text("言語").click()
        page.get_by_role("button", name="English").click()
        see(page, "Your number in line: 3")
        page.get_by_text("Leave the line").click()
        page.get_by_role("button", name="Give up my place").click()
        heading(page, "You are no longer in line")
        becomes(stack, "concert", waiting=0)


def test_a_form_of_someone_who_is_no_longer_inside(stack: Stack, browser: Browser) -> None:
    reset(stack, "launch")
    with visitor(browser) as person:
        page, other = person.new_page(), person.new_page()
        page.goto(f"{stack.edge}/launch/checkout")
        page.get_by_label("A word to us").fill("by the window, please")
        other.goto(f"{stack.edge}/launch/")
        other.get_by_role("button", name="Leave the shop").click()
        heading(other, "See you.")
        enter(stack.visitor(), "/launch/")

        with page.expect_response(lambda answer: answer.request.method == "POST") as posted:
            order(page)
        assert posted.value.status == 503
        heading(page, "Your form was not sent")
        page.go_back()
        assert page.get_by_label("A word to us").input_value() == "by the window, please"
        page.goto(f"{stack.edge}/launch/checkout")
        ahead(page, 0)


def test_where_the_visitor_looks_while_the_turn_comes(stack: Stack, browser: Browser) -> None:
    """Somebody who wants to press the button alone is not taken in, and comes in by pressing it."""
    reset(stack, "spring")
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{stack.edge}/launch/item/season?x=1#y")
        ahead(page, 0)
        stack.api("POST", "/queues/spring/admit", {"count": 1})
        has_state(page, "called")
        page.get_by_role("button", name="Wait, I will press the button myself").click()
        see(page, "press the button when you are ready")
        becomes(stack, "spring", called=1, inside=0)
        page.get_by_role("link", name="Enter now").click(timeout=WAIT_MS)
        heading(page, "Season pass")
        assert page.url == f"{stack.edge}/launch/item/season?x=1#y"


READ = """async (edge) => {
    const held = await fetch(edge + "/drop/", {headers: {accept: "application/json"}, credentials: "include"});
    let token = "new";
    const states = [];
    for (let round = 0; round < 2; round++) {
        const told = await fetch(edge + "/.stanchion/drop/status", {headers: {"stanchion-token": token}});
        token = told.headers.get("stanchion-token");
        states.push((await told.json()).state);
    }
    const left = await fetch(edge + "/.stanchion/drop/leave", {method: "POST", headers: {"stanchion-token": token}});
    return [held.status, held.headers.get("stanchion-state"), held.headers.get("retry-after"), (await held.json()).queue,
            ...states, left.headers.get("stanchion-token")];
}"""


@contextmanager
def elsewhere() -> Iterator[None]:
    """A server whose pages are empty; a page from an interception would count as one of the wide net, which sees no loopback."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", int(APP.rpartition(":")[2])), _Empty) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


class _Empty(socketserver.StreamRequestHandler):
    timeout = 5

    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<p>x")


def test_a_script_of_an_allowed_origin_reads_what_no_other_may(stack: Stack, browser: Browser) -> None:
    with visitor(browser) as person, elsewhere():
        page = person.new_page()
        page.goto(APP)
        assert page.evaluate(READ, stack.edge) == [503, "candidate", "1", "drop", "candidate", "waiting", "new"]
        page.goto(APP.replace("app", "evil"))
        for ask in (f"fetch('{stack.edge}/drop/')", f"fetch('{stack.edge}/.stanchion/drop/status')"):
            assert page.evaluate(f"{ask}.then(() => 'read', () => 'refused')") == "refused"
