"""The KV folder as a store: what `stanchion run`, the admin and the local edge work with."""

from __future__ import annotations

from pathlib import Path

from cli.kv.stores import Limits, StoreError
from host.kv import MAX_KEY_CHARACTERS, MAX_VALUE_BYTES, KvError, KvFolder, check_key


def _key_fault(key: str) -> str | None:
    try:
        check_key(key)
    except KvError as error:
        return str(error)
    return None


#: A key of the folder is ASCII, so its characters are its bytes.
LIMITS = Limits(MAX_KEY_CHARACTERS, MAX_VALUE_BYTES, _key_fault)


class FolderStore:
    """One file for each key below `root`."""

    limits = LIMITS

    def __init__(self, root: Path) -> None:
        self._folder = KvFolder(root)
        self.name = f"the folder {root}"

    def list(self) -> list[str]:
        """Every key, sorted. A folder that is missing is an error: it has said nothing about its keys."""
        if not self._folder.root.is_dir():
            raise StoreError(f"{self._folder.root}: there is no such folder; name one with --folder, or use `stanchion run`")
        try:
            return self._folder.keys()
        except KvError as error:
            raise StoreError(str(error)) from error

    def refuse_links_out(self) -> None:
        """Raises StoreError for a value that a link brings in from outside: such a value stays on this machine."""
        root = self._folder.root.resolve()
        for key in self.list():
            target = (root / key).resolve()
            if not target.is_relative_to(root):
                raise StoreError(f"{self._folder.root / key} leads out of the folder, to {target}; put a copy in its place")

    def get(self, key: str) -> str | None:
        """The value, or None if there is none."""
        try:
            return self._folder.get(key)
        except KvError as error:
            raise StoreError(str(error)) from error

    def put(self, key: str, text: str) -> None:
        """Sets the value; a reader sees the old one or the new one."""
        self.limits.check(key, text, self.name)
        try:
            path = self._folder.root / key
            path.parent.mkdir(parents=True, exist_ok=True)
            self._folder.put(key, text)
        except (KvError, OSError) as error:
            raise StoreError(str(error)) from error

    def delete(self, key: str) -> None:
        """Removes the key."""
        try:
            self._folder.delete(key)
        except KvError as error:
            raise StoreError(str(error)) from error
