"""A sale file says what it means, or where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge.core.errors import ConfigError
from sim.sale import load_sale, read_sale

SALES = Path(__file__).resolve().parents[2] / "examples" / "sales"
PLAIN = 'name = "S"\n[queue]\nadmit_per_minute = 60\n[[arrivals]]\npeople = 10\n'


@pytest.mark.parametrize("path", sorted(SALES.rglob("*.toml")), ids=lambda path: path.stem)
def test_every_example_can_be_read(path: Path) -> None:
    assert load_sale(path).persons > 0


def test_what_is_left_out_has_a_default() -> None:
    sale = read_sale(PLAIN)
    assert (sale.nodes, sale.queue.id, sale.queue.admit_per_minute, sale.people.buyers_percent) == (4, "sale", 60, 80)
    assert load_sale(SALES / "small.toml", seed=99).seed == 99


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("name = ", ""),
        (PLAIN + "speed = 3\n", "arrivals[0].speed"),
        ("nodes = 0\n" + PLAIN, "nodes"),
        (PLAIN.replace("60", "true"), "queue.admit_per_minute"),
        (PLAIN.replace("admit_per_minute", "admit_per_hour"), "queue.admit_per_hour"),
        (PLAIN.replace("admit_per_minute = 60", 'on_store_error = "admit"\nstore_error_admit_per_minute = 3\nmax_active = 3'),
         "queue.on_store_error"),
        (PLAIN.replace("people = 10", "people = 0"), "arrivals"),
        (PLAIN + "from_s = 100\nto_s = 50\n", "arrivals[0].to_s"),
        (PLAIN + "from_s = 9000\nto_s = 9001\n", "arrivals[0].from_s"),
        (PLAIN + '[people]\nclosers_percent = 101\n', "people.closers_percent"),
        (PLAIN + "[bots]\nfrom_s = 9\nto_s = 8\n", "bots.to_s"),
        (PLAIN + "[[changes]]\nlimits = { speed = 3 }\n", "changes[0].limits.speed"),
        (PLAIN + '[[faults]]\nkind = "away"\n', "faults[0].for_s"),
        (PLAIN + '[[faults]]\nkind = "clock"\n', "faults[0].clock_by_s"),
        (PLAIN + '[[faults]]\nkind = "kill"\nfor_s = 1\n', "aof"),
        (PLAIN + '[[faults]]\nkind = "away"\nfor_s = 9\n[[faults]]\nat_s = 5\nkind = "flush"\n', "faults[1].at_s"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_place(text: str, path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_sale(text)
    assert caught.value.path == path


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sale.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_sale(tmp_path / "sale.toml")
