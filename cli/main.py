"""`stanchion` and its commands."""

from __future__ import annotations

import click

from cli.admin import admin
from cli.configuration import config
from cli.crawlers import crawlers
from cli.deploy.command import deploy
from cli.doctor import doctor
from cli.draw import draw
from cli.explain import explain
from cli.invite import invite
from cli.kv.command import kv
from cli.load import load
from cli.owners import OWNER_COMMANDS
from cli.preview import preview
from cli.publish import publish
from cli.queues.command import queues
from cli.run import run
from cli.simulate import simulate


@click.group()
@click.version_option(package_name="stanchion")
def main() -> None:
    """A virtual waiting room that runs at the edge."""


COMMANDS = (
    run, publish, preview, config, crawlers, draw, explain, invite, queues, doctor, kv, deploy, simulate, load, admin,
)  # fmt: skip
for command in COMMANDS:
    main.add_command(command)
for command in OWNER_COMMANDS:
    admin.add_command(command)

if __name__ == "__main__":
    main()
