"""One look at a folder: its files, and a number that differs whenever something in it does.

The number is made of each file's path, size, inode and times. Two edits in place within one tick of the file system's clock
leave the same times and sizes; so a file that changed less than RECENT_NS before the look is marked, and the look after that
time, without the mark, gives another number. The price is that each edit is noticed twice.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

#: Longer than the coarsest tick in use (FAT: 2 s).
RECENT_NS = 2_100_000_000
#: Files beyond this number are not looked at; a store has some hundred.
MAX_FILES = 20_000


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look found. `files` are paths below the root with `/`; `problems` name what could not be looked at."""

    number: int
    files: list[str]
    problems: list[str]


def scan(root: Path, max_depth: int, now_ns: int | None = None) -> Scan:
    """Looks at every file below `root` whose path has no part that starts with a dot. Follows links. Never raises."""
    recent_since_ns = (time.time_ns() if now_ns is None else now_ns) - RECENT_NS
    files: list[str] = []
    problems: list[str] = []
    digest = blake2b(digest_size=8)
    for name, status in sorted(_walk(root, "", max_depth, problems)):
        files.append(name)
        is_recent = max(status.st_mtime_ns, status.st_ctime_ns) > recent_since_ns
        fields = (name, status.st_size, status.st_ino, status.st_dev, status.st_mtime_ns, status.st_ctime_ns, is_recent)
        digest.update(repr(fields).encode("utf-8", "surrogateescape"))
    digest.update(repr(problems).encode("utf-8", "surrogateescape"))
    return Scan(int.from_bytes(digest.digest(), "big") >> 1, files, problems)


def _walk(folder: Path, prefix: str, depth_left: int, problems: list[str]) -> Iterator[tuple[str, os.stat_result]]:
    try:
        with os.scandir(folder) as listing:
            entries = [entry for entry in listing if not entry.name.startswith(".")]
    except OSError as error:
        problems.append(f"{folder} cannot be listed: {error.strerror or error}")
        return
    if len(entries) > MAX_FILES:
        problems.append(f"{folder} holds more than {MAX_FILES} files")
        return
    for entry in entries:
        try:
            status = entry.stat()
        except FileNotFoundError:
            continue  # deleted since it was listed, or a link to nowhere: absent either way
        except OSError as error:
            problems.append(f"{entry.path} cannot be looked at: {error.strerror or error}")
            continue
        if stat.S_ISDIR(status.st_mode):
            if depth_left > 1:
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", depth_left - 1, problems)
        elif stat.S_ISREG(status.st_mode):
            yield prefix + entry.name, status
