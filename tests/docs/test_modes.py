"""The ready examples: each loads, each is shown on docs/modes.md, and each is the mode that its name says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.reference import MEANINGS, OTHER_REFUSALS
from edge.core.combinations import COMBINATIONS
from edge.core.config import Config, load_config
from edge.core.groups import GROUP_FIELDS
from edge.core.model import LANE, QUEUE_FIELDS

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "queues").glob("*.json"))
MODES = (ROOT / "docs" / "modes.md").read_text(encoding="utf-8")


def example(name: str) -> Config:
    return load_config((ROOT / "examples" / "queues" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_is_a_good_configuration(file: Path) -> None:
    result = CliRunner().invoke(main, ["config", "check", str(file)])
    assert result.exit_code == 0, result.output
    assert "good" in result.output


def test_the_page_of_modes_shows_every_example() -> None:
    assert set(re.findall(r"\.\./examples/queues/([a-z-]+\.json)", MODES)) == {file.name for file in EXAMPLES}


def test_the_examples_are_what_their_names_say() -> None:
    (room,), (line,), (both,) = (example(name).queues for name in ("waiting-room", "queueing", "both"))
    assert room.opens_at_ms
    assert room.always_queue
    assert line.max_active
    assert line.opens_at_ms is None
    assert both.opens_at_ms
    assert both.max_active
    assert both.admit_per_minute
    assert both.prequeue_order == "arrival"
    assert example("draw").queues[0].prequeue_order == "draw"
    assert [lane.name for lane in example("lanes").queues[0].lanes] == ["standard", "members", "guests"]
    countries = example("countries")
    assert countries.queues[0].line_shares == (2000, 1000)
    assert {queue.scope for queue in countries.queues} == {"concert"}


def test_what_the_reference_says_of_keys_together_names_keys_that_there_are() -> None:
    known = {field.name for field in (*QUEUE_FIELDS, *GROUP_FIELDS, *LANE.fields)}
    words = " ".join(text for row in (*MEANINGS, *OTHER_REFUSALS) for text in row)
    names = {part for quoted in re.findall(r"`([a-z_.\[\]]+)`", words) for part in re.split(r"[.\[\]]+", quoted)}
    values = {"head", "back", "refused", "arrival", "draw", "admit", "groups", "true"}
    assert names - known - values == set()
    assert {key for key, _, _ in COMBINATIONS} <= known
