"""`stanchion invite`: prints signed invitation links into a lane of a queue, each good for one visitor."""

from __future__ import annotations

import base64
import os
import re
import secrets
import time
from pathlib import Path

import click

from cli.local import environment, local_secrets
from edge.core.config import CONFIG_KEY, load_config
from edge.core.errors import ConfigError
from edge.core.invites import ID_BYTES, Invite, line_of, link, safe_path, write_invite
from edge.core.keyring import Keyring
from edge.core.model import Queue
from host.kv import KvError, KvFolder
from host.settings import SettingError, load

LINKS_AT_MOST = 1_000_000
_UNITS_S = {"m": 60, "h": 3600, "d": 86_400}
_YEAR_S = 366 * 86_400


class ValidFor(click.ParamType[int]):
    """A time such as 90m, 12h or 7d, in seconds."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Seconds; fails for anything else."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"([1-9][0-9]{0,5})([mhd])", str(value))
        seconds = int(found[1]) * _UNITS_S[found[2]] if found else 0
        if not 0 < seconds <= _YEAR_S:
            self.fail(f"{value!r} is not allowed: a number with m, h or d, such as 90m, 12h or 7d; a year at most", param, ctx)
        return seconds


def _queue(queue_id: str, lane: str, kv: KvFolder) -> Queue:
    text = kv.get(CONFIG_KEY)
    queue = load_config(text).queue(queue_id) if text is not None else None
    if queue is None:
        raise click.ClickException(f"there is no queue {queue_id!r} in {kv.root / CONFIG_KEY}")
    if line_of(queue, Invite(queue.id, lane, "", 0)) is None:
        names = [each.name for each in queue.lanes if each.invite]
        open_lanes = f"lanes that take invitations are {', '.join(names)}" if names else "it has no lane with invite: true"
        raise click.ClickException(f"queue {queue_id} gives no invitations to {lane!r}; {open_lanes}")
    return queue


@click.command()
@click.argument("queue_id", metavar="QUEUE")
@click.option("--lane", required=True, help="A lane of the queue with invite: true.")
@click.option("--count", type=click.IntRange(1, LINKS_AT_MOST), default=1, show_default=True, help="How many links.")
@click.option("--valid-for", "valid_s", type=ValidFor(), default="7d", show_default=True, help="Such as 90m, 12h or 7d.")
@click.option("--base-url", default="", help="Scheme and host of the site. Default: the local edge.")
@click.option("--to", default="", help="Path of the site that the link leads to. Default: the queue's first route.")
def invite(queue_id: str, lane: str, count: int, valid_s: int, base_url: str, to: str) -> None:
    """Print invitation links into a lane of QUEUE, one a line."""
    if to and safe_path(to) is None:
        raise click.UsageError(f"--to {to!r}: a path of the site was expected, one that starts with one /")
    if base_url and not re.fullmatch(r"https?://[^/?#\s]+/?", base_url):
        raise click.UsageError(f"--base-url {base_url!r}: scheme and host were expected, such as https://shop.example.org")
    try:
        settings = load(os.environ)
        environ = environment(settings, os.environ, local_secrets())
        queue = _queue(queue_id, lane, KvFolder(Path(settings["STANCHION_KV_DIR"])))
        ring = Keyring.parse(environ["STANCHION_SIGNING_KEYS"])
    except (SettingError, KvError, ConfigError, OSError) as error:
        raise click.ClickException(str(error)) from error
    site = base_url or f"http://{settings['STANCHION_BIND']}:{settings['STANCHION_EDGE_PORT']}"
    expires_ms = (int(time.time()) + valid_s) * 1000
    for _ in range(count):
        invite_id = base64.urlsafe_b64encode(secrets.token_bytes(ID_BYTES)).decode()
        click.echo(link(site, queue.id, write_invite(ring, Invite(queue.id, lane, invite_id, expires_ms)), to))
