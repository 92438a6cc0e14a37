"""`stanchion draw verify`: recomputes commitment, key, places and chain of a published draw, from a file or an address."""

from __future__ import annotations

import re
from pathlib import Path

import click
import httpx

from edge.core.draw_check import BadRecord, Drawn, check_chain, check_permutation, place_in, read_record
from edge.core.errors import ConfigError
from edge.core.json_text import read_json

RECORD_MAX_BYTES = 1_000_000
TIMEOUT_S = 10.0
_ARRIVAL = re.compile(r"(\d{1,2})[ ,](\d{1,9})[ ,]([0-9a-f]{40})", re.ASCII).fullmatch


@click.group()
def draw() -> None:
    """Check the draw of a pre-queue."""


def _fetched(source: str) -> bytes:
    if source.startswith(("http://", "https://")):
        try:
            answer = httpx.get(source, timeout=TIMEOUT_S, follow_redirects=True, headers={"Accept": "application/json"})
            answer.raise_for_status()
        except httpx.HTTPError as error:
            raise click.ClickException(f"{source}: {error}") from error
        return answer.content
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise click.ClickException(f"{source}: {error.strerror or error}") from error


def _read(source: str) -> Drawn:
    text = _fetched(source)
    if len(text) > RECORD_MAX_BYTES:
        raise click.ClickException(f"{source}: larger than {RECORD_MAX_BYTES} bytes; a record of a draw is small")
    try:
        return read_record(read_json(text))
    except (BadRecord, ConfigError) as error:
        raise click.ClickException(f"{source}: {error}") from error


def _arrivals(file: Path) -> list[tuple[int, int, str]]:
    """The arrivals of a file: `line number sha1` each on a line of its own, in the order in which they came."""
    found = []
    try:
        rows = file.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{file}: {error}") from error
    for index, row in enumerate(rows, start=1):
        parts = _ARRIVAL(row.strip())
        if parts is None:
            raise click.ClickException(f"{file}, line {index}: {row[:60]!r} is no arrival; expected: line number sha1")
        found.append((int(parts[1]), int(parts[2]), parts[3]))
    return found


def _check_every_place(drawn: Drawn) -> None:
    for line, count in enumerate(drawn.counts):
        with click.progressbar(range(1, count + 1), label=f"line {line}: {count} places") as numbers:
            places = [place_in(drawn, line, number) for number in numbers]
        check_permutation(drawn, line, places)
        click.echo(f"line {line}: each of 1 to {count} is given once" if count else f"line {line}: nobody came")


def _check_arrivals(drawn: Drawn, file: Path) -> None:
    listed = _arrivals(file)
    check_chain(drawn, listed)
    click.echo(f"chain: {len(listed)} arrivals make {drawn.chain}")


def _not_checked(drawn: Drawn, number: int | None, everything: bool, arrivals: Path | None, seen: str | None) -> list[str]:
    """What the record alone cannot show, or was not asked for, and how to have it checked."""
    out = []
    if seen is None:
        out.append("that the commitment was published before the opening: give the one that you saw with --commitment")
    if number is None and not everything:
        out.append(f"places, of which there are {sum(drawn.counts):,}: give --number N (and --line), or --all")
    if arrivals is None:
        out.append("who came, and in which order: give the published list with --arrivals FILE")
    return out


@draw.command()
@click.argument("source", metavar="FILE_OR_URL")
@click.option("--number", type=click.IntRange(min=1), help="Your number of arrival.")
@click.option("--line", type=click.IntRange(min=0), default=0, show_default=True, help="Your line in the record.")
@click.option("--all", "everything", is_flag=True, help="Every place of every line.")
@click.option("--arrivals", type=click.Path(path_type=Path), help="The list of arrivals, for the chain.")
@click.option("--commitment", "seen", help="The commitment that you saw before the opening.")
def verify(source: str, number: int | None, line: int, everything: bool, arrivals: Path | None, seen: str | None) -> None:
    """Recompute the draw that FILE_OR_URL publishes: commitment and key always, and what the options ask for.

    What was not checked is listed. Exit code 1 when anything does not fit.
    """
    drawn = _read(source)
    try:
        if seen is not None and seen.strip().lower() != drawn.commitment:
            raise BadRecord(f"commitment: you saw {seen.strip()}, the published seed makes {drawn.commitment}")
        click.echo(f"queue {drawn.queue}: the seed makes the commitment {drawn.commitment}"
                   + (", which you saw" if seen is not None else ""))  # fmt: skip
        click.echo("the key is made of it" + (" and of the beacon" if drawn.beacon else "; no beacon was mixed in"))
        click.echo("lines: " + ", ".join(f"{name} {line} ({drawn.counts[line]:,} came)" for name, line in drawn.lines.items()))
        if number is not None:
            click.echo(f"number {number} of line {line} has place {place_in(drawn, line, number)} of {drawn.counts[line]}")
        if everything:
            _check_every_place(drawn)
        if arrivals is not None:
            _check_arrivals(drawn, arrivals)
    except BadRecord as error:
        raise click.ClickException(f"{source}: {error}") from error
    for what in _not_checked(drawn, number, everything, arrivals, seen):
        click.echo(f"not checked: {what}")
