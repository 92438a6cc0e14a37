"""Files that a long run writes at its end: whether they can be written is asked before it begins."""

from __future__ import annotations

import os
from pathlib import Path

import click


def check_writable(path: Path | None) -> None:
    """Raises click.UsageError for a file whose folder is missing or may not be written to."""
    if path is not None and not os.access(path.parent, os.W_OK):
        raise click.UsageError(f"{path} cannot be written: {path.parent} is no folder that may be written to")


def write(path: Path | None, text: str) -> None:
    """Writes the file, if one is named, and says so. Raises click.ClickException."""
    if path is None:
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror or error}") from error
    click.echo(f"written: {path}", err=True)
