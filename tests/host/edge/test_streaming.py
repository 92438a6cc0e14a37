"""Both directions flow: nothing is held back, and who goes away takes the other side along."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from tests.host.edge.conftest import Site
from tests.host.edge.support import script, start_edge, wait_until
from tests.host.edge.wire import Message, Stream, connect, ok, read_answer, read_head

EVENT_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
MB = 1024 * 1024


class EventOrigin:
    """Sends one event each time `say` is called, to whoever is connected."""

    def __init__(self) -> None:
        self._word = threading.Condition()
        self._said: list[bytes] = []
        self.listening = 0
        self.gone = 0
        self.over = False

    def say(self, text: bytes) -> None:
        with self._word:
            self._said.append(text)
            self._word.notify_all()

    def end(self) -> None:
        with self._word:
            self.over = True
            self._word.notify_all()

    def __call__(self, _: Message, stream: Stream) -> None:
        heard = len(self._said)
        stream.sock.sendall(EVENT_HEAD)
        self.listening += 1
        stream.sock.settimeout(0.02)
        try:
            while not self.over:
                with self._word:
                    self._word.wait(0.02)
                for text in self._said[heard:]:
                    heard += 1
                    stream.sock.sendall(b"%x\r\n%b\r\n" % (len(text), text))
                try:
                    if stream.sock.recv(1) == b"":
                        raise ConnectionResetError
                except TimeoutError:
                    continue
            stream.sock.sendall(b"0\r\n\r\n")
        except OSError:
            self.gone += 1
            raise
        finally:
            self.listening -= 1


def listen(site: Site, *fields: str) -> Stream:
    """A visitor on an event stream, after the head has come."""
    stream = connect(site.edge.port)
    lines = "".join(f"{line}\r\n" for line in fields)
    stream.sock.sendall(f"GET /events HTTP/1.1\r\nHost: a\r\n{lines}\r\n".encode())
    head = read_head(stream)
    assert head is not None
    assert head.get("content-type") == "text/event-stream"
    return stream


def next_chunk(stream: Stream) -> bytes:
    """One chunk of a chunked body."""
    size = int(stream.until(b"\r\n"), 16)
    return stream.exactly(size + 2)[:-2]


def test_events_arrive_one_by_one_as_they_are_sent(site: Site) -> None:
    origin = EventOrigin()
    site.origin_does(origin)
    stream = listen(site)
    with stream.sock:
        for number in range(3):
            origin.say(b"data: %d\n\n" % number)
            assert next_chunk(stream) == b"data: %d\n\n" % number
        origin.end()
        assert stream.until(b"\r\n") == b"0\r\n"


def test_a_visitor_who_leaves_ends_the_origins_work(site: Site) -> None:
    origin = EventOrigin()
    site.origin_does(origin)
    streams = [listen(site) for _ in range(40)]
    wait_until(lambda: origin.listening == 40, "40 listeners")
    for stream in streams:
        stream.sock.close()
    wait_until(lambda: origin.gone == 40, "the origin to notice that 40 have left")
    assert site.edge.wait_for_line("request", path="/events", status=499)["verb"] == "forward"
    # The connections of those who left are free again, and clean.
    site.origin_does(ok(b"after"))
    assert site.get("/").body == b"after"


def test_a_visitor_who_leaves_before_the_answer_ends_the_origins_work(site: Site) -> None:
    asked, gone = threading.Event(), threading.Event()

    def never(_: Message, stream: Stream) -> None:
        asked.set()
        if stream.sock.recv(1) == b"":
            gone.set()

    site.origin_does(never)
    stream = connect(site.edge.port)
    stream.sock.sendall(b"GET /never HTTP/1.1\r\nHost: a\r\n\r\n")
    assert asked.wait(5)
    stream.sock.close()
    assert gone.wait(5)


def test_a_visitor_who_leaves_in_the_middle_of_a_body_ends_the_request(site: Site) -> None:
    site.origin_does(lambda message, stream: None)
    before = site.origin.heads
    stream = connect(site.edge.port)
    stream.sock.sendall(b"POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf")
    wait_until(lambda: site.origin.heads > before, "the origin to be reached")
    stream.sock.close()
    wait_until(lambda: site.origin.open_now == 0, "the origin's connection to end")
    assert site.origin.last.body == b"half"


def test_a_request_body_flows_while_it_is_sent(site: Site) -> None:
    arrived: list[bytes] = []

    def arrival_of(count: int) -> Callable[[], bool]:
        return lambda: len(arrived) == count

    def reading(stream: Stream) -> None:
        read_head(stream)
        while (size := int(stream.until(b"\r\n"), 16)) > 0:
            arrived.append(stream.exactly(size + 2)[:-2])
        stream.until(b"\r\n")
        stream.sock.sendall(ok(b"done"))

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            reading(Stream(listener.accept()[0]))

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with start_edge({"STANCHION_ORIGIN_URL": url}) as edge:
            stream = connect(edge.port)
            with stream.sock:
                stream.sock.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                for count in range(3):
                    stream.sock.sendall(b"4\r\nab%02d\r\n" % count)
                    wait_until(arrival_of(count + 1), "the piece to arrive")
                stream.sock.sendall(b"0\r\n\r\n")
                assert read_answer(stream).body == b"done"
        thread.join(5)
    assert b"".join(arrived) == b"ab00ab01ab02"


def test_a_large_answer_waits_for_a_slow_reader_without_filling_memory(site: Site) -> None:
    size = 200 * MB
    sent = [0]

    def pour(_: Message, stream: Stream) -> None:
        stream.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        piece = bytes(MB)
        for _piece in range(size // MB):
            stream.sock.sendall(piece)
            sent[0] += MB

    site.origin_does(pour)
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        read_head(stream)
        time.sleep(0.5)
        # What lies in sockets and buffers between the two; most of it has not been sent.
        assert sent[0] < 40 * MB


def test_an_answer_that_breaks_off_is_not_made_to_look_whole(site: Site) -> None:
    def half(message: Message, stream: Stream) -> None:
        if message.target == b"/length":
            stream.sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        else:
            stream.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        stream.sock.close()

    site.origin_does(half)
    for target in ("/length", "/chunks"):
        stream = connect(site.edge.port)
        with stream.sock:
            stream.sock.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            head = read_head(stream)
            assert head is not None
            assert head.status == 200
            rest = b""
            try:
                rest = stream.rest()
            except ConnectionResetError:
                rest = stream.buffer
            assert b"0\r\n\r\n" not in rest
            assert len(rest) < 100
    assert site.edge.wait_for_line("origin.broke_off")["reason"]


def test_an_old_client_notices_a_broken_off_answer(site: Site) -> None:
    def half(_: Message, stream: Stream) -> None:
        stream.sock.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
        time.sleep(0.1)
        stream.sock.close()

    site.origin_does(half)
    stream = connect(site.edge.port)
    with stream.sock:
        stream.sock.sendall(b"GET / HTTP/1.0\r\nHost: a\r\n\r\n")
        try:
            stream.rest()
            ended = "as if whole"
        except ConnectionResetError:
            ended = "reset"
    assert ended == "reset"


def test_streams_do_not_hold_up_decisions(site: Site) -> None:
    origin = EventOrigin()
    site.origin_does(origin)
    streams = [listen(site) for _ in range(100)]
    assert site.get("/", script("echo")).status == 200
    for stream in streams:
        stream.sock.close()
    wait_until(lambda: origin.listening == 0, "the listeners to be gone")
