from __future__ import annotations

import pytest
from click.testing import CliRunner

from cli.doctor import spellings
from cli.main import main
from tests.host.edge.wire import Message, Stream, ok, raw_server

HELD = ("Content-Type: text/html", "Cache-Control: private, no-store", "CDN-Cache-Control: no-store", "Retry-After: 1")


def doctor(url: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["doctor", url])
    return result.exit_code, result.output


def gate(cookie: str, *fields: str, guarded: tuple[str, ...] = ("/sale/",)) -> object:
    """A server that holds these paths only, as sent, and gives everybody this cookie."""

    def handler(message: Message, stream: Stream) -> None:
        target = message.target.decode()
        if target == "/.stanchion/health":
            stream.sock.sendall(ok(b"{}"))
        elif target.startswith("/.stanchion/"):
            stream.sock.sendall(ok(b"{}", status="404 Not Found"))
        elif target in guarded and not message.start.startswith(b"HEAD"):
            stream.sock.sendall(ok(b"wait", *HELD, *fields, f"Set-Cookie: stanchion-sale.c={cookie}", status="503 Held"))
        else:
            answer = ok(b"the shop")
            is_head = message.start.startswith(b"HEAD")
            stream.sock.sendall(answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if is_head else answer)

    return handler


def test_a_cached_answer_and_a_bypass_are_found() -> None:
    with raw_server(gate("same", "Age: 7")) as server:  # type: ignore[arg-type]
        code, output = doctor(f"{server.url}/sale/")
    assert code == 1
    assert "BAD two visitors without cookies" in output
    assert "BAD the answer does not come out of a cache (it has age)" in output
    assert "BAD an escaped letter does not slip past: /%73ale/" in output
    assert "BAD a doubled slash does not slip past: //sale/" in output


def test_every_request_is_a_strangers() -> None:
    with raw_server(gate("same", guarded=("/sale/", "/%73ale/", "//sale/", "/x/../sale/", "/./sale/"))) as server:  # type: ignore[arg-type]
        doctor(f"{server.url}/sale/")
    assert len(server.requests) == 9
    assert [message.get("cookie") for message in server.requests] == [None] * 9


def test_a_gate_that_knows_its_cookie_is_not_blamed() -> None:
    given = iter(range(100))

    def handler(message: Message, stream: Stream) -> None:
        target = message.target.decode()
        if message.get("cookie"):
            stream.sock.sendall(ok(b"the shop"))  # whoever comes back gets in, and is told nothing more
        elif target.startswith("/.stanchion/"):
            stream.sock.sendall(ok(b"{}", status="200 OK" if target.endswith("health") else "404 Not Found"))
        elif message.start.startswith(b"HEAD"):
            stream.sock.sendall(b"HTTP/1.1 503 Held\r\nContent-Length: 0\r\n\r\n")
        else:
            stream.sock.sendall(ok(b"wait", *HELD, f"Set-Cookie: stanchion-sale.c={next(given)}; Path=/", status="503 Held"))

    with raw_server(handler) as server:
        code, output = doctor(f"{server.url}/sale/")
    assert (code, output.count("BAD")) == (0, 0), output


@pytest.mark.parametrize("url", ["http://[::1/", "http://", "http:///sale/", "http://a:99999/", "ftp://a/", "//a"])
def test_what_is_no_address_is_told(url: str) -> None:
    code, output = doctor(url)
    assert code == 2, output
    assert f"{url} is no address" in output


def test_other_spellings_of_a_path_beyond_ascii() -> None:
    targets = [target for _, target in spellings("/%c3%a9t%c3%a9/")]
    assert targets == ["/%c3%a9%74%c3%a9/", "//%c3%a9t%c3%a9/", "/x/../%c3%a9t%c3%a9/", "/./%c3%a9t%c3%a9/"]
    with raw_server(gate("x", guarded=("/%C3%A9t%C3%A9/",))) as server:  # type: ignore[arg-type]
        _, output = doctor(f"{server.url}/\u00e9t\u00e9/")
    assert "BAD a doubled slash does not slip past: //%C3%A9t%C3%A9/" in output


def test_a_gate_that_asks_to_sign_in_is_known_by_its_state() -> None:
    def handler(message: Message, stream: Stream) -> None:
        target = message.target.decode()
        if target.startswith("/.stanchion/"):
            stream.sock.sendall(ok(b"{}", status="200 OK" if target.endswith("health") else "404 Not Found"))
        else:
            told = ok(b"sign in", "Cache-Control: private, no-store", "Stanchion-State: sign_in", status="401 Unauthorized")
            stream.sock.sendall(told.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if message.start.startswith(b"HEAD") else told)

    with raw_server(handler) as server:
        code, output = doctor(f"{server.url}/sale/")
    assert code == 0, output


def test_an_address_that_nothing_guards_is_told() -> None:
    with raw_server(gate("x", guarded=())) as server:  # type: ignore[arg-type]
        code, output = doctor(f"{server.url}/sale/")
    assert code == 1
    assert "had no hand" in output


def test_no_answer_and_no_address() -> None:
    code, output = doctor("http://127.0.0.1:9/")
    assert code == 1
    assert "does not answer" in output
    assert doctor("localhost:8080")[0] == 2
