"""What a long-lived guest knows between requests: the last good configuration, keys, compiled pages, counters.

A store that cannot be read is an error, never an empty configuration: the last good one stays in force.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from edge.core import answers
from edge.core.config import CONFIG_KEY, Config, load_config
from edge.core.cookies import parse
from edge.core.crawlers import CRAWLERS_KEY, Crawlers, load_crawlers
from edge.core.errors import ConfigError
from edge.core.keyring import Keyring
from edge.core.messages import Context, Forward, Request, Respond
from edge.core.node import NodeCounters
from edge.core.pages import Page
from edge.core.scripts import Flavour
from edge.guests.page_shelf import PageShelf, ReadKv, text_of

RETRY_AFTER_S = 10


class Knowledge:
    """Reads and keeps. `is_alone`: as `Context` says."""

    def __init__(self, read_kv: ReadKv, setting: Callable[[str], str | None],
                 secret: Callable[[str], str | None], write_log: Callable[[str], None],
                 node: NodeCounters | None = None, *, is_alone: bool = False) -> None:  # fmt: skip
        self._read_kv, self._setting, self._secret, self._write_log = read_kv, setting, secret, write_log
        self._is_alone = is_alone
        self._context: Context | None = None
        self._generation = ""
        self._config_text = ""
        self._problem = ""
        self._ring: Keyring | None = None
        self._keys_text = self._refused_keys = ""
        self._node = node or NodeCounters()
        self._shelf = PageShelf(read_kv, self._log)
        self._crawlers: Crawlers | None = None
        self._good_crawlers = Crawlers()

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
        self._shelf.clear()
        self._crawlers = None
        try:
            self._load()
            problem = ""
            self._generation = generation
        except ConfigError as error:
            problem = str(error)
            self._generation = generation  # it would be as wrong the next time
        except OSError as error:
            problem = f"the store cannot be read: {error}"
            self._generation = ""  # the next time may find it well
        if problem and problem != self._problem:
            self._log("configuration not taken", problem)
        self._problem = problem
        if self._context is None:
            raise ConfigError(CONFIG_KEY, problem)

    @property
    def config_text(self) -> str:
        """The text of the configuration in force; empty without one."""
        return self._config_text

    def fall_back(self, text: str) -> None:
        """Takes a configuration from elsewhere while the store has none that is good. Raises ConfigError."""
        if self._ring is None:
            raise ConfigError(CONFIG_KEY, self._problem)
        self._take(load_config(text), self._ring)
        self._config_text = text

    def _load(self) -> None:
        keys = self._secret("signing-keys") or ""
        if self._ring is None or keys != self._keys_text:
            self._take_keys(keys)
        text = text_of(CONFIG_KEY, self._read_kv(CONFIG_KEY))
        if text is None:
            raise ConfigError(CONFIG_KEY, "is not in the store; publish a configuration")
        if self._context is None or text != self._config_text or self._context.ring is not self._ring:
            assert self._ring is not None
            self._take(load_config(text), self._ring)
            self._config_text = text

    def _take_keys(self, text: str) -> None:
        """New keys are in force at once. Broken ones are refused, and the last good ones stay."""
        try:
            self._ring = Keyring.parse(text)
        except ConfigError as error:
            if self._ring is None:
                raise
            if text != self._refused_keys:
                self._log("signing keys not taken", str(error))
            self._refused_keys = text
        else:
            self._keys_text = text

    def _take(self, config: Config, ring: Keyring) -> None:
        flavour: Flavour = "upstash" if self._setting("STANCHION_REDIS_FLAVOUR") == "upstash" else "redis"
        before = self._context
        self._context = Context.make(config, ring, self.page, self._node, flavour)
        self._context.is_alone = self._is_alone
        self._context.crawlers = self.crawlers
        self._context.secret = self._secret
        self._context.offered = self._shelf.offered
        if before is not None:
            self._context.snapshots, self._context.granted = before.snapshots, before.granted

    def page(self, page: str, language: str, state: str) -> Page:
        """The published page, or what comes in its place: never an error."""
        return self._shelf.page(page, language, state)

    def crawlers(self) -> Crawlers:
        """The search crawlers of the store; when the list is broken or cannot be read, the last good one; without one, none."""
        if self._crawlers is None:
            try:
                text = text_of(CRAWLERS_KEY, self._read_kv(CRAWLERS_KEY))
                self._good_crawlers = Crawlers() if text is None else load_crawlers(text)
            except OSError as error:
                self._log("crawlers not read", f"{CRAWLERS_KEY}: {error}")
                return self._good_crawlers  # the next time may find it well
            except ConfigError as error:
                self._log("crawlers not taken", f"{CRAWLERS_KEY}: {error}")
            self._crawlers = self._good_crawlers
        return self._crawlers

    def on_config_error(self, request: Request, problem: str) -> Forward | Respond:
        """What the deployment names for when no configuration can be read: hold (default) or pass."""
        if self._setting("STANCHION_ON_CONFIG_ERROR") == "pass":
            jar = parse(request.header("cookie"))
            return Forward(f"no configuration: {problem}", cookie=jar.others if jar.had_ours else None)
        return answers.without_configuration(request, f"no configuration: {problem}", RETRY_AFTER_S)

    def _log(self, event: str, problem: str) -> None:
        self._write_log(json.dumps({"event": event, "problem": problem}))
