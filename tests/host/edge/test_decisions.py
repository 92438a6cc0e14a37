"""Requests through a real component: forward, respond, commands, shared batches, and a gate that breaks."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tests.host.edge.conftest import Site, counting
from tests.host.edge.support import TOKEN, batch, script, wait_until
from tests.host.edge.wire import Message, Stream, connect, ok


def replies(message: Message) -> list[dict[str, object]]:
    """What the gate was told, as it answers with the word `replies`."""
    assert message.status == 200, message
    told = json.loads(message.body)
    assert isinstance(told, list)
    return told


def test_the_gate_sees_the_request_as_the_contract_says(site: Site) -> None:
    answer = site.get(
        "/launch/?a=%2F&b", script("echo"), "Cookie: a=1", "cookie: b=2", "Accept: */*", "X-Other: no"
    )
    lines = answer.text.split("\n")
    assert lines[0] == "GET /launch/?a=%2F&b"
    fields = [line.partition(": ")[::2] for line in lines[1:]]
    named = dict(fields)
    assert named["scheme"] == "http"
    assert named["host"] == "shop.example"
    assert named["client"] == "127.0.0.1"
    assert named["country"] == ""
    assert abs(int(named["now-ms"]) / 1000 - time.time()) < 60
    assert len(bytes.fromhex(named["random"])) == 32
    assert named["h.cookie"] == "a=1; b=2"
    assert named["h.accept"] == "*/*"
    assert "h.x-other" not in named
    assert site.origin.requests == []


def test_a_wanted_header_that_repeats_repeats_in_the_message(site: Site) -> None:
    text = site.get("/", script("echo"), "X-Twice: one", "X-Twice: two").text
    assert [line for line in text.split("\n") if line.startswith("h.x-twice")] == [
        "h.x-twice: one",
        "h.x-twice: two",
    ]


def test_random_differs_between_requests_and_stays_within_one(site: Site) -> None:
    seen = set()
    for _ in range(3):
        text = site.get("/", script(batch(["PING"]), "echo")).text
        seen.add(next(line for line in text.split("\n") if line.startswith("random: ")))
    assert len(seen) == 3


def test_forward_reaches_the_origin(site: Site) -> None:
    answer = site.get("/shop", script("forward\nwhy: inside\n"))
    assert (answer.status, answer.body) == (200, b"hello")
    assert site.origin.last.start == b"GET /shop HTTP/1.1"


def test_respond_never_reaches_the_origin(site: Site) -> None:
    step = "respond 429\nh.Retry-After: 7\nh.set-cookie: a=1\nh.set-cookie: b=2\n\n<p>Gruß, 日本</p>"
    answer = site.get("/", script(step))
    assert answer.status == 429
    assert answer.get("retry-after") == "7"
    assert answer.all("set-cookie") == ["a=1", "b=2"]
    assert answer.text == "<p>Gruß, 日本</p>"
    assert answer.get("date") is not None
    assert answer.get("server") is None
    assert site.origin.requests == []


def test_a_body_with_empty_lines_and_steps_in_it_is_a_body(site: Site) -> None:
    body = "first\n\nforward\ncookie: x\n\nlast"
    assert site.get("/", script(f"respond 200\nwhy: x\n\n{body}")).text == body


def test_commands_go_to_the_pipeline_as_they_are(site: Site) -> None:
    answer = site.get("/", script(batch(["SET", "k", 'ä"\n'], ["GET", "k"]), "replies"))
    assert replies(answer) == [{"name": "b", "results": [{"result": "SET"}, {"result": "GET"}], "age_ms": 0}]
    sent = site.store.last
    assert sent.start == b"POST /pipeline HTTP/1.1"
    assert sent.get("content-type") == "application/json"
    assert sent.get("authorization") == f"Bearer {TOKEN}"
    assert json.loads(sent.body) == [["SET", "k", 'ä"\n'], ["GET", "k"]]
    assert {name.lower() for name, _ in sent.fields} == {
        b"host",
        b"content-type",
        b"authorization",
        b"content-length",
    }


def test_batches_run_in_order_and_are_told_in_order(site: Site) -> None:
    names = ("ONE", 'T"WÖ', "THREE")
    answer = site.get("/", script(*(batch([name], name=name) for name in names), "replies"))
    told = [(item["name"], item["results"]) for item in replies(answer)]
    assert told == [(name, [{"result": name}]) for name in names]


def test_the_connection_to_the_store_is_kept(site: Site) -> None:
    site.get("/", script(batch(["PING"]), "replies"))
    before = site.store.connections
    for _ in range(5):
        site.get("/", script(batch(["PING"]), "replies"))
    assert site.store.connections == before


def test_a_gate_that_never_stops_asking_is_stopped(site: Site) -> None:
    answer = site.get("/", script(batch(["PING"])))
    assert answer.status == 503
    assert len(site.store.requests) == 8


def test_a_hundred_requests_share_one_fetch(site: Site) -> None:
    def slowly(message: Message, stream: Stream) -> None:
        time.sleep(0.3)
        counting(message, stream)

    site.store_does(slowly)
    steps = script(batch(["SNAPSHOT"], shared="hundred 60000"), "replies")
    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda _: site.get("/", steps), range(100)))
    assert len(site.store.requests) == 1
    for answer in answers:
        assert replies(answer)[0]["results"] == [{"result": "SNAPSHOT"}]


def test_a_shared_answer_ages_and_is_asked_for_again(site: Site) -> None:
    long = script(batch(["S"], shared="long 60000"), "replies")
    assert replies(site.get("/", long))[0]["age_ms"] == 0
    time.sleep(0.1)
    again = replies(site.get("/", long))[0]["age_ms"]
    assert isinstance(again, int)
    assert 80 <= again < 60_000
    assert len(site.store.requests) == 1
    short = script(batch(["S"], shared="short 100"), "replies")
    for count in (2, 3):
        assert replies(site.get("/", short))[0]["age_ms"] == 0
        assert len(site.store.requests) == count
        time.sleep(0.15)


def test_followers_get_their_answer_when_the_first_visitor_leaves(site: Site) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def held(message: Message, stream: Stream) -> None:
        asked.set()
        go_on.wait(5)
        counting(message, stream)

    site.store_does(held)
    steps = script(batch(["S"], shared="leader 60000"), "replies")
    leader = connect(site.edge.port)
    leader.sock.sendall(f"GET / HTTP/1.1\r\nHost: a\r\n{steps}\r\n\r\n".encode())
    assert asked.wait(5)
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(site.get, "/", steps)
        time.sleep(0.05)
        leader.sock.close()
        time.sleep(0.05)
        go_on.set()
        assert replies(follower.result())[0]["results"] == [{"result": "S"}]
    assert len(site.store.requests) == 1


def test_an_answer_with_an_error_is_handed_on_and_not_kept(site: Site) -> None:
    site.store_does(ok(b'[{"error":"NOSCRIPT No matching script"}]'))
    steps = script(batch(["EVALSHA", "x"], shared="noscript 60000"), "replies")
    assert replies(site.get("/", steps))[0]["results"] == [{"error": "NOSCRIPT No matching script"}]
    site.store_does(counting)
    assert replies(site.get("/", steps))[0]["results"] == [{"result": "EVALSHA"}]
    assert len(site.store.requests) == 2


def test_imports_reach_the_guest(site: Site) -> None:
    assert site.get("/", script("setting STANCHION_ON_CONFIG_ERROR")).text == "'hold'"
    assert site.get("/", script("setting STANCHION_REDIS_FLAVOUR")).text == "'redis'"
    assert site.get("/", script("secret signing-keys")).text.startswith("'k1:")
    site.get("/", script('log {"event":"guest.said"}'))
    site.edge.wait_for_line("guest.said")


def test_the_guest_reads_no_other_setting_and_no_other_secret(site: Site) -> None:
    for name in ("UPSTASH_REDIS_REST_TOKEN", "STANCHION_SIGNING_KEYS", "PATH", "STANCHION_KV_DIR"):
        assert site.get("/", script(f"setting {name}")).text == "None"
        assert site.get("/", script(f"secret {name}")).text == "None"


def test_a_trap_is_tried_once_more_on_a_fresh_instance(site: Site) -> None:
    site.get("/", script("echo"))
    assert site.get("/", script("trap-once 1")).text == "answered by a fresh instance"


def assert_held(answer: Message) -> None:
    """The edge's own answer when the gate gives none."""
    assert answer.status == 503
    assert answer.get("cache-control") == "no-store"
    assert int(answer.get("retry-after") or 0) > 0
    assert answer.get("content-type") == "text/html; charset=utf-8"
    assert "waiting room cannot answer" in answer.text
    assert "Traceback" not in answer.text


