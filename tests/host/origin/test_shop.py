"""The demo shop over a real socket, run as the program that it is."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from host.origin.admission import describe
from host.origin.goods import SALES, Sale
from tests import programs

ROOT = Path(__file__).parents[3]
PATIENCE_S = 20


def start(**settings: str) -> subprocess.Popen[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("STANCHION_", "UPSTASH_"))}
    environment = clean | {"STANCHION_ORIGIN_PORT": "0"} | settings
    command = [sys.executable, "-m", "host.origin"]
    return programs.start(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    """The address of a running shop."""
    program = start()
    try:
        assert program.stdout is not None
        told = json.loads(program.stdout.readline())
        assert told["event"] == "listening"
        yield told["url"]
    finally:
        programs.end(program)


@pytest.fixture
def client(shop: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shop, timeout=PATIENCE_S) as opened:
        yield opened


def token(claims: object) -> str:
    middle = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJh.{middle}.c2ln"


def test_the_home_page_leads_to_every_sale_and_to_the_open_page(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    for path in ("/launch/", "/concert/", "/drop/", "/about"):
        assert f'href="{path}"' in page.text
        assert client.get(path).status_code == 200
    assert page.headers["cache-control"] == "private"


@pytest.mark.parametrize("path", ["/", "/launch/", "/concert/"])
def test_two_cookies_come_in_two_headers(client: httpx.Client, path: str) -> None:
    cookies = client.get(path).headers.get_list("set-cookie")
    assert [cookie.partition("=")[0] for cookie in cookies] == ["foyer_basket", "foyer_seen"]


@pytest.mark.parametrize("sale", SALES, ids=lambda sale: sale.path)
def test_every_sale_has_the_same_rooms(client: httpx.Client, sale: Sale) -> None:
    path = sale.path
    front = client.get(f"/{path}/")
    assert front.headers["cache-control"] == "private"
    for item in sale.items:
        assert item.name.replace("'", "&#39;") in front.text
        assert item.price in client.get(f"/{path}/item/{item.slug}").text
    assert f'action="/{path}/checkout"' in client.get(f"/{path}/checkout").text
    assert client.get(f"/{path}/api/stock").json()["sale"] == path
    corner = client.get(f"/{path}/any/corner?at=all")
    assert corner.status_code == 200
    assert f"<code>/{path}/any/corner</code>" in corner.text
    assert client.get(f"/{path}").headers["location"] == f"/{path}/"


def test_pages_use_no_asset_that_is_not_there(client: httpx.Client) -> None:
    page = client.get("/").text + client.get("/drop/").text
    assets = {part.partition('"')[0] for part in page.replace('href="/static', 'src="/static').split('src="')[1:]}
    assert {"/static/shop.css", "/static/foyer.svg", "/static/drop.svg"} <= assets
    for asset in assets:
        answer = client.get(asset)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=300"
        assert answer.headers["content-type"] in ("text/css; charset=utf-8", "image/svg+xml")
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("name", ["nothing.css", "..%2fapp.py", "../app.py", "shop.css%00", ".", "%2e%2e"])
def test_assets_stay_in_their_folder(client: httpx.Client, name: str) -> None:
    answer = client.get(f"/static/{name}")
    assert answer.status_code == 404
    assert answer.headers["cache-control"] == "private"


def test_an_order_is_shown_taken_from_the_shelf_and_completes_the_visit(client: httpx.Client) -> None:
    def left() -> int:
        return next(int(each["left"]) for each in client.get("/launch/api/stock").json()["items"] if each["item"] == "six")

    before = left()
    order = {"item": "six", "count": "2", "name": "A & <B>", "note": "a+b"}
    answer = client.post("/launch/checkout", data=order)
    assert answer.status_code == 200
    assert "Order received" in answer.text
    assert "A &amp; &lt;B&gt;" in answer.text
    assert "a+b" in answer.text
    assert answer.headers["stanchion-command"] == "complete"
    assert answer.headers["cache-control"] == "private"
    assert left() == before - 2


def test_a_multipart_order_is_an_order_too(client: httpx.Client) -> None:
    answer = client.post("/drop/checkout", files={"name": (None, "Ada"), "word": (None, "hello")})
    assert "Ada" in answer.text
    assert answer.headers["stanchion-command"] == "complete"


@pytest.mark.parametrize("count", ["0", "-1", "13", "x", "\u0663", "9" * 30, ""])
def test_an_order_that_cannot_be_met_completes_nothing(client: httpx.Client, count: str) -> None:
    answer = client.post("/drop/checkout", data={"item": "proof", "count": count})
    assert answer.status_code == 409
    assert "We cannot send" in answer.text
    assert "stanchion-command" not in answer.headers
    assert client.get("/drop/api/stock").json()["items"][1] == {"item": "proof", "left": 12}


def test_a_form_is_bounded(client: httpx.Client) -> None:
    assert client.post("/launch/checkout", data={"note": "x" * 70_000}).status_code == 413
    assert client.post("/launch/checkout", files={f"f{n}": (None, "x") for n in range(50)}).status_code == 400
    broken = {"content-type": "multipart/form-data; boundary=x"}
    assert client.post("/launch/checkout", content=b"--x\r\nnonsense", headers=broken).status_code in (200, 400)


def test_leaving_ends_the_visit(client: httpx.Client) -> None:
    answer = client.post("/launch/leave-shop")
    assert answer.headers["stanchion-command"] == "revoke"
    assert "You have left Launch day" in answer.text
    assert client.get("/launch/checkout").headers.get("stanchion-command") is None
    assert 'action="/launch/leave-shop"' in client.get("/launch/").text


def test_headers_are_shown_as_they_came(shop: str) -> None:
    host, port = shop.removeprefix("http://").split(":")
    sent = "GET /launch/headers?a=1&a=2&b=%2F+x HTTP/1.1\r\nHost: shop.test\r\nX-Twice: one\r\nX-Twice: two\r\nX-Latin: \xe9\r\n"
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as line:
        line.sendall((sent + "Connection: close\r\n\r\n").encode("latin-1"))
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    shown = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert (shown["method"], shown["target"]) == ("GET", "/launch/headers?a=1&a=2&b=%2F+x")
    assert ["host", "shop.test"] in shown["headers"]
    assert [value for name, value in shown["headers"] if name == "x-twice"] == ["one", "two"]
    assert ["x-latin", "\xe9"] in shown["headers"]


def test_the_feed_ticks_and_ends(client: httpx.Client) -> None:
    with client.stream("GET", "/launch/events?count=2") as feed:
        assert feed.headers["content-type"].startswith("text/event-stream")
        text = feed.read().decode()
    ticks = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
    assert [tick["tick"] for tick in ticks] == [1, 2]


@pytest.mark.parametrize("count", ["0", "61", "x", "-1", "1e9", ""])
def test_the_feed_is_bounded(client: httpx.Client, count: str) -> None:
    answer = client.get(f"/launch/events?count={count}")
    assert answer.status_code == 400
    assert "count must be a number from 1 to 60" in answer.text


def test_each_page_says_which_pass_came(client: httpx.Client) -> None:
    good = token({"aud": "launch", "sub": "v1", "iat": 1_904_040_271, "exp": 1_904_040_331})
    for path in ("/launch/", "/launch/checkout", "/launch/nowhere/at/all", "/about"):
        page = client.get(path, headers={"Stanchion-Pass": good}).text
        assert "pass for launch, good until 12:05:31 UTC" in page
        assert "<dd>v1</dd>" in page
        assert "no pass" in client.get(path).text


@pytest.mark.parametrize("value", ["", "x", "a.b.c", "a.!!!.c", token([1]), token("x"), "a." + "A" * 5000 + ".c", "a.W1tbW1tb.c"])
def test_a_pass_that_makes_no_sense_is_said_so(client: httpx.Client, value: str) -> None:
    answer = client.get("/launch/", headers={"Stanchion-Pass": value})
    assert answer.status_code == 200
    assert "a pass that cannot be read" in answer.text


def test_a_pass_is_text_to_the_page(client: httpx.Client) -> None:
    nasty = token({"aud": "<script>", "exp": 10**30, "x": {"y": ["<b>"]}})
    page = client.get("/launch/", headers={"Stanchion-Pass": nasty}).text
    assert "pass for &lt;script&gt;</b>" in page
    assert "<script>" not in page
    assert describe([nasty, nasty])["text"] == "2 passes at once"


def test_what_is_not_there_or_not_allowed_is_a_page(client: httpx.Client) -> None:
    for path in ("/nothing", "/launch/item/nothing"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "Back to the foyer" in answer.text
    answer = client.put("/launch/checkout")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    assert client.head("/launch/").status_code == 200


def test_a_signal_stops_it_even_while_a_feed_is_open() -> None:
    program = start()
    assert program.stdout is not None
    url = json.loads(program.stdout.readline())["url"]
    with httpx.stream("GET", f"{url}/launch/events", timeout=PATIENCE_S) as feed:
        assert next(feed.iter_lines()) == "event: tick"
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"STANCHION_ORIGIN_PORT": "http"}, "STANCHION_ORIGIN_PORT: 'http' does not fit"),
        ({"STANCHION_BIND": "192.0.2.1"}, "cannot listen on 192.0.2.1:0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line(settings: dict[str, str], words: str) -> None:
    program = start(**settings)
    out, told = program.communicate(timeout=PATIENCE_S)
    assert (program.returncode, out) == (2, "")
    assert words in told
    assert len(told.splitlines()) == 1


def test_a_taken_port_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        program = start(STANCHION_ORIGIN_PORT=str(taken.getsockname()[1]))
        _, told = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 2
    assert "Set STANCHION_ORIGIN_PORT or STANCHION_BIND" in told


def test_it_knows_nothing_of_the_gate() -> None:
    for file in (ROOT / "host/origin").glob("*.py"):
        lines = [line.strip() for line in file.read_text("utf-8").splitlines()]
        assert not [line for line in lines if line.startswith(("from edge", "import edge", "from admin", "import admin"))]
