"""The protocol over HTTP, against a running door; each test runs over the embedded and over a real Redis."""

from __future__ import annotations

import json
import socket
from base64 import b64decode
from hashlib import sha1
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.host.rest.servers import READ_ONLY_TOKEN, TOKEN, Door

BASE64 = {"Upstash-Encoding": "base64"}
RESP2 = {"Upstash-Response-Format": "resp2"}


def run(http: httpx.Client, *words: Any, **headers: str) -> Any:
    return http.post("/", json=list(words), headers=headers).json()


# -- forms


def test_the_four_forms_of_one_command(http: httpx.Client) -> None:
    assert http.post("/", content=b'["SET", "a", "1", "EX", 100]').json() == {"result": "OK"}
    assert http.get("/set/b/2/EX/100").json() == {"result": "OK"}
    assert http.post("/set/c?EX=100", content="3").json() == {"result": "OK"}
    assert http.put("/set/d?EX=100&GET", content="4").json() == {"result": None}
    assert run(http, "MGET", "a", "b", "c", "d") == {"result": ["1", "2", "3", "4"]}
    assert [0 < run(http, "TTL", key)["result"] <= 100 for key in "abcd"] == [True] * 4


def test_head_runs_the_command_and_has_no_body(http: httpx.Client) -> None:
    answer = http.head("/set/a/1")
    assert (answer.status_code, answer.content) == (200, b"")
    assert run(http, "GET", "a") == {"result": "1"}


def test_words_in_a_path_are_decoded_after_splitting(http: httpx.Client) -> None:
    http.get("/set/a%2Fb/x%20y%E2%82%AC")
    assert run(http, "GET", "a/b") == {"result": "x y€"}


def test_a_binary_body_arrives_as_it_is(http: httpx.Client) -> None:
    value = bytes(range(256))
    http.post("/set/k", content=value)
    assert run(http, "STRLEN", "k") == {"result": 256}
    assert b64decode(run(http, "GET", "k", **BASE64)["result"]) == value
    assert "\ufffd" in run(http, "GET", "k")["result"]


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "text/plain", ""])
def test_the_content_type_does_not_matter(http: httpx.Client, content_type: str) -> None:
    headers = {"Content-Type": content_type} if content_type else {}
    assert http.post("/", content=b'["PING"]', headers=headers).json() == {"result": "PONG"}


def test_every_answer_is_json_with_a_sync_token_and_no_server_name(http: httpx.Client) -> None:
    for answer in (
        http.get("/ping"),
        http.get("/nope"),
        http.delete("/ping"),
        http.get("/ping", headers={"Authorization": ""}),
    ):
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["upstash-sync-token"]
        assert "server" not in answer.headers


# -- tokens


@pytest.mark.parametrize("value", ["", "Bearer wrong", "Basic " + TOKEN, TOKEN, "Bearer " + TOKEN + "x", "Bearer \xff"])
def test_another_token_is_refused_and_nothing_runs(http: httpx.Client, door: Door, value: str) -> None:
    answer = httpx.post(door.url, json=["SET", "a", "1"], headers=[(b"Authorization", value.encode("latin-1"))])
    assert answer.status_code == 401
    assert answer.json() == {"error": "WRONGPASS invalid or missing auth token"}
    assert run(http, "EXISTS", "a") == {"result": 0}


def test_the_token_may_come_in_the_query_and_is_no_part_of_the_command(http: httpx.Client, door: Door) -> None:
    assert httpx.get(f"{door.url}/set/a/1?_token={TOKEN}&EX=9").json() == {"result": "OK"}
    assert httpx.get(f"{door.url}/get/a?_token=wrong").status_code == 401
    assert httpx.post(f"{door.url}/pipeline?_token={TOKEN}", json=[["GET", "a"]]).json() == [{"result": "1"}]


def test_the_read_only_token_reads(http: httpx.Client, door: Door) -> None:
    run(http, "SET", "a", "1")
    with httpx.Client(base_url=door.url, headers={"Authorization": f"Bearer {READ_ONLY_TOKEN}"}) as reader:
        assert reader.get("/get/a").json() == {"result": "1"}
        noperm = {"error": "NOPERM this user has no permissions to run the 'set' command"}
        refused = reader.get("/set/a/2")
        assert (refused.status_code, refused.json()) == (400, noperm)
        assert reader.post("/pipeline", json=[["GET", "a"], ["SET", "a", "2"]]).json() == [
            {"result": "1"},
            noperm,
        ]
        assert reader.post("/multi-exec", json=[["GET", "a"], ["SET", "a", "2"]]).status_code == 400
        assert reader.get("/keys/*").status_code == 400
        assert reader.get("/eval/return 1/0").status_code == 400
        assert reader.get("/subscribe/chat").status_code == 400
    assert run(http, "GET", "a") == {"result": "1"}


