"""The warm-up before the snapshot of an instance: it runs, and takes every road that a first request takes."""

from __future__ import annotations

import sys

import pytest

from bench.component import snapshot_reply
from edge.core import cors, crawlers, decide, outcome, reserved, stand, token_header
from edge.core.calls import Answer
from edge.core.keyring import Keyring
from edge.guests import no_ssl, sample_sale, warm
from tests.core.support import KEYS


def test_it_runs_and_can_be_run_again() -> None:
    warm.run()
    warm.run()


def test_it_takes_the_roads_of_first_requests() -> None:
    wanted = {
        function.__code__
        for function in (
            decide.decide, decide._forward, decide._held, stand.Step._inside, stand.Step._in_line, stand.Step._arriving,
            stand.Step._placed, stand.Step._admitted, stand.Step._candidate, outcome.waits_on, outcome.from_memory,
            reserved._told, crawlers.load_crawlers, crawlers.Crawlers.name_of, token_header.handed, cors.headers,
        )
    }  # fmt: skip
    seen = set()

    def note(frame: object, event: str, arg: object) -> None:
        if event == "call":
            seen.add(frame.f_code)  # type: ignore[attr-defined]

    sys.setprofile(note)
    try:
        warm.run()
    finally:
        sys.setprofile(None)
    assert not {code.co_name for code in wanted - seen}


@pytest.mark.parametrize("is_busy", [True, False])
def test_the_sample_sale_answers_in_the_shape_of_the_scripts(is_busy: bool) -> None:
    read = Answer.read(sample_sale.snapshot(is_busy)).snapshot
    assert read is not None
    assert read.full


def test_what_is_measured_answers_in_the_shape_of_the_scripts() -> None:
    assert snapshot_reply()


def test_its_keys_are_no_keys_of_a_deployment() -> None:
    context = warm._context()
    assert context.ring.newest == "warm"
    assert not set(context.ring.masters.values()) & set(Keyring.parse(KEYS).masters.values())


def test_ssl_is_itself_afterwards() -> None:
    no_ssl.import_jwt()
    assert "jwt" in sys.modules
    assert hasattr(sys.modules["ssl"], "create_default_context")
