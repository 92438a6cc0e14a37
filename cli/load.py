"""`stanchion load`: visitors as real HTTP against an edge of this machine."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import click

from cli.written import check_writable, write
from sim.load.target import TargetError, checked_target
from sim.load.visitors import Plan, run_load
from sim.load.watch import Expected, Watch, as_text

_UNGUARDED = (
    "all were let through without a token of a queue, so no queue was tried: none guards {target}, a rule lets it pass,"
    " or its answers are for shared caches, which carry no cookies. `stanchion explain {target}` says which; give an address"
    " that a queue guards."
)


@click.command()
@click.argument("url")
@click.option("--people", type=click.IntRange(1, 5_000), default=100, show_default=True, help="How many come.")
@click.option("--ramp-s", type=click.FloatRange(0, 600), default=10.0, show_default=True, help="Within how many seconds.")
@click.option("--lasts-s", type=click.FloatRange(1, 3_600), default=60.0, show_default=True, help="It ends then at the latest.")
@click.option("--visit-s", type=click.FloatRange(0, 600), default=5.0, show_default=True, help="How long a visit lasts.")
@click.option("--closers-percent", type=click.IntRange(0, 100), default=0, help="Of whom: close the tab while they wait.")
@click.option("--seed", type=click.IntRange(0), default=1, help="Of what is left to chance.")
@click.option("--expect-per-minute", type=click.IntRange(0), help="A fuller minute is a fault.")
@click.option("--expect-burst", type=click.IntRange(0), default=0, help="The burst that may come on top.")
@click.option("--expect-active", type=click.IntRange(1), help="More inside at once is a fault.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there.")
def load(url: str, people: int, ramp_s: float, lasts_s: float, visit_s: float, closers_percent: int, seed: int,
         expect_per_minute: int | None, expect_burst: int, expect_active: int | None,
         json_file: Path | None) -> None:  # fmt: skip
    """Send visitors to URL, a protected address of an edge on this machine, and print latencies.

    Exit code 1 when a visitor sees a law broken (a position shown twice, a call out of order, more admissions than you said to
    expect): then the last answers to that visitor are printed. And when everyone was let through without a token of a queue,
    since then nothing was tried.
    """
    check_writable(json_file)
    try:
        target = checked_target(url)
    except TargetError as error:
        raise click.UsageError(str(error)) from error
    watch = Watch(Expected(expect_per_minute, expect_burst, expect_active))
    plan = Plan(people, ramp_s, lasts_s, visit_s, closers_percent, seed)
    with click.progressbar(length=people, label=target, file=sys.stderr) as bar:
        asyncio.run(run_load(target, plan, watch, bar.update))
    data = watch.figures()
    click.echo("\n".join([as_text(data), *watch.history()]))
    write(json_file, json.dumps(data, indent=1) + "\n")
    if not watch.took_ms["page"]:
        raise click.ClickException(f"nothing answers at {target}: is the edge running?")
    if watch.broken:
        raise click.ClickException(f"{len(watch.broken)} faults were seen")
    if watch.is_unguarded:
        raise click.ClickException(_UNGUARDED.format(target=target))
