"""What the environment says. Read once at start; everything wrong is told at once, in one line each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_PORT = 8082
DEFAULT_BIND = "127.0.0.1"
#: A token is all that stands between a network and the database.
MIN_TOKEN_CHARACTERS = 16


class BadSettings(Exception):
    """One line for each setting that cannot be used."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of this room.

    STANCHION_REDIS_PORT, STANCHION_BIND, STANCHION_REDIS_URL, UPSTASH_REDIS_REST_TOKEN,
    STANCHION_REDIS_READONLY_TOKEN. Port 0 means any free port. An empty URL means the embedded Redis.
    """

    port: int
    bind: str
    redis_url: str
    token: str
    read_only_token: str | None


def from_environment(environment: Mapping[str, str]) -> Settings:
    """The settings. Raises BadSettings."""
    problems = []
    port_text = environment.get("STANCHION_REDIS_PORT", "").strip() or str(DEFAULT_PORT)
    port = int(port_text) if port_text.isascii() and port_text.isdigit() else -1
    if not 0 <= port <= 65535:
        problems.append(f"STANCHION_REDIS_PORT must be a number from 0 to 65535, not {port_text[:40]!r}")
    token = environment.get("UPSTASH_REDIS_REST_TOKEN", "")
    problems += _token_problems("UPSTASH_REDIS_REST_TOKEN", token)
    read_only_token = environment.get("STANCHION_REDIS_READONLY_TOKEN", "") or None
    if read_only_token is not None:
        problems += _token_problems("STANCHION_REDIS_READONLY_TOKEN", read_only_token)
        if read_only_token == token:
            problems.append("STANCHION_REDIS_READONLY_TOKEN must differ from UPSTASH_REDIS_REST_TOKEN")
    if problems:
        raise BadSettings("\n".join(problems))
    bind = environment.get("STANCHION_BIND", "").strip() or DEFAULT_BIND
    return Settings(port, bind, environment.get("STANCHION_REDIS_URL", ""), token, read_only_token)


def _token_problems(name: str, token: str) -> list[str]:
    if not token:
        return [f"{name} is missing: set the bearer token that clients have to send"]
    if len(token) < MIN_TOKEN_CHARACTERS:
        return [f"{name} has {len(token)} characters, at least {MIN_TOKEN_CHARACTERS} are needed"]
    if not token.isascii() or not token.isprintable() or " " in token:
        return [f"{name} may hold printable ASCII without blanks only: it travels in a header"]
    return []
