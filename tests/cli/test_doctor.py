from __future__ import annotations

from click.testing import CliRunner

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
