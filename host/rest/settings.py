"""What the environment says to this room: the common table (`host.settings`), and what only the door asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from host.setting_rules import RULES
from host.settings import SettingError, load

#: A token is all that stands between a network and the database.
MIN_TOKEN_CHARACTERS = 16
_TOKEN = "UPSTASH_REDIS_REST_TOKEN"
_READ_ONLY_TOKEN = "STANCHION_REDIS_READONLY_TOKEN"


@dataclass(frozen=True, slots=True)
class DoorSettings:
    """STANCHION_REDIS_PORT (0: any free port), STANCHION_BIND, STANCHION_REDIS_URL and the two tokens."""

    port: int
    bind: str
    redis_url: str
    token: str
    read_only_token: str | None


def from_environment(environment: Mapping[str, str]) -> DoorSettings:
    """The settings of the door. Raises host.settings.SettingError for the first that cannot be used."""
    settings = load(environment, required=(_TOKEN,))
    tokens = {name: settings[name] for name in (_TOKEN, _READ_ONLY_TOKEN)}
    for name, token in tokens.items():
        if token:
            _check_token(name, token)
    if tokens[_TOKEN] == tokens[_READ_ONLY_TOKEN]:
        raise SettingError(_READ_ONLY_TOKEN, "it is the same as the full token", f"another one than {_TOKEN}")
    return DoorSettings(
        port=settings.number("STANCHION_REDIS_PORT"),
        bind=settings["STANCHION_BIND"],
        redis_url=settings["STANCHION_REDIS_URL"],
        token=tokens[_TOKEN],
        read_only_token=tokens[_READ_ONLY_TOKEN] or None,
    )


def _check_token(name: str, token: str) -> None:
    if len(token) < MIN_TOKEN_CHARACTERS:
        raise SettingError(name, f"it has {len(token)} characters", f"{MIN_TOKEN_CHARACTERS} characters or more")
    allowed = RULES["bearer"](token)
    if allowed is not None:
        raise SettingError(name, "it cannot travel in a header", allowed)
