"""`stanchion publish BRAND`: waiting pages from templates, checked, into the KV folder."""

from __future__ import annotations

import os
from pathlib import Path

import click

from admin.publish import PublishError, put_pages
from admin.publish import publish as render
from host.kv import KvError, KvFolder
from host.settings import SettingError, load

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"


@click.command()
@click.argument("brand")
@click.option("--language", "languages", multiple=True, default=("en", "ja"), show_default=True, help="May be given again.")
@click.option("--templates", type=click.Path(path_type=Path, exists=True, file_okay=False), default=TEMPLATES,
              help="Folder with base/ and brands/.")  # fmt: skip
@click.option("--to", "target", type=click.Path(path_type=Path, file_okay=False), help="KV folder (STANCHION_KV_DIR).")
def publish(brand: str, languages: tuple[str, ...], templates: Path, target: Path | None) -> None:
    """Render every state of BRAND, check it, and put it in force. A failed check publishes nothing."""
    try:
        folder = target or Path(load(os.environ)["STANCHION_KV_DIR"])
        pages = render(brand, templates, languages)
        put_pages(KvFolder(folder), pages)
    except (PublishError, KvError, SettingError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{len(pages)} pages of {brand} in {folder}")
