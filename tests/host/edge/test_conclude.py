"""What the gate does with the origin's answer: headers appended, and commands that are delivered later."""

from __future__ import annotations

import json
import threading
import time

from tests.host.edge.conftest import Site, counting
from tests.host.edge.support import concluding, script, wait_until
from tests.host.edge.wire import Message, Stream, ok

FORWARD = script("forward\nqueue: q\nconclude: my context\n")


def test_the_gate_hears_the_answer_and_its_context(site: Site) -> None:
    fields = (
        "Cache-Control: public",
        "Set-Cookie: a=1",
        "set-cookie: b=2",
        "X-Else: no",
        "Stanchion-Event: sold",
    )
    site.origin_does(ok(b"page", *fields, status="201 Created"))
    answer = site.get("/", FORWARD)
    told = "201|h.cache-control: public|h.set-cookie: a=1|h.set-cookie: b=2|h.stanchion-event: sold"
    assert answer.get("x-seen") == f"my context|{told}"
    assert answer.body == b"page"


def test_additions_stand_behind_and_replace_nothing(site: Site) -> None:
    site.origin_does(ok(b"page", "Set-Cookie: origin=1", "Cache-Control: private"))
    step = "answer\nh.Set-Cookie: gate=2\nh.Set-Cookie: gate=3\nh.Cache-Control: no-store\n\n"
    answer = site.get("/", FORWARD, concluding(step))
    assert answer.all("set-cookie") == ["origin=1", "gate=2", "gate=3"]
    assert answer.all("cache-control") == ["private", "no-store"]
    assert [value for _, value in answer.fields[:2]] == [b"origin=1", b"private"]


def test_without_a_context_only_a_private_header_is_told(site: Site) -> None:
    assert site.get("/", script("forward\n")).all("x-seen") == []
    site.origin_does(ok(b"page", "stanchion_event: sold"))
    assert site.get("/", script("forward\n")).get("x-seen") == "|200|h.stanchion_event: sold"


def test_an_empty_context_is_a_context(site: Site) -> None:
    assert site.get("/", script("forward\nconclude: \n")).get("x-seen") == "|200"


def test_the_request_is_told_again_with_the_time_of_the_answer(site: Site) -> None:
    answered_ms: list[float] = []

    def slowly(_: Message, stream: Stream) -> None:
        time.sleep(0.2)
        answered_ms.append(time.time() * 1000)
        stream.sock.sendall(ok())

    site.origin_does(slowly)
    answer = site.get("/again?x=1", "Accept: a/b", FORWARD, concluding("answer\nh.x-request: {request}\n\n"))
    start, *lines = (answer.get("x-request") or "").split("|")
    told = dict(line.split(": ", 1) for line in lines if ": " in line)
    assert start == "GET /again?x=1"
    assert (told["h.accept"], told["host"], len(told["random"])) == ("a/b", "shop.example", 64)
    assert int(told["now-ms"]) >= int(answered_ms[0])
    assert site.edge.wait_for_line("request", path="/again")["id"] == told["id"]


def test_commands_of_a_conclusion_run_and_the_visitor_does_not_wait(site: Site) -> None:
    answered = threading.Event()

    def after_the_visitor(message: Message, stream: Stream) -> None:
        assert answered.wait(10)
        counting(message, stream)

    site.store_does(after_the_visitor)
    step = 'answer\nh.x-done: 1\n\n[["EVALSHA", "complete"]]'
    assert site.get("/", FORWARD, concluding(step)).get("x-done") == "1"
    answered.set()
    wait_until(lambda: len(site.store.requests) == 1, "the commands")
    assert json.loads(site.store.last.body) == [["EVALSHA", "complete"]]


def test_commands_are_repeated_until_there_is_a_reply(site: Site) -> None:
    replies_left = [2]

    def dies_twice(message: Message, stream: Stream) -> None:
        if replies_left[0] > 0:
            replies_left[0] -= 1
            stream.sock.close()
            return
        counting(message, stream)

    site.store_does(dies_twice)
    site.get("/", FORWARD, concluding('answer\n\n[["EVALSHA", "again"]]'))
    wait_until(lambda: len(site.store.requests) == 3, "the third attempt")
    time.sleep(0.3)
    assert [json.loads(message.body) for message in site.store.requests] == [[["EVALSHA", "again"]]] * 3


def test_a_gate_that_breaks_in_conclude_costs_the_visitor_nothing(site: Site) -> None:
    site.origin_does(ok(b"page", "Set-Cookie: a=1"))
    for step in ("trap", "loop", "nonsense", "answer\n\nno json", "answer\nh.bad name: x\n\n"):
        answer = site.get("/", FORWARD, concluding(step))
        assert (answer.status, answer.body, answer.get("set-cookie")) == (200, b"page", "a=1")
    assert site.get("/", script("echo")).status == 200


def test_an_answer_without_a_body_is_concluded_too(site: Site) -> None:
    site.origin_does(b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n")
    answer = site.get("/", FORWARD)
    assert (answer.status, answer.get("x-seen")) == (304, "my context|304")
