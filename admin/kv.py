"""The KV store as the admin sees it: a Protocol, and an implementation over a folder."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Protocol

# The edge's store has the same bounds and the same keys; a test compares the two.
VALUE_MAX_BYTES = 2 * 1024 * 1024
KEY_MAX_CHARACTERS = 255
KEY_MAX_PARTS = 8
MISSING = "{}: the folder of the store is missing; make it, or name another in STANCHION_KV_DIR"
_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")


class KvError(Exception):
    """The store cannot be read or written. The text says what and why."""


class Kv(Protocol):
    """Text values by key. Keys are parts of `[A-Za-z0-9._-]` joined by `/`, none starting with a dot."""

    def get(self, key: str) -> str | None:
        """The value, or None if there is none. Raises KvError."""

    def put(self, key: str, text: str) -> None:
        """Sets the value; a reader sees the old one or the new one, never a part. Raises KvError."""

    def delete(self, key: str) -> bool:
        """Removes the key and says whether it was there. Raises KvError."""

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with `prefix`, sorted. Raises KvError."""


class FolderKv:
    """One file for each key below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> str | None:
        """The value, or None if there is none. Raises KvError."""
        path = self._path(key)
        try:
            with path.open("rb") as file:
                data = file.read(VALUE_MAX_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            # A store that is not there has said nothing about its keys.
            if self._folder.is_dir():
                return None
            raise KvError(MISSING.format(self._folder)) from None
        except OSError as error:
            raise KvError(f"{path} cannot be read: {error.strerror or error}") from error
        if len(data) > VALUE_MAX_BYTES:
            raise KvError(f"{path} is larger than {VALUE_MAX_BYTES} bytes")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise KvError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from error

    def put(self, key: str, text: str) -> None:
        """Sets the value, atomically. Raises KvError."""
        path, data = self._path(key), text.encode("utf-8")
        if len(data) > VALUE_MAX_BYTES:
            raise KvError(f"the value for {key} is larger than {VALUE_MAX_BYTES} bytes")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, aside = tempfile.mkstemp(dir=path.parent, prefix=".put-")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                # mkstemp is for the owner alone; an edge may run as another user.
                os.chmod(aside, 0o644)
                os.replace(aside, path)
            except BaseException:
                os.unlink(aside)
                raise
        except OSError as error:
            raise KvError(f"{path} cannot be written: {error.strerror or error}") from error

    def delete(self, key: str) -> bool:
        """Removes the key and says whether it was there; folders that become empty go with it. Raises KvError."""
        path = self._path(key)
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return False
        except OSError as error:
            raise KvError(f"{path} cannot be deleted: {error.strerror or error}") from error
        # An empty `a/b` would stand in the way of a key `a`; one that is not empty stays.
        with suppress(OSError):
            for folder in path.parents:
                if folder == self._folder:
                    break
                folder.rmdir()
        return True

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with `prefix`, sorted. What is no key by its name is left out. Raises KvError."""
        if not self._folder.is_dir():
            raise KvError(MISSING.format(self._folder))
        faults: list[OSError] = []
        found = []
        for at, folders, files in os.walk(self._folder, onerror=faults.append):
            folders[:] = [name for name in folders if _PART.fullmatch(name)]
            inside = Path(at).relative_to(self._folder)
            found += [key for name in files if (key := (inside / name).as_posix()).startswith(prefix) and _is_key(key)]
        if faults:
            raise KvError(f"{faults[0].filename} cannot be listed: {faults[0].strerror or faults[0]}")
        return sorted(found)

    def _path(self, key: str) -> Path:
        if not _is_key(key):
            raise KvError(
                f"{key[:80]!r} is not a key: at most {KEY_MAX_PARTS} parts of letters, digits, dot, underscore and hyphen,"
                f" joined by /, none starting with a dot, {KEY_MAX_CHARACTERS} characters in all"
            )
        return self._folder.joinpath(*key.split("/"))


def _is_key(key: str) -> bool:
    parts = key.split("/")
    return len(key) <= KEY_MAX_CHARACTERS and len(parts) <= KEY_MAX_PARTS and all(_PART.fullmatch(part) for part in parts)
