"""`explain` for the console and the API: with the published configuration, this app's keys, and the queue's state in Redis."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from admin.desk import Desk
from admin.kv import KvError
from admin.store import StoreUnavailable
from admin.words import N_
from edge.core.config import Config
from edge.core.crawlers import CRAWLERS_KEY, Crawlers, load_crawlers
from edge.core.errors import ConfigError
from edge.core.explain import explain
from edge.core.explain_words import Explanation
from edge.core.keyring import Keyring
from edge.core.messages import Context
from edge.core.node import NodeCounters
from edge.core.pages import Page
from edge.core.question import question

# Where the app has no signing keys, tokens cannot be read; this ring verifies nothing.
_NO_KEYS = Keyring("none", {"none": b"\0" * 32})


@dataclass(frozen=True)
class Asked:
    """What to explain. `config` None: the published one."""

    url: str
    method: str = "GET"
    country: str = ""
    headers: Mapping[str, str] | None = None
    client: str = ""


async def explained(room: Desk, asked: Asked, config: Config | None = None) -> tuple[Explanation, str]:
    """The explanation, and why the state of the queue was not read, or empty. Raises BadQuestion."""
    now_ms = int(room.unix_s() * 1000)
    request = question(asked.url, method=asked.method.upper(), country=asked.country, headers=asked.headers, client=asked.client,
                       now_ms=now_ms)  # fmt: skip
    ring = room.settings.signing_keys
    published = config if config is not None else (await room.source.published()).config
    context = Context.make(published, ring or _NO_KEYS, _no_page, NodeCounters(), room.settings.redis_flavour)
    crawlers = await _crawlers(room)
    context.crawlers = lambda: crawlers
    answer = explain(request, context, keys_known=ring is not None)
    queue = published.queue(answer.queue_id)
    if queue is None or answer.outcome != "depends":
        return answer, ""
    try:
        (reading,) = await room.store.read([queue.scope], [secrets.token_hex(16)])
    except StoreUnavailable as error:
        return answer, str(error)
    if reading.answer.snapshot is None:
        return answer, N_("The queue has no state in Redis yet; the first visitor begins it.")
    context.snapshots.keep(queue.scope, now_ms, reading.answer.snapshot)
    return explain(request, context, keys_known=ring is not None), ""


async def _crawlers(room: Desk) -> Crawlers:
    """The list in the store; without one that can be read nobody is a crawler, as at the edge."""
    try:
        text = await asyncio.to_thread(room.kv.get, CRAWLERS_KEY)
        return Crawlers() if text is None else load_crawlers(text)
    except (KvError, ConfigError):
        return Crawlers()


def _no_page(name: str, language: str, state: str) -> Page:
    raise AssertionError("an explanation shows no page")
