"""What a local run makes for itself: secrets that are nobody's default, and the environment of its parts."""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from host.settings import Settings

STATE_DIR = Path(".stanchion")


@dataclass(frozen=True)
class LocalSecrets:
    """Made once, kept in a file that only its owner reads."""

    signing_keys: str
    rest_token: str


def local_secrets(folder: Path = STATE_DIR) -> LocalSecrets:
    """The secrets of this working copy; made at the first call. Raises OSError when the folder cannot be written."""
    path = folder / "secrets.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
        made = {"signing_keys": f"k1:{key}", "rest_token": secrets.token_urlsafe(32)}
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(made, file)
    kept = json.loads(path.read_text())
    return LocalSecrets(kept["signing_keys"], kept["rest_token"])


def environment(settings: Settings, given: Mapping[str, str], made: LocalSecrets) -> dict[str, str]:
    """The environment of every part: what the user gave, and the local answer to what is open."""
    open_answers = {
        "STANCHION_LOCAL": "1",
        "STANCHION_SIGNING_KEYS": made.signing_keys,
        "UPSTASH_REDIS_REST_URL": settings.redis_rest_url,
        "UPSTASH_REDIS_REST_TOKEN": made.rest_token,
        "STANCHION_ORIGIN_URL": settings.origin_url,
    }
    environ = dict(given)
    for name, value in open_answers.items():
        if not environ.get(name):
            environ[name] = value
    return environ


class Started:
    """Which queues and groups have ever been started on which Redis: a state that is missing there afterwards was lost."""

    def __init__(self, folder: Path = STATE_DIR) -> None:
        self._path = folder / "started.json"

    def _read(self) -> dict[str, list[str]]:
        try:
            found = json.loads(self._path.read_text())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def known(self, redis: str) -> set[str]:
        """Ids of the queues and groups that were started on this Redis (any text that names it)."""
        return set(self._read().get(redis, []))

    def add(self, redis: str, queue_ids: set[str]) -> None:
        """Notes queues and groups as started."""
        everything = self._read()
        everything[redis] = sorted(set(everything.get(redis, [])) | queue_ids)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps(everything))
        draft.replace(self._path)
