"""What a long-lived guest knows between requests: the last good configuration, keys, compiled pages, counters.

A store that cannot be read is an error, never an empty configuration: the last good one stays in force.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from edge.core import pages
from edge.core.answers import NO_STORE
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.cookies import parse
from edge.core.errors import ConfigError
from edge.core.messages import Context, Forward, Request, Respond, Snapshots
from edge.core.node import NodeCounters
from edge.core.pages import Page, PageError
from edge.core.scripts import Flavour
from edge.core.tokens import Keyring

RETRY_AFTER_S = 10
_PAGES_AT_MOST = 512


class Knowledge:
    """Reads and keeps. `read_kv` returns None for an absent key and raises OSError when the store cannot be read."""

    def __init__(self, read_kv: Callable[[str], str | None], setting: Callable[[str], str | None],
                 secret: Callable[[str], str | None], write_log: Callable[[str], None]) -> None:  # fmt: skip
        self._read_kv, self._setting, self._secret, self._write_log = read_kv, setting, secret, write_log
        self._context: Context | None = None
        self._generation = ""
        self._config_text = ""
        self._problem = ""
        self._ring: Keyring | None = None
        self._node = NodeCounters()
        self._pages: dict[str, Page] = {}
        self._good_pages: dict[str, Page] = {}

    def context(self) -> Context:
        """The context of the last good configuration. Call `refresh` first."""
        assert self._context is not None
        return self._context

    def refresh(self, generation: str) -> None:
        """Reads again what may have changed. `generation`: changes whenever the store does; empty: look each time.

        Raises ConfigError when there is no configuration, good or old, to work with.
        """
        if generation and generation == self._generation:
            if self._context is None:
                raise ConfigError(CONFIG_KEY, self._problem)
            return
        self._generation = generation
        self._pages.clear()
        try:
            self._load()
            self._problem = ""
        except (ConfigError, OSError) as error:
            problem = str(error)
            if problem != self._problem:
                self._log("configuration not taken", problem)
            self._problem = problem
            if self._context is None:
                raise ConfigError(CONFIG_KEY, problem) from error

    def _load(self) -> None:
        if self._ring is None:
            self._ring = Keyring.parse(self._secret("signing-keys") or "")
        text = self._read_kv(CONFIG_KEY)
        if text is None:
            raise ConfigError(CONFIG_KEY, "is not in the store; publish a configuration")
        if self._context is None or text != self._config_text:
            self._take(load_config(text), self._ring)
            self._config_text = text

    def _take(self, config: Config, ring: Keyring) -> None:
        flavour: Flavour = "upstash" if self._setting("STANCHION_REDIS_FLAVOUR") == "upstash" else "redis"
        snapshots = self._context.snapshots if self._context else Snapshots()
        self._context = Context.make(config, ring, self.page, self._node, flavour)
        self._context.snapshots = snapshots

    def page(self, page: str, language: str, state: str) -> Page:
        """The published page; when it is broken or cannot be read, the last good one; else the built-in one."""
        key = pages.page_key(page, language, state)
        known = self._pages.get(key)
        if known is not None:
            return known
        compiled = self._good_pages.get(key)
        try:
            text = self._read_kv(key)
            if text is not None:
                compiled = pages.compile_page(text)
                if len(self._good_pages) >= _PAGES_AT_MOST:
                    self._good_pages.clear()
                self._good_pages[key] = compiled
        except (OSError, PageError) as error:
            self._log("page not taken", f"{key}: {error}")
        compiled = compiled or pages.builtin(state)
        if len(self._pages) >= _PAGES_AT_MOST:
            self._pages.clear()
        self._pages[key] = compiled
        return compiled

    def on_config_error(self, request: Request, problem: str) -> Forward | Respond:
        """What the deployment names for when no configuration can be read: hold (default) or pass."""
        if self._setting("STANCHION_ON_CONFIG_ERROR") == "pass":
            jar = parse(request.header("cookie"))
            return Forward(f"no configuration: {problem}", cookie=jar.others if jar.had_ours else None)
        values = {"state": "unavailable", "poll_s": str(RETRY_AFTER_S), "refresh_s": str(RETRY_AFTER_S),
                  "retry_s": str(RETRY_AFTER_S), "target_url": request.target, "request_id": request.request_id}  # fmt: skip
        headers = (("Content-Type", "text/html; charset=utf-8"), *NO_STORE, ("Retry-After", str(RETRY_AFTER_S)))
        body = "" if request.method == "HEAD" else pages.builtin("unavailable").fill(values)
        return Respond(503, headers, body, f"no configuration: {problem}")

    def _log(self, event: str, problem: str) -> None:
        self._write_log(json.dumps({"event": event, "problem": problem}))

