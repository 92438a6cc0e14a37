"""Reading, planning and publishing the configuration: what the console and the API do, and as `stanchion config apply` does it.

Publishing is one atomic write into the KV store after the states in Redis were asked for their versions. Before it nothing is
changed but states of new queues, which begin as their schedule says.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from admin.configuration import ConfigurationSource
from admin.configure.changes import Change, differences, is_same
from admin.configure.document import EMPTY, Value
from admin.configure.faults import Fault, faults_of, faults_of_text
from admin.configure.numbering import changed_scopes, numbered
from admin.configure.warn import Warning_, warnings
from admin.kv import Kv, KvError
from admin.store import Store, StoreUnavailable
from edge.core import commands
from edge.core.config import CONFIG_KEY, CONFIG_MAX_BYTES, Config, check_config, load_config
from edge.core.errors import ConfigError
from edge.core.json_text import read_json
from edge.core.sealed import seal


@dataclass(frozen=True)
class Edition:
    """The configuration as it stands in the store. `text` None: none is published. `problem`: why it cannot be used, or empty."""

    text: str | None
    value: Value = field(hash=False)
    config: Config
    problem: str = ""

    @property
    def etag(self) -> str:
        """What names this text: another text has another one."""
        return etag_of(self.text)

    @cached_property
    def warnings(self) -> tuple[Warning_, ...]:
        """What it would hold that should not wait in line. Half a second for a thousand queues, once."""
        return warnings(self.config)


class Faulty(Exception):
    """The configuration cannot mean anything."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        super().__init__(faults[0].words + more)
        self.faults = tuple(faults)


class Stale(Exception):
    """Somebody published in the meantime. `current` is what stands in the store now."""

    def __init__(self, current: Edition) -> None:
        super().__init__("the configuration was changed in the meantime; look at what changed, and put yours on top of it")
        self.current = current


@dataclass(frozen=True)
class Published:
    """What a publish did. `scopes`: queues and groups that got a higher version."""

    before: Edition
    after: Edition
    changes: tuple[Change, ...]
    scopes: tuple[str, ...]

    @property
    def is_new(self) -> bool:
        """Whether anything was written."""
        return self.before.text != self.after.text


def etag_of(text: str | None) -> str:
    """The name of a text, or of there being none."""
    return hashlib.sha256((text or "").encode()).hexdigest()[:32]


def edition_of(text: str | None) -> Edition:
    """A stored text, read. Never raises."""
    if text is None:
        return Edition(None, dict(EMPTY), Config(()))
    try:
        value = read_json(text)
        config = load_config(text)
    except ConfigError as error:
        return Edition(text, dict(EMPTY), Config(()), str(error))
    value.pop("checked", None)
    return Edition(text, value, config)


class Configurator:
    """Every method raises StoreUnavailable when the KV store, or Redis where it is needed, does not answer."""

    def __init__(self, kv: Kv, store: Store, source: ConfigurationSource) -> None:
        self._kv = kv
        self._store = store
        self._source = source
        self._lock = asyncio.Lock()
        # What was read last: reading a thousand queues takes a tenth of a second. Nobody changes an edition.
        self._last = edition_of(None)

    async def current(self) -> Edition:
        """What stands in the store now."""
        text = await self._get()
        if text != self._last.text:
            self._last = await asyncio.to_thread(edition_of, text)
        return self._last

    async def publish(self, value: Value, if_match: str) -> Published:
        """Puts a configuration in force. What says the same in the same words is not written at all.

        Raises Stale unless `if_match` is the etag of what stands in the store, Faulty, StoreUnavailable.
        """
        async with self._lock:
            before = await self.current()
            if before.etag != if_match:
                raise Stale(before)
            value = {key: item for key, item in value.items() if key != "checked"}
            faults = await asyncio.to_thread(faults_of, value)
            if faults:
                raise Faulty(faults)
            if before.text is not None and not before.problem and is_same(before.value, value):
                return Published(before, before, (), ())
            return await self._put_in_force(before, value)

    async def _put_in_force(self, before: Edition, value: Value) -> Published:
        after, text, scopes = await self._numbered(before, value)
        if len(text) > CONFIG_MAX_BYTES or len(text.encode()) > CONFIG_MAX_BYTES:
            raise Faulty([Fault("", f"the configuration is larger than {CONFIG_MAX_BYTES} bytes")])
        await self._begin([scope for scope in scopes if not before.config.scope(scope)], after)
        if await self._get() != before.text:  # another program may have published while Redis was asked
            raise Stale(await self.current())
        await self._put(text)
        self._source.forget()
        await self._offer([scope for scope in scopes if before.config.scope(scope)], after)
        published = await asyncio.to_thread(edition_of, text)
        changes = await asyncio.to_thread(differences, before.value, published.value)
        return Published(before, published, changes, tuple(scopes))

    async def _numbered(self, before: Edition, value: Value) -> tuple[Config, str, list[str]]:
        changed = await asyncio.to_thread(lambda: changed_scopes(before.config, check_config(value)))
        readings = await self._store.read(changed, [_random() for _ in changed])
        snapshots = [reading.answer.snapshot for reading in readings]
        versions = {scope: snapshot.config_version if snapshot else 0 for scope, snapshot in zip(changed, snapshots, strict=True)}
        try:
            final, scopes = await asyncio.to_thread(numbered, value, before.config, lambda scope: versions.get(scope, 0))
        except ConfigError as error:
            raise Faulty([Fault(error.path, error.problem)]) from error
        text = seal(final)
        return load_config(text), text, scopes

    async def _begin(self, scopes: Sequence[str], config: Config) -> None:
        """Begins the states of what is new; one that comes back takes the new limits."""
        for scope in scopes:
            answer = await self._store.run(commands.configure(config.scope(scope)[0], _random(), new=True))
            if answer.verdict not in ("created", "taken"):
                raise Stale(await self.current())

    async def _offer(self, scopes: Sequence[str], config: Config) -> None:
        """Offers the new limits at once. Edges would do it at their next request, so trouble here is none."""
        try:
            readings = await self._store.read(scopes, [_random() for _ in scopes])
            for scope, reading in zip(scopes, readings, strict=True):
                if reading.answer.snapshot is not None:
                    await self._store.run(commands.configure(config.scope(scope)[0], _random()))
        except StoreUnavailable:
            return

    async def _get(self) -> str | None:
        try:
            return await asyncio.to_thread(self._kv.get, CONFIG_KEY)
        except KvError as error:
            raise StoreUnavailable(f"The configuration cannot be read: {error}.") from error

    async def _put(self, text: str) -> None:
        try:
            await asyncio.to_thread(self._kv.put, CONFIG_KEY, text)
        except KvError as error:
            raise StoreUnavailable(f"The configuration cannot be written: {error}.") from error


def _random() -> str:
    return secrets.token_hex(16)


def parsed(text: str) -> Value:
    """The value of a text that a person wrote, if it is an object at all. Raises Faulty."""
    try:
        value: Any = read_json(text)
    except ConfigError:
        raise Faulty(faults_of_text(text)) from None
    if not isinstance(value, dict):
        raise Faulty(faults_of(value))
    return value
