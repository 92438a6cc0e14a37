"""The command line's own way to Redis over REST: a few calls, each with a deadline, errors as one sentence."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import click
import httpx

from edge.core.calls import Answer, Call
from edge.core.commands import configure
from edge.core.model import Queue
from edge.core.scripts import Flavour

TIMEOUT_S = 5.0


def send(call: Call, environ: Mapping[str, str]) -> Answer:
    """Runs one script in full. Raises click.ClickException when Redis does not answer."""
    url = environ["UPSTASH_REDIS_REST_URL"].rstrip("/")
    is_local = httpx.URL(url).host in ("127.0.0.1", "localhost", "::1")
    named = environ.get("STANCHION_REDIS_FLAVOUR") or ("redis" if is_local else "upstash")
    flavour: Flavour = "redis" if named == "redis" else "upstash"
    return Answer.read(_result(call.eval(flavour), environ))


def ping(environ: Mapping[str, str]) -> None:
    """Asks Redis for nothing but an answer, with the token. Raises click.ClickException when none comes."""
    _result(["PING"], environ)


def _result(command: list[str], environ: Mapping[str, str]) -> Any:
    url = environ["UPSTASH_REDIS_REST_URL"].rstrip("/")
    headers = {"Authorization": f"Bearer {environ['UPSTASH_REDIS_REST_TOKEN']}"}
    try:
        answer = httpx.post(url, json=command, headers=headers, timeout=TIMEOUT_S)
        body = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise click.ClickException(f"Redis over REST at {url} does not answer: {error}") from error
    if answer.status_code in (401, 403):
        what = "does not take the token; is UPSTASH_REDIS_REST_TOKEN right?"
        raise click.ClickException(f"Redis over REST at {url} {what} ({answer.status_code}: {str(body)[:200]})")
    if not isinstance(body, dict) or "result" not in body:
        raise click.ClickException(f"Redis over REST at {url} answered {answer.status_code}: {str(body)[:200]}")
    return body["result"]


def start_queue(queue: Queue, environ: Mapping[str, str], *, new: bool) -> str:
    """Offers the configuration of a queue; begins its state. Answers what became of it (`edge.core.commands.configure`)."""
    return send(configure(queue, secrets.token_hex(16), new=new), environ).verdict
