"""What every store of configuration and pages can do, and what it cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class StoreError(Exception):
    """A store cannot be read or written, or a key or value does not fit. The text says which and why, never a secret."""


@dataclass(frozen=True)
class Limits:
    """What a store accepts. `key_fault` says what is wrong with a key, or None; the sizes are in bytes of UTF-8."""

    key_max_bytes: int
    value_max_bytes: int
    key_fault: Callable[[str], str | None]

    def check(self, key: str, text: str, store: str) -> None:
        """Raises StoreError when the store would not take this value under this key."""
        if (fault := self.refusal(key)) is not None:
            raise StoreError(f"{store}: {fault}")
        size_bytes = len(text.encode("utf-8", "surrogatepass"))
        if size_bytes > self.value_max_bytes:
            raise StoreError(f"{store}: the value for {key} has {size_bytes:,} bytes; {self.value_max_bytes:,} are allowed")

    def refusal(self, key: str) -> str | None:
        """Why the store cannot have this key, or None."""
        size_bytes = len(key.encode("utf-8", "surrogatepass"))
        if not 1 <= size_bytes <= self.key_max_bytes:
            return f"the key {key[:60]!r} has {size_bytes:,} bytes; 1 to {self.key_max_bytes:,} are allowed"
        return self.key_fault(key)


class Store(Protocol):
    """Text values by key. Every method raises StoreError."""

    @property
    def name(self) -> str:
        """What people call it, with its place."""

    @property
    def limits(self) -> Limits:
        """What it accepts. `put` checks it, too."""

    def list(self) -> list[str]:
        """Every key, sorted."""

    def get(self, key: str) -> str | None:
        """The value, or None if there is none."""

    def put(self, key: str, text: str) -> None:
        """Sets the value."""

    def delete(self, key: str) -> None:
        """Removes the key; one that is not there is no error."""


class WithPrefix:
    """A store as publishing takes it: the keys below a prefix, and no limits."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, key: str) -> str | None:
        """The value, or None if there is none."""
        return self._store.get(key)

    def put(self, key: str, text: str) -> None:
        """Sets the value."""
        self._store.put(key, text)

    def delete(self, key: str) -> None:
        """Removes the key; one that is not there is no error."""
        self._store.delete(key)

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with `prefix`, sorted."""
        return [key for key in self._store.list() if key.startswith(prefix)]


def as_text(key: str, value: bytes, store: str) -> str:
    """A value as text. Raises StoreError when it is not UTF-8: nothing of ours is."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StoreError(f"{store}: the value of {key} is not UTF-8: {error.reason} at byte {error.start}") from None
