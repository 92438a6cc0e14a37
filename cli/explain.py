"""`stanchion explain`: which queue decides for an address, a country and cookies, and why."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from admin.configure.warn import warning_about
from cli.local import environment, local_secrets
from cli.redis_rest import send
from edge.core.commands import take_snapshot
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.crawlers import CRAWLERS_KEY, Crawlers, load_crawlers
from edge.core.errors import ConfigError, StoreBusy
from edge.core.explain import explain as explained
from edge.core.explain_words import Explanation
from edge.core.keyring import Keyring
from edge.core.messages import Context, Request
from edge.core.node import NodeCounters
from edge.core.pages import Page
from edge.core.question import BadQuestion, question
from host.kv import KvError, KvFolder
from host.settings import SettingError, load


def _headers(given: Sequence[str], cookies: Sequence[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in given:
        name, colon, value = line.partition(":")
        if not colon:
            raise click.UsageError(f"--header {line[:60]!r}: NAME: VALUE was expected")
        headers[name.strip().lower()] = value.strip()
    if cookies:
        headers["cookie"] = "; ".join([*filter(None, [headers.get("cookie", "")]), *cookies])
    return headers


def _configuration(file: Path | None, kv: KvFolder) -> Config:
    text = file.read_text(encoding="utf-8") if file else kv.get(CONFIG_KEY)
    if text is None:
        raise click.ClickException(f"no configuration is published: {kv.root / CONFIG_KEY} is missing; name a file with --config")
    return load_config(text)


def _crawlers(kv: KvFolder) -> Crawlers:
    text = kv.get(CRAWLERS_KEY)
    return Crawlers() if text is None else load_crawlers(text)


def _with_state(answer: Explanation, request: Request, context: Context, environ: Mapping[str, str]) -> tuple[Explanation, str]:
    """The explanation once more with the state of the queue that decides, and why that could not be read, if so."""
    queue = context.config.queue(answer.queue_id)
    if queue is None or answer.outcome != "depends":
        return answer, ""
    try:
        snapshot = send(take_snapshot(queue.scope, secrets.token_hex(16)), environ).snapshot
    except (click.ClickException, StoreBusy) as error:
        return answer, f"the state was not read: {error}"
    if snapshot is None:
        return answer, "the queue has no state in Redis yet; the first visitor begins it"
    context.snapshots.keep(queue.scope, request.now_ms, snapshot)
    return explained(request, context), ""


def _in_words(answer: Explanation, note: str) -> str:
    by = f" Queue: {answer.queue_id}." if answer.queue_id else ""
    lines = [f"{answer.outcome}: {answer.words}{by}", *(f"  - {step.words}" for step in answer.steps)]
    return "\n".join([*lines, *([f"  ({note})"] if note else [])])


@click.command()
@click.argument("url")
@click.option("--method", default="GET", show_default=True, help="The method of the request.")
@click.option("--country", default="", help="Two letters; left out: not known.")
@click.option("--cookie", "cookies", multiple=True, help="NAME=VALUE, as the visitor's browser holds it; may be repeated.")
@click.option("--header", "headers", multiple=True, help="NAME: VALUE; may be repeated.")
@click.option("--client", default="", help="The visitor's network address, which tells search crawlers.")
@click.option("--config", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
              help="A configuration to try. Default: the published one.")  # fmt: skip
@click.option("--state/--no-state", "reads_state", default=True, help="Whether Redis is asked how the queue stands.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def explain(url: str, method: str, country: str, cookies: Sequence[str], headers: Sequence[str], client: str, file: Path | None,
            reads_state: bool, as_json: bool) -> None:  # fmt: skip
    """Say which queue decides for URL and why: rules, tokens, country, limits. The answer is the gate's own; nothing changes."""
    try:
        request = question(url, method=method.upper(), country=country, headers=_headers(headers, cookies), client=client,
                           now_ms=int(time.time() * 1000))  # fmt: skip
        settings = load(os.environ)
        environ = environment(settings, os.environ, local_secrets())
        kv = KvFolder(Path(settings["STANCHION_KV_DIR"]))
        ring = Keyring.parse(environ["STANCHION_SIGNING_KEYS"])
        context = Context.make(_configuration(file, kv), ring, _no_page, NodeCounters())
        crawlers = _crawlers(kv)
        context.crawlers = lambda: crawlers
        answer = explained(request, context)
    except (BadQuestion, SettingError, KvError, ConfigError, OSError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error
    answer, note = _with_state(answer, request, context, environ) if reads_state else (answer, "")
    warning = _warning(answer, request, context)
    if as_json:
        said = {**answer.public(), "note": note, "warning": warning or None}
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
    else:
        click.echo(_in_words(answer, note) + (f"\nwarning: {warning}" if warning else ""))


def _warning(answer: Explanation, request: Request, context: Context) -> str:
    """What is said where this looks like a request that should not wait in line."""
    queue = context.config.queue(answer.queue_id)
    if queue is None or answer.outcome not in ("hold", "depends", "refuse", "admit"):
        return ""
    found = warning_about(queue, request.method, request.target)
    return found.words if found else ""


def _no_page(name: str, language: str, state: str) -> Page:
    raise AssertionError("an explanation shows no page")