def test_a_gate_that_traps_gives_a_sentence_and_the_next_visitor_an_answer(site: Site) -> None:
    assert_held(site.get("/", script("trap here")))
    wait_until(lambda: "RuntimeError: scripted trap here" in site.edge.stderr, "the guest's traceback")
    assert site.get("/", script("echo")).status == 200
    assert site.origin.requests == []


def test_an_endless_loop_ends_and_the_next_visitor_is_served(site: Site) -> None:
    assert_held(site.get("/", script("loop")))
    assert site.get("/", script("echo")).status == 200


def test_a_gate_that_eats_memory_is_stopped_at_the_limit(site: Site) -> None:
    assert_held(site.get("/", script("grow")))
    assert site.get("/", script("echo")).status == 200


def test_a_step_outside_the_contract_gives_a_sentence(site: Site) -> None:
    for step in (
        "nonsense",
        "respond 99\n\n",
        "respond 200\nh.a\n\nx",
        "respond 200\nh.a: \u0100\n\n",
        "commands\n\n[]",
    ):
        assert_held(site.get("/", script(step)))
    assert site.get("/", script("echo")).status == 200


def test_the_log_has_one_line_for_a_request_without_query_and_address(site: Site) -> None:
    site.get("/logged-page?token=hush", script("forward\nqueue: launch\nwhy: a pass\n"))
    line = site.edge.wait_for_line("request", path="/logged-page")
    assert {key: line[key] for key in ("method", "path", "status", "verb", "queue", "why")} == {
        "method": "GET",
        "path": "/logged-page",
        "status": 200,
        "verb": "forward",
        "queue": "launch",
        "why": "a pass",
    }
    assert "hush" not in json.dumps(line)
    assert "127.0.0.1" not in json.dumps(line)