# -- answers


@pytest.mark.parametrize("method", ["DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_not_allowed(http: httpx.Client, method: str) -> None:
    answer = http.request(method, "/get/a")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD, POST, PUT"
    assert answer.json()["error"].startswith("ERR method not allowed")


@pytest.mark.parametrize("path", ["/pipeline", "/multi-exec"])
def test_a_pipeline_must_be_posted(http: httpx.Client, path: str) -> None:
    assert http.get(path).status_code == 405


def test_errors_of_redis_come_back_verbatim(http: httpx.Client) -> None:
    run(http, "SET", "a", "x")
    answer = http.post("/", json=["HGET", "a", "f"])
    assert answer.status_code == 400
    assert answer.json() == {"error": "WRONGTYPE Operation against a key holding the wrong kind of value"}
    assert run(http, "INCR", "a") == {"error": "ERR value is not an integer or out of range"}
    assert run(http, "GET") == {"error": "ERR wrong number of arguments for 'get' command"}
    assert run(http, "EVALSHA", "f" * 40, 0) == {"error": "NOSCRIPT No matching script. Please use EVAL."}
    assert run(http, "nope")["error"].startswith("ERR unknown command 'nope'")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'[["GET","a"]]', b'["SET", null]', b"\xff"])
def test_a_body_that_is_no_command_is_a_400(http: httpx.Client, body: bytes) -> None:
    answer = http.post("/", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("ERR ")


def test_shapes_are_those_of_resp2(http: httpx.Client) -> None:
    run(http, "HSET", "h", "f", "1", "g", "2")
    run(http, "ZADD", "z", 1.5, "m", 2, "n")
    assert run(http, "HGETALL", "h") == {"result": ["f", "1", "g", "2"]}
    assert run(http, "ZRANGE", "z", 0, -1, "WITHSCORES") == {"result": ["m", "1.5", "n", "2"]}
    assert run(http, "ZSCORE", "z", "m") == {"result": "1.5"}
    assert run(http, "CONFIG", "GET", "maxmemory-policy") == {"result": ["maxmemory-policy", "noeviction"]}
    assert run(http, "SMEMBERS", "none") == {"result": []}
    assert run(http, "GET", "none") == {"result": None}
    assert run(http, "EXPIRE", "h", 100) == {"result": 1}
    assert run(http, "TYPE", "h") == {"result": "hash"}
    assert run(http, "EXISTS", "h") == {"result": 1}
    seconds, microseconds = run(http, "TIME")["result"]
    assert seconds.isdigit()
    assert microseconds.isdigit()


def test_base64_is_for_every_string_but_ok(http: httpx.Client) -> None:
    assert run(http, "SET", "a", "bar", **BASE64) == {"result": "OK"}
    assert run(http, "GET", "a", **BASE64) == {"result": "YmFy"}
    assert run(http, "GET", "none", **BASE64) == {"result": None}
    assert run(http, "APPEND", "a", "x", **BASE64) == {"result": 4}
    nested = run(http, "EVAL", "return {1, 'bar', {'bar', 2}}", 0, **BASE64)
    assert nested == {"result": [1, "YmFy", ["YmFy", 2]]}
    listed = http.post("/pipeline", json=[["SET", "a", "bar"], ["GET", "a"], ["HGET", "a", "f"]], headers=BASE64).json()
    assert listed[:2] == [{"result": "OK"}, {"result": "YmFy"}]
    assert listed[2]["error"].startswith("WRONGTYPE")
    atomic = http.post("/multi-exec", json=[["GET", "a"]], headers=BASE64).json()
    assert atomic == [{"result": "YmFy"}]


@pytest.mark.parametrize("header", ["Upstash-Response-Format", "Upstash-Reponse-Format"])
def test_resp2_answers_are_bytes_of_the_redis_protocol(http: httpx.Client, header: str) -> None:
    def raw(*words: Any) -> httpx.Response:
        return http.post("/", json=list(words), headers={header: "resp2"})

    assert raw("SET", "a", "bar").content == b"+OK\r\n"
    assert raw("GET", "a").content == b"$3\r\nbar\r\n"
    assert raw("GET", "a").headers["content-type"] == "application/octet-stream"
    assert raw("GET", "none").content == b"$-1\r\n"
    assert raw("EVAL", "return {1, 'a', {}}", 0).content == b"*3\r\n:1\r\n$1\r\na\r\n*0\r\n"
    failed = raw("HGET", "a", "f")
    assert (failed.status_code, failed.content[:10]) == (400, b"-WRONGTYPE")
    listed = http.post("/pipeline", json=[["GET", "a"], ["STRLEN", "a"]], headers={header: "resp2"})
    assert listed.content == b"$3\r\nbar\r\n:3\r\n"
    assert http.post("/multi-exec", json=[["GET", "a"]], headers={header: "resp2"}).json() == [{"result": "bar"}]


@pytest.mark.parametrize("headers", [{**BASE64, **RESP2}, {"Upstash-Encoding": "hex"}, {"Upstash-Response-Format": "resp3"}])
def test_a_format_that_does_not_exist_is_refused(http: httpx.Client, headers: dict[str, str]) -> None:
    answer = http.get("/ping", headers=headers)
    assert answer.status_code == 400
    assert "Upstash-" in answer.json()["error"]


# -- pipelines and transactions


def test_a_pipeline_keeps_order_and_tells_each_outcome(http: httpx.Client) -> None:
    answer = http.post(
        "/pipeline",
        json=[
            ["SET", "k", "x"],
            ["INCR", "k"],
            ["BLPOP", "l", 0],
            ["nope"],
            ["APPEND", "k", "y"],
            ["GET", "k"],
        ],
    )
    assert answer.status_code == 200
    first, wrong, blocked, unknown, *rest = answer.json()
    assert first == {"result": "OK"}
    assert wrong == {"error": "ERR value is not an integer or out of range"}
    assert blocked["error"].startswith("ERR command 'BLPOP' is not offered over REST")
    assert unknown["error"].startswith("ERR unknown command")
    assert rest == [{"result": 2}, {"result": "xy"}]


def test_a_long_pipeline(http: httpx.Client) -> None:
    answers = http.post("/pipeline", json=[["INCR", "n"] for _ in range(3000)]).json()
    assert [answer["result"] for answer in answers] == list(range(1, 3001))


def test_a_transaction_runs_all_even_after_an_error(http: httpx.Client) -> None:
    answer = http.post("/multi-exec", json=[["SET", "k", "x"], ["INCR", "k"], ["GET", "k"]])
    assert answer.status_code == 200
    assert answer.json() == [
        {"result": "OK"}, {"error": "ERR value is not an integer or out of range"}, {"result": "x"},
    ]  # fmt: skip


@pytest.mark.parametrize("bad", [["nope"], ["GET"], ["WATCH", "a"], ["BLPOP", "l", 0]])
def test_a_discarded_transaction_is_one_error_and_runs_nothing(http: httpx.Client, bad: list[Any]) -> None:
    answer = http.post("/multi-exec", json=[["SET", "k", "x"], bad])
    assert answer.status_code == 400
    assert answer.json().keys() == {"error"}
    assert answer.json()["error"].startswith("EXECABORT Transaction discarded because of previous errors. First error: ERR ")
    assert run(http, "EXISTS", "k") == {"result": 0}
    assert http.post("/multi-exec", json=[["SET", "k", "y"]]).json() == [{"result": "OK"}]


@pytest.mark.parametrize(
    "command",
    ["MULTI", "EXEC", "DISCARD", "WATCH/a", "SUBSCRIBE", "BLPOP/l/0", "monitor", "CLIENT/LIST", "SHUTDOWN"],
)
def test_refused_commands_are_a_400(http: httpx.Client, command: str) -> None:
    answer = http.get("/" + command)
    assert answer.status_code == 400
    assert "is not offered over REST" in answer.json()["error"]


# -- scripts


def sha(text: str) -> str:
    return sha1(text.encode()).hexdigest()


def test_scripts_by_text_and_by_sha(http: httpx.Client) -> None:
    text = "redis.call('SET', KEYS[1], ARGV[1]) return {redis.call('GET', KEYS[1]), redis.call('TIME')[1]}"
    assert run(http, "EVALSHA", sha(text), 1, "k", "v")["error"].startswith("NOSCRIPT")
    assert run(http, "SCRIPT", "LOAD", text) == {"result": sha(text)}
    assert run(http, "SCRIPT", "EXISTS", sha(text), "0" * 40) == {"result": [1, 0]}
    value, seconds = run(http, "EVALSHA", sha(text), 1, "k", "v")["result"]
    assert value == "v"
    assert int(seconds) > 1_700_000_000
    assert run(http, "EVALSHA", sha(text).upper(), 1, "k", "v")["result"][0] == "v"
    assert run(http, "SCRIPT", "FLUSH") == {"result": "OK"}
    assert run(http, "EVALSHA", sha(text), 1, "k", "v")["error"].startswith("NOSCRIPT")


def test_read_only_scripts_cannot_write(http: httpx.Client) -> None:
    run(http, "SET", "k", "v")
    read, write = "return redis.call('GET', KEYS[1])", "return redis.call('DEL', KEYS[1])"
    assert run(http, "EVAL_RO", read, 1, "k") == {"result": "v"}
    assert run(http, "EVALSHA_RO", sha(read), 1, "k") == {"result": "v"}
    told = f"ERR Write commands are not allowed from read-only scripts. script: {sha(write)}, on @user_script:1."
    assert run(http, "EVAL_RO", write, 1, "k") == {"error": told}
    assert run(http, "EXISTS", "k") == {"result": 1}


def test_a_script_written_for_upstash_runs_under_its_own_sha(http: httpx.Client) -> None:
    text = "#!lua flags=allow-key-locking\nreturn redis.call('INCR', KEYS[1])"
    assert run(http, "EVAL", text, 1, "n") == {"result": 1}
    assert run(http, "EVALSHA", sha(text), 1, "n") == {"result": 2}
    run(http, "SCRIPT", "FLUSH")
    assert run(http, "EVALSHA", sha(text), 1, "n")["error"].startswith("NOSCRIPT")
    assert run(http, "SCRIPT", "LOAD", text) == {"result": sha(text)}
    assert run(http, "SCRIPT", "EXISTS", sha(text)) == {"result": [1]}
    assert http.post("/pipeline", json=[["EVALSHA", sha(text), 1, "n"]]).json() == [{"result": 3}]
    assert http.post("/multi-exec", json=[["EVALSHA", sha(text), 1, "n"]]).json() == [{"result": 4}]


def test_line_numbers_count_the_shebang(http: httpx.Client) -> None:
    told = run(http, "EVAL", "#!lua flags=allow-key-locking\n\nerror('here')", 0)["error"]
    assert told.startswith("ERR user_script:3: here")


# -- limits


def test_a_request_at_the_limit_passes_and_one_above_does_not(http: httpx.Client) -> None:
    limit = 10 * 1024 * 1024
    assert http.post("/set/k", content=b"x" * limit).json() == {"result": "OK"}
    assert run(http, "STRLEN", "k") == {"result": limit}
    refused = http.post("/set/k", content=b"x" * (limit + 1))
    assert refused.status_code == 400
    assert refused.json() == {"error": f"ERR max request size exceeded. Limit: {limit} bytes, Actual: {limit + 1} bytes."}
    assert run(http, "STRLEN", "k") == {"result": limit}


def test_a_body_without_announced_length_is_limited_too(http: httpx.Client) -> None:
    def chunks() -> Any:
        for _ in range(11):
            yield b"x" * (1024 * 1024)

    refused = http.post("/set/k", content=chunks())
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("ERR max request size exceeded")


def test_a_request_that_breaks_off_runs_nothing(http: httpx.Client, door: Door) -> None:
    """The body is the last word: without it `LPUSH list a` would run instead of `LPUSH list a b`."""
    address = urlsplit(door.url)
    with socket.create_connection((address.hostname, address.port), timeout=15) as broken:
        broken.sendall(
            f"POST /lpush/list/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 5\r\n\r\nb".encode()
        )
    for _ in range(3):
        assert run(http, "EXISTS", "list") == {"result": 0}


def test_many_requests_on_one_connection(door: Door, http: httpx.Client) -> None:
    address = urlsplit(door.url)
    request = f"GET /incr/n?_token={TOKEN} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    with socket.create_connection((address.hostname, address.port), timeout=15) as connection:
        reader = connection.makefile("rb")
        for number in range(1, 201):
            connection.sendall(request)
            length = 0
            while (line := reader.readline()) != b"\r\n":
                if line.startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            assert json.loads(reader.read(length)) == {"result": number}
