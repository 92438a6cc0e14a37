"""`stanchion publish BRAND`: waiting pages from templates, checked, into the KV folder; and the way back."""

from __future__ import annotations

import os
from pathlib import Path

import click

from admin.publish import PublishError, put_pages
from admin.publish import publish as render
from admin.publish import rollback as go_back
from host.kv import KvError, KvFolder
from host.settings import SettingError, load

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"


@click.command()
@click.argument("brand")
@click.option("--language", "languages", multiple=True, help="May be given again; default: the brand's, else all there are.")
@click.option("--templates", type=click.Path(path_type=Path, exists=True, file_okay=False), default=TEMPLATES,
              help="Folder with base/, brands/ and locale/.")  # fmt: skip
@click.option("--to", "target", type=click.Path(path_type=Path, file_okay=False), help="KV folder (STANCHION_KV_DIR).")
@click.option("--rollback", is_flag=True, help="Put the version before in force again, instead of publishing.")
def publish(brand: str, languages: tuple[str, ...], templates: Path, target: Path | None, rollback: bool) -> None:
    """Render every state of BRAND, check it, and put it in force. A failed check publishes nothing."""
    try:
        folder = target or Path(load(os.environ)["STANCHION_KV_DIR"])
        store = KvFolder(folder)
        if rollback:
            back = go_back(store, brand)
            click.echo(f"{brand} in {folder}: version {back.version} is in force again, in {', '.join(back.languages)}")
            return
        publication = render(brand, templates, languages)
        version = put_pages(store, publication)
    except (PublishError, KvError, SettingError, ValueError) as error:
        raise click.ClickException(str(error)) from error
    said = f"{len(publication.pages)} pages in {len(publication.languages)} languages"
    click.echo(f"{brand} in {folder}: version {version} is in force, {said}")
