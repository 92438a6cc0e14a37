"""`stanchion simulate`: a sale in virtual time, before it is held."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import click

from cli.processes import ENDING_SIGNALS, handle
from cli.written import check_writable, write
from edge.core.errors import ConfigError
from sim.page import as_page
from sim.report import as_text, violation_text
from sim.sale_file import load_sale
from sim.server import ServerError
from sim.simulate import Broken
from sim.simulate import simulate as run_sale
from sim.store import StoreFailed


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--seed", type=click.IntRange(0, 2**31), help="Another seed than the file's.")
@click.option("--redis-url", default="", help="An empty Redis of this machine; without it one is started and ended.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures there.")
@click.option("--tell", is_flag=True, help="Say on standard error, line by line, how many thousandths are done.")
@click.option("--page", "page_file", type=click.Path(dir_okay=False, path_type=Path), help="Write a page with plots there.")
def simulate(file: Path, seed: int | None, redis_url: str, json_file: Path | None, tell: bool, page_file: Path | None) -> None:
    """Hold the sale of FILE (TOML, docs/simulation.md) in virtual time, against the real scripts in a real Redis.

    Exit code 1 when a law is broken; the history of the visitor that shows it is printed.
    """
    check_writable(json_file)
    check_writable(page_file)
    handle(_interrupt, *ENDING_SIGNALS)  # also in the background: the redis-server that was started ends too
    try:
        sale = load_sale(file) if seed is None else load_sale(file, seed)
        if tell:
            data = run_sale(sale, redis_url, _teller(sale.lasts_s * 1000, 10, "progress {}".format))
        elif not sys.stderr.isatty():  # where a bar would not be seen
            data = run_sale(sale, redis_url, _teller(sale.lasts_s * 1000, 50, lambda done: f"{sale.name}: {done // 10} %"))
        else:
            with click.progressbar(length=sale.lasts_s * 1000, label=sale.name, file=sys.stderr) as bar:
                data = run_sale(sale, redis_url, bar.update)
    except Broken as broken:
        raise click.ClickException(violation_text(broken.run, broken.violated)) from broken
    except ConfigError as error:
        raise click.UsageError(f"{file}: {error}") from error
    except (ServerError, StoreFailed) as error:
        raise click.ClickException(str(error)) from error
    click.echo(as_text(data))
    write(json_file, json.dumps(data, indent=1) + "\n")
    write(page_file, as_page(data))


def _teller(length_ms: int, every: int, line: Callable[[int], str]) -> Callable[[int], None]:
    """Says how far the sale is whenever `every` thousandths more are done. `line`: the text for so many thousandths."""
    passed, told = 0, -1

    def update(step_ms: int) -> None:
        nonlocal passed, told
        passed += step_ms
        thousandths = min(1000, passed * 1000 // length_ms)
        if thousandths // every > told // every or told < 0:
            told = thousandths
            click.echo(line(thousandths), err=True)

    return update


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
