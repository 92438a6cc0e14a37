"""The KV store as a folder: one UTF-8 file for each key, `pages/default/en/waiting.html` below the root.

Anyone may edit the files by hand; `generation` notices. Names that start with a dot are ours or an editor's and never keys.
An error is never the same as an absent key: whoever asks must know whether the store said no or said nothing.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from host.kv_scan import Scan, scan

#: Values above 2 MB are configuration or page mistakes, not content.
MAX_VALUE_BYTES = 2 * 1024 * 1024
MAX_KEY_CHARACTERS = 255
MAX_SEGMENTS = 8
MISSING = "{}: the folder of the store is missing; make it, or name another in STANCHION_KV_DIR"
#: `generation` looks at the folder at most so often.
SCAN_INTERVAL_S = 0.25

_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SEEDING = ".seeding"


class KvError(Exception):
    """The store cannot be read or written, or a key or value is not allowed. The text names the path and the reason."""


def check_key(key: str) -> None:
    """Raises KvError unless the key is segments of `[A-Za-z0-9._-]` joined by `/`, none of them starting with a dot."""
    segments = key.split("/")
    if len(key) <= MAX_KEY_CHARACTERS and len(segments) <= MAX_SEGMENTS and all(map(_SEGMENT.fullmatch, segments)):
        return
    raise KvError(
        f"{key[:80]!r} is not a key: at most {MAX_SEGMENTS} parts of a-z, 0-9, dot, underscore and hyphen, joined by /, "
        f"none starting with a dot, {MAX_KEY_CHARACTERS} characters in all"
    )


class KvFolder:
    """The store below `root`. `clock` gives monotonic seconds."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.root = root
        self._clock = clock
        self._scan: Scan | None = None
        self._scanned_at_s = 0.0

    def get(self, key: str) -> str | None:
        """The value; None if there is none. Raises KvError when the key is none or the file cannot be read."""
        path = self._path(key)
        try:
            value = _read(path)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            if self.root.is_dir():
                return None
            raise KvError(MISSING.format(self.root)) from None
        except OSError as error:
            raise _failed(path, "cannot be read", error) from error
        return _text(path, value)

    def put(self, key: str, text: str) -> None:
        """Sets the value, on the disk when this returns. A reader sees the old or the new one. Raises KvError."""
        path = self._path(key)
        temporary = self._written_aside(path, text)
        try:
            os.replace(temporary, path)
            _sync_folder(path.parent)
        except OSError as error:
            raise _failed(path, "cannot be written", error) from error
        finally:
            temporary.unlink(missing_ok=True)
            self._scan = None

    def delete(self, key: str) -> bool:
        """Removes the key and says whether it was there. Raises KvError."""
        path = self._path(key)
        try:
            path.unlink()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return False
        except OSError as error:
            raise _failed(path, "cannot be deleted", error) from error
        self._scan = None
        self._remove_empty_folders(path.parent)
        return True

    def keys(self, prefix: str = "") -> list[str]:
        """The keys that start with `prefix`, sorted. Raises KvError when a folder cannot be listed."""
        found = scan(self.root, MAX_SEGMENTS)
        if found.problems:
            raise KvError("; ".join(found.problems))
        return sorted(key for key in found.files if key.startswith(prefix) and _is_key(key))

    def generation(self) -> int:
        """A number that changes whenever anything in the folder changed, also by hand. Never raises.

        It is the same for two processes that see the same files. Shortly after a change it may change once more, because a
        second edit within the clock tick of the first would leave no trace otherwise (see kv_scan).
        """
        now_s = self._clock()
        if self._scan is None or now_s - self._scanned_at_s >= SCAN_INTERVAL_S:
            self._scan, self._scanned_at_s = scan(self.root, MAX_SEGMENTS), now_s
        return self._scan.number

    def seed(self, source: Path) -> int:
        """Copies the values below `source` into an empty store and returns how many; 0 when the store is not empty.

        A marker stands in the folder while this runs. After a crash it is still there, and the next call fills in what is
        missing. A value that is there already is never overwritten, so that two processes may seed at once. Raises KvError.
        """
        marker = self.root / _SEEDING
        if self.root.exists() and self.keys() and not marker.exists():
            return 0
        origin = KvFolder(source)
        if not source.is_dir():
            raise KvError(f"{source}: there is no folder to fill the store from")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            marker.touch()
            _sync_folder(self.root)
            copied = sum(self._put_if_absent(key, origin) for key in _all_keys(source))
            marker.unlink(missing_ok=True)
            _sync_folder(self.root)
        except OSError as error:
            raise _failed(self.root, "cannot be filled", error) from error
        return copied

    def _path(self, key: str) -> Path:
        check_key(key)
        return self.root / key

    def _put_if_absent(self, key: str, origin: KvFolder) -> bool:
        text = origin.get(key)
        if text is None:
            raise KvError(f"{origin.root / key}: it vanished while the store was filled from it")
        path = self._path(key)
        temporary = self._written_aside(path, text)
        try:
            os.link(temporary, path)  # fails when there is one already, in one step
            return True
        except FileExistsError:
            return False
        except OSError:
            # A file system without hard links: here a value that comes between the two steps is lost.
            if path.exists():
                return False
            shutil.move(temporary, path)
            return True
        finally:
            temporary.unlink(missing_ok=True)
            self._scan = None

    def _written_aside(self, path: Path, text: str) -> Path:
        """The value in a temporary file beside `path`, on the disk. Raises KvError."""
        try:
            value = text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise KvError(f"{path}: the value is not text that UTF-8 can hold ({error.reason})") from None
        if len(value) > MAX_VALUE_BYTES:
            raise KvError(f"{path}: the value has {len(value)} bytes, at most {MAX_VALUE_BYTES} are allowed")
        temporary = path.with_name(f".put-{secrets.token_hex(8)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with temporary.open("xb") as file:
                file.write(value)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise _failed(path, "cannot be written", error) from error
        return temporary

    def _remove_empty_folders(self, folder: Path) -> None:
        # So that a deleted `a/b` does not stand in the way of a key `a`.
        while folder != self.root:
            try:
                folder.rmdir()
            except OSError:
                return
            folder = folder.parent


def _is_key(name: str) -> bool:
    try:
        check_key(name)
    except KvError:
        return False
    return True


def _all_keys(source: Path) -> list[str]:
    """Every file of a seed folder as a key. Raises KvError when one cannot be: a seed must not be half used."""
    found = scan(source, MAX_SEGMENTS)
    if found.problems:
        raise KvError("; ".join(found.problems))
    for name in found.files:
        check_key(name)
    return sorted(found.files)


def _read(path: Path) -> bytes:
    # Without NONBLOCK, opening a named pipe would wait for a writer for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "it is not a regular file")
        return file.read(MAX_VALUE_BYTES + 1)


def _text(path: Path, value: bytes) -> str:
    if len(value) > MAX_VALUE_BYTES:
        raise KvError(f"{path} is larger than {MAX_VALUE_BYTES} bytes")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        raise KvError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None


def _failed(path: Path, what: str, error: OSError) -> KvError:
    return KvError(f"{path} {what}: {error.strerror or error}")


def _sync_folder(folder: Path) -> None:
    """Makes a rename last through a power cut, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
