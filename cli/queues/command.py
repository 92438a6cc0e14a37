"""`stanchion queues list | show | open | pause | drain | close | maintenance | admit | set | message | reset`."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

import click

from cli.queues.client import AdminApi
from cli.queues.table import LIMITS, described, listed

ADDRESS = "http://127.0.0.1:8081"
STEPS = {
    "open": "End a pause, drain, close, maintenance or recovery; open a queue that waits for its time.",
    "pause": "Stop calling people; everybody keeps place, turn and pass.",
    "drain": "Give no new places; those in line go on to be called.",
    "close": "Give no new places and call nobody; places are kept.",
    "maintenance": "As close, with the page of a maintenance.",
}


class _Said:
    """What every command shares: the API, and whether people or programs read the answer."""

    def __init__(self, api: AdminApi, as_json: bool) -> None:
        self.api = api
        self.as_json = as_json

    def say(self, answer: Any, words: str) -> None:
        click.echo(json.dumps(answer, indent=2, ensure_ascii=False) if self.as_json else words)


@click.group()
@click.option("--url", envvar="STANCHION_ADMIN_URL", default=ADDRESS, show_default=True,
              help="The admin app (STANCHION_ADMIN_URL).")  # fmt: skip
@click.option("--token", envvar="STANCHION_ADMIN_TOKEN",
              help="A token of its API; better as STANCHION_ADMIN_TOKEN, where no process list shows it.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the API's answer.")
@click.pass_context
def queues(context: click.Context, url: str, token: str | None, as_json: bool) -> None:
    """Look at queues and drive them, over the API of the admin app."""
    if not token:
        raise click.UsageError("no token: set STANCHION_ADMIN_TOKEN. `make run` prints one at its first start.")
    if not url.startswith(("http://", "https://")):
        raise click.UsageError(f"--url {url!r}: must begin with http:// or https://")
    context.obj = _Said(AdminApi(url, token), as_json)


@queues.command("list")
@click.pass_obj
def list_queues(said: _Said) -> None:
    """All queues with their numbers, a line each."""
    found = said.api.queues()
    said.say(found, listed(found) if found else "No queue is published.")


@queues.command()
@click.argument("queue")
@click.option("--watch", is_flag=True, help="Again every second, until Ctrl-C.")
@click.pass_obj
def show(said: _Said, queue: str, watch: bool) -> None:
    """One queue, a fact a line."""
    while True:
        found = said.api.get(f"/queues/{_id(queue)}")
        if watch and not said.as_json:
            click.clear()
        said.say(found, described(found))
        if not watch:
            return
        time.sleep(1)


def _step(name: str, help_text: str) -> Callable[..., None]:
    @queues.command(name, help=help_text)
    @click.argument("queue")
    @click.pass_obj
    def command(said: _Said, queue: str) -> None:
        found = said.api.send("POST", f"/queues/{_id(queue)}/{name}")
        said.say(found, f"{_whom(found)}: {found['status']}")

    return command


for _name, _help in STEPS.items():
    _step(_name, _help)


@queues.command()
@click.argument("queue")
@click.argument("count", type=click.IntRange(1, 100_000))
@click.option("--lane", help="Of this lane only.")
@click.option("--over-rate", is_flag=True, help="They come in whatever the rate; caps and inventory hold.")
@click.pass_obj
def admit(said: _Said, queue: str, count: int, lane: str | None, over_rate: bool) -> None:
    """Call the next COUNT people in line."""
    body = {"count": count, "lane": lane, "over_rate": over_rate}
    done = said.api.send("POST", f"/queues/{_id(queue)}/admit", body)
    note = f": {done['note']}" if done["note"] else ""
    said.say(done, f"{done['called']:,} of {done['asked']:,} called{note}")


@queues.command("set")
@click.argument("queue")
@click.argument("limits", nargs=-1, required=True, metavar="LIMIT=VALUE...")
@click.pass_obj
def set_limits(said: _Said, queue: str, limits: tuple[str, ...]) -> None:
    """Change limits at once: a number, `none` for no limit, `config` for what is published.

    Limits are admit_per_minute, burst, max_active and inventory.
    """
    body = dict(_change(text) for text in limits)
    found = said.api.send("PATCH", f"/queues/{_id(queue)}/limits", body)
    said.say(found, described(found))


def _change(text: str) -> tuple[str, int | str | None]:
    name, sign, value = text.partition("=")
    if not sign or name not in LIMITS:
        raise click.UsageError(f"{text[:60]!r}: write LIMIT=VALUE, where LIMIT is one of {', '.join(LIMITS)}")
    if value in ("none", "config"):
        return name, None if value == "none" else value
    if not value.isascii() or not value.isdigit() or len(value) > 12:
        raise click.UsageError(f"{text[:60]!r}: the value is a whole number, none or config")
    return name, int(value)


@queues.command()
@click.argument("queue")
@click.argument("text")
@click.pass_obj
def message(said: _Said, queue: str, text: str) -> None:
    """Put TEXT on the page of everybody who waits; an empty one takes it away."""
    found = said.api.send("POST", f"/queues/{_id(queue)}/message", {"text": text})
    said.say(found, f"{_whom(found)}: {found['message'] or 'no message'}")


@queues.command()
@click.argument("queue")
@click.option("--yes", "typed", help="The queue's id once more, to do it without being asked.")
@click.pass_obj
def reset(said: _Said, queue: str, typed: str | None) -> None:
    """Begin a new line: every place and pass of the old one is void at once."""
    now = said.api.get(f"/queues/{_id(queue)}")
    if typed is None:
        passes = now["inside"] + now["called"]
        click.echo(f"{_whom(now)}: {now['waiting']:,} waiting lose their places, {passes:,} lose their passes.")
        typed = click.prompt(f"Type {queue} to reset it", default="", show_default=False)
    if typed != queue:
        raise click.ClickException("nothing was done: that is not the queue's id")
    found = said.api.send("POST", f"/queues/{_id(queue)}/reset")
    said.say(found, f"{_whom(found)}: a new line has begun")


def _whom(queue: Mapping[str, Any]) -> str:
    """What a step concerned: the queue, or its whole group."""
    return f"{queue['id']} ({queue['concerned']})" if queue["group"] else str(queue["id"])


def _id(queue: str) -> str:
    """The id as a part of a path, whatever was typed."""
    return quote(queue, safe="")
