"""`stanchion load` against the whole product: visitors as real HTTP, bounded, and what they see keeps the limits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from sim.load.target import TargetError, checked_target
from sim.load.watch import Expected, Watch
from tests.e2e.stack import Stack
from tests.host.rest.servers import free_port


def test_visitors_come_in_in_order_and_within_the_limits(stack: Stack, tmp_path: Path) -> None:
    figures = tmp_path / "load.json"
    words = ["load", f"{stack.edge}/load/x", "--people", "14", "--ramp-s", "1", "--visit-s", "1", "--lasts-s", "40",
             "--expect-active", "4", "--json", str(figures)]  # fmt: skip
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    data = json.loads(figures.read_text())
    assert data["visitors"] == {"came in": 14, "still there at the end": 0}
    assert data["latency_ms"]["status"]["count"] > 0
    assert (data["latency_ms"]["leave"]["count"], data["came_in_without_token"]) == (14, 0)
    assert 1 < data["most_inside"] <= 4


def test_it_stops_by_itself_while_people_wait(stack: Stack) -> None:
    words = ["load", f"{stack.edge}/hand/load", "--people", "3", "--ramp-s", "0", "--lasts-s", "2", "--closers-percent", "0"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "still there at the end: 3" in result.output


def test_visitors_do_the_work_that_a_queue_asks_for(stack: Stack) -> None:
    before = stack.api("GET", "/queues/toil")["length"]
    words = ["load", f"{stack.edge}/toil/x", "--people", "3", "--ramp-s", "0", "--lasts-s", "5", "--closers-percent", "0"]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert stack.api("GET", "/queues/toil")["length"] == before + 3


@pytest.mark.parametrize("is_the_edge", [True, False])
def test_an_address_that_no_queue_guards_is_an_error(stack: Stack, tmp_path: Path, is_the_edge: bool) -> None:
    figures, base = tmp_path / "load.json", stack.edge if is_the_edge else stack.origin.url
    words = ["load", f"{base}/unguarded/x", "--people", "2", "--ramp-s", "0", "--visit-s", "0", "--lasts-s", "5",
             "--json", str(figures)]  # fmt: skip
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert "no queue was tried" in result.output
    assert f"stanchion explain {base}/unguarded/x" in result.output
    data = json.loads(figures.read_text())
    assert (data["came_in"], data["came_in_without_token"]) == (2, 2)


def test_a_silent_address_is_said_in_words() -> None:
    words = ["load", f"http://127.0.0.1:{free_port()}/", "--people", "1", "--ramp-s", "0", "--lasts-s", "1"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert "is the edge running?" in result.output


@pytest.mark.parametrize(
    "url",
    ["https://example.org/", "http://example.org/", "http://192.0.2.1/", "http://127.0.0.1.example.org/", "http://0.0.0.0/",
     "http://user@127.0.0.1/", "http://127.0.0.1:x/", "ftp://127.0.0.1/", "http:///path", "127.0.0.1:8080", "http://[::ffff:8.8.8.8]/"],
)  # fmt: skip
def test_no_other_machine_is_ever_asked(url: str) -> None:
    with pytest.raises(TargetError):
        checked_target(url)
    assert CliRunner().invoke(main, ["load", url]).exit_code == 2


def test_a_call_out_of_order_is_seen_and_shown_with_the_history_of_who_waits() -> None:
    watch = Watch()
    for number, at_s in ((5, 10.0), (4, 11.0), (9, 20.0)):
        watch.called(number, "e", "", number, at_s)
    watch.waits(3, "e", "", 3, 12.0)
    watch.waits(12, "e", "", 12, 60.0)
    watch.waits(8, "e", "vip", 8, 60.0)
    watch.waits(5, "e", "", 5, 60.0)
    assert watch.broken == [], "just now, behind, in another lane, called before"
    watch.answered("page", 503, 3.0, 3, 1.0, "candidate")
    watch.answered("status", 200, 3.0, 3, 30.1, "waiting 3")
    watch.waits(3, "e", "", 3, 30.0)
    assert watch.broken == ["position 3 waits 10 s after 9 was called"]
    shown = watch.history()
    assert shown[0].startswith("visitor 3")
    assert [line.split() for line in shown[1:]] == [["1.00", "s", "page", "503", "candidate"],
                                                    ["30.10", "s", "status", "200", "waiting", "3"]]  # fmt: skip


def test_this_machine_has_many_names() -> None:
    assert checked_target("http://localhost:8080/launch/?a=1") == "http://127.0.0.1:8080/launch/?a=1"
    assert checked_target("http://[::1]:8080") == "http://[::1]:8080/"
    assert checked_target("http://127.0.0.9") == "http://127.0.0.9:80/"


def test_what_visitors_see_is_held_against_what_is_expected() -> None:
    watch = Watch(Expected(admit_per_minute=2, burst=1, max_active=3))
    for number in range(4):
        watch.came_in(number / 10)
    watch.placed(1, "e", "", 7)
    watch.placed(1, "e", "", 7)
    watch.placed(2, "e", "vip", 7)
    assert watch.broken == []
    watch.placed(2, "e", "", 7)
    watch.placed(1, "e", "", 8)
    watch.close()
    assert len(watch.broken) == 5
    assert sum("stood at" in what for what in watch.broken) == 2
