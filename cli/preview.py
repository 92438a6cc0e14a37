"""`stanchion preview`: every state, brand and language of the waiting pages side by side; pictures of them."""

from __future__ import annotations

from pathlib import Path

import click
import uvicorn

from admin.publish import PublishError
from admin.publish.pictures import take_pictures
from admin.publish.preview import application
from admin.publish.sources import TEMPLATES
from cli.processes import is_free

_HOST = "127.0.0.1"


@click.command()
@click.option("--templates", type=click.Path(path_type=Path, exists=True, file_okay=False), default=TEMPLATES,
              help="Folder with base/, brands/ and locale/.")  # fmt: skip
@click.option("--port", default=8084, show_default=True, help="Where the preview listens, on loopback.")
@click.option("--pictures", type=click.Path(path_type=Path, file_okay=False), help="Write pictures into this folder instead.")
def preview(templates: Path, port: int, pictures: Path | None) -> None:
    """Show every state, brand and language side by side, with made-up numbers. A page is rendered anew at each look."""
    if pictures is not None:
        try:
            names = take_pictures(templates, pictures)
        except PublishError as error:
            raise click.ClickException(str(error)) from error
        click.echo(f"{len(names)} pictures in {pictures}")
        return
    if not is_free(_HOST, port):
        raise click.ClickException(f"port {port} is taken: name another with --port")
    click.echo(f"http://localhost:{port}/   Ctrl-C stops it")
    uvicorn.run(application(templates), host=_HOST, port=port, log_level="warning")
