"""Sales in virtual time against a real Redis: what is printed, what is written, and that a broken law ends the run."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from edge.core import commands
from edge.core.errors import ConfigError
from sim.figures import figures
from sim.history import Violated
from sim.report import as_text, violation_text
from sim.run import Run
from sim.sale import Sale
from sim.sale_file import load_sale, read_sale
from sim.server import Server, ServerError
from sim.simulate import simulate, store_for
from sim.store import Store
from tests.needs import needs

SALES = Path(__file__).resolve().parents[2] / "examples" / "sales"
TINY = """
name = "Tiny"
lasts_s = 240
nodes = 2
check_every_s = 5
[queue]
admit_per_minute = 240
burst = 4
max_active = 12
[[arrivals]]
people = 60
to_s = 20
[people]
visit_s = 8
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    needs("redis")
    with Server() as started:
        yield started


def run(server: Server, sale: Sale) -> Run:
    store = Store(server.port)
    store.run([["FLUSHALL"]])
    made = Run(sale, store)
    try:
        made.go()
    finally:
        store.close()
    return made


def test_the_small_sale_keeps_every_law(tmp_path: Path) -> None:
    needs("redis")
    figures, page = tmp_path / "sale.json", tmp_path / "sale.html"
    words = ["simulate", str(SALES / "small.toml"), "--json", str(figures), "--page", str(page)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert "0 violations" in result.output
    data = json.loads(figures.read_text())
    assert data["funnel"]["came"] == 2000
    assert 900 < data["inside"]["units_sold"] <= 1200
    assert data["inside"]["most_called_or_inside"] == 500
    assert data["overshoot"]["claims"] <= data["overshoot"]["allowed"]
    text = page.read_text()
    assert text.count("<svg") == 4
    assert "src=" not in text
    assert "http" not in text


def test_without_a_terminal_the_progress_is_told_in_lines(tmp_path: Path) -> None:
    needs("redis")
    file = tmp_path / "tiny.toml"
    file.write_text(TINY.replace('"Tiny"', '"Tiny {}"'))
    result = CliRunner().invoke(main, ["simulate", str(file)])
    told = [line for line in result.stderr.splitlines() if line.startswith("Tiny {}: ")]
    assert [*told[:4], told[-1]] == [f"Tiny {{}}: {done} %" for done in (0, 5, 10, 15, 100)]
    assert result.exit_code == 0


def test_a_group_lends_and_never_exceeds_its_totals_and_every_end_has_its_reason() -> None:
    needs("redis")
    sale = load_sale(SALES / "group.toml")
    fewer = tuple(replace(piece, people=piece.people // 4) for piece in sale.arrivals)
    limits = {"max_active": 30, "inventory": 160, "admit_per_minute": 300, "burst": 50}
    smaller = replace(sale, arrivals=fewer, queue=replace(sale.queue, **limits))
    with store_for(smaller) as (store, server):
        run = Run(smaller, store, server)
        run.go()
    data = figures(run)
    assert data["inside"]["most_called_or_inside"] == 30
    ends, funnel = data["ends"], data["funnel"]
    assert ends["completed"] == data["inside"]["units_sold"] == funnel["bought"]
    assert ends["checkout_expired"] == funnel["time to pay ran out"] > 5
    assert funnel["longest visit was over"] > 0
    assert data["events"]["time to pay refused: extended"] > 5
    assert data["invitations_used"] > 5
    assert data["events"]["invitations found used"] > 0
    lines = {line["name"]: line for line in data["lines"]}
    assert list(lines) == ["at standard", "at guests", "de", "ch"]
    assert all(line["came in"] > 5 for line in lines.values())
    assert as_text(data).count(" came in, half waited") == 4

    def inside(queue_id: str, at_s: int) -> int:
        return sum(p.queue.id == queue_id and 0 <= p.admitted_ms <= at_s * 1000 < p.ended_ms for p in run.persons)

    # Its pause of a minute lets nobody of that country in, apart from those who had their turn.
    came = [p.admitted_ms // 1000 for p in run.persons if p.queue.id == "de"]
    assert not [at_s for at_s in came if 240 <= at_s < 260]
    assert [at_s for at_s in came if at_s >= 260]
    # Nobody has come from Switzerland yet: its sixth is lent, and the others have three to two of it all.
    at, de = inside("at", 90), inside("de", 90)
    assert 24 <= at + de <= 30
    assert at > de > 5


def test_the_order_of_a_draw_and_the_lanes_keep_every_law() -> None:
    needs("redis")
    data = simulate(load_sale(SALES / "draw.toml"))
    assert data["commands"]["sent"]["open"] == 1
    assert data["funnel"]["came in"] > 600
    # Nobody is called before the opening, however early they came.
    assert data["curves"]["claims_per_minute"][33] == [170.0, 0.0]


def test_the_same_seed_is_the_same_sale(server: Server) -> None:
    first, second = run(server, read_sale(TINY)), run(server, read_sale(TINY))
    assert [p.admitted_ms for p in first.persons] == [p.admitted_ms for p in second.persons]
    assert first.store.sent == second.store.sent
    other = run(server, read_sale("seed = 2\n" + TINY))
    assert [p.admitted_ms for p in first.persons] != [p.admitted_ms for p in other.persons]


def test_everybody_who_stays_comes_in(server: Server) -> None:
    done = run(server, read_sale(TINY))
    assert all(person.admitted_ms >= 0 for person in done.persons)
    assert done.account.most_counted == 12


def test_a_broken_law_is_shown_with_the_history_of_the_visitor(server: Server) -> None:
    store = Store(server.port)
    store.run([["FLUSHALL"]])
    broken = Run(read_sale(TINY), store)
    broken.account.rate.change(broken.account.rate.limits.__class__(1, 1, 12, None), 0)
    with pytest.raises(Violated) as caught:
        broken.go()
    store.close()
    assert caught.value.law == "rate"
    lines = violation_text(broken, caught.value).splitlines()
    assert lines[1].startswith("visitor ")
    assert lines[-1].split()[2:5] in (["join", "->", "inside"], ["touch", "->", "inside"])


def test_a_redis_of_somebody_else_is_left_alone(server: Server) -> None:
    with pytest.raises(ServerError, match="is not allowed"):
        simulate(read_sale(TINY), "redis://192.0.2.1:6379")
    store = Store(server.port)
    store.run([["FLUSHALL"], ["SET", "mine", "1"]])
    with pytest.raises(ServerError, match="holds something"):
        simulate(read_sale(TINY), f"redis://127.0.0.1:{server.port}")
    assert store.run([["GET", "mine"]]) == ["1"]
    store.run([["FLUSHALL"]])
    store.close()
    killed = TINY.replace('name = "Tiny"', 'name = "Tiny"\naof = "always"') + '[[faults]]\nkind = "kill"\nfor_s = 2\n'
    with pytest.raises(ConfigError, match="leave --redis-url out"):
        simulate(read_sale(killed), f"redis://127.0.0.1:{server.port}")


def test_a_wrong_file_and_a_silent_port_are_said_in_words(tmp_path: Path) -> None:
    file = tmp_path / "sale.toml"
    file.write_text(TINY.replace("nodes = 2", "nodes = 0"))
    result = CliRunner().invoke(main, ["simulate", str(file)])
    assert result.exit_code == 2
    assert "nodes: 0 is not allowed" in result.output
    assert result.output.count(str(file)) == 1
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    file.write_text(TINY)
    result = CliRunner().invoke(main, ["simulate", str(file), "--redis-url", f"redis://127.0.0.1:{port}"])
    assert result.exit_code == 1
    assert "Redis" in result.output
    assert load_sale(file).nodes == 2


@pytest.mark.parametrize("path", sorted((SALES / "faults").glob("*.toml")), ids=lambda path: path.stem)
def test_trouble_of_the_store_costs_time_and_no_law(path: Path) -> None:
    needs("redis")
    data = simulate(small(load_sale(path)))
    assert data["funnel"]["came in"] > 100
    assert data["invariants"]["violations"] == 0
    assert data["funnel"]["still there at the end"] <= 2


def small(sale: Sale) -> Sale:
    """The same trouble with fewer people."""
    (arrivals,) = sale.arrivals
    return replace(sale, arrivals=(replace(arrivals, people=260),), lasts_s=600, queue=replace(sale.queue, max_active=40))


@pytest.mark.parametrize("data", [b"\xff", b"name = ", b"name = 3"])
def test_a_file_is_named_once_whatever_is_wrong_with_it(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "sale.toml"
    file.write_bytes(data)
    result = CliRunner().invoke(main, ["simulate", str(file)])
    assert result.exit_code == 2
    assert result.output.count(str(file)) == 1


@pytest.mark.parametrize(("words", "option"), [
    (("simulate", str(SALES / "small.toml")), "--json"), (("simulate", str(SALES / "small.toml")), "--page"),
    (("load", "http://127.0.0.1:9/"), "--json"),
])  # fmt: skip
def test_figures_that_cannot_be_written_are_refused_before_the_run(tmp_path: Path, words: tuple[str, ...], option: str) -> None:
    result = CliRunner().invoke(main, [*words, option, str(tmp_path / "nowhere" / "x")])
    assert result.exit_code == 2
    assert "nowhere is no folder that may be written to" in result.output


def test_answers_that_were_posted_are_collected_before_anything_else_is_asked(server: Server) -> None:
    store, sale = Store(server.port), read_sale(TINY)
    store.run([["FLUSHALL"]])
    calls = [commands.configure(sale.queue, "0" * 16, new=True, now_ms=1),
             commands.take_snapshot(sale.queue.scope, "1" * 16, now_ms=2)]  # fmt: skip
    store.post(calls[:1])
    store.post(calls[1:])
    for too_early in (lambda: store.run([["PING"]]), lambda: store.call(calls[1])):
        with pytest.raises(RuntimeError, match="2 answers have to be collected first"):
            too_early()
    assert [answer.verdict for answer in store.collect()] == ["created", "ok"]
    assert store.run([["PING"]]) == ["PONG"]
    store.close()
