"""Small secrets in files that only their owner can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class SecretFileError(Exception):
    """A secret file cannot be read or made. The text says which and what to do."""


def read(path: Path) -> str | None:
    """The secret in the file, or None if there is no file. Raises SecretFileError when others may read it, or it is empty."""
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read().strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SecretFileError(f"{path} cannot be read: {error}") from error
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise SecretFileError(f"{path} holds a secret and others may read it. Run: chmod 600 {path}")
    if not text:
        raise SecretFileError(f"{path} is empty. Delete it, and a new one is made.")
    return text


def create(path: Path, secret: str) -> str:
    """Writes the secret if there is no file yet, and returns what the file holds then. Raises SecretFileError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Written aside and linked into place: whoever starts at the same time finds a whole file or none.
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secret + "\n")
        try:
            os.link(aside, path)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    except OSError as error:
        raise SecretFileError(f"{path} cannot be made: {error}") from error
    held = read(path)
    if held is None:
        raise SecretFileError(f"{path} was removed while the app started. Start it again.")
    return held
