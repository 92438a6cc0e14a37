"""Settings that are for trying out on one machine: a shell may still have them when the gate goes live."""

from __future__ import annotations

from cli.deploy.inputs import InputError
from host.settings import Settings

#: Setting -> what it would do to a live gate.
TRIAL_SETTINGS = {
    "STANCHION_COUNTRY_TRUST_ALL": "every visitor could choose a country",
    "STANCHION_LOCAL": "it marks a run on one machine, whose secrets were made for that run",
}


def check_no_trial(settings: Settings) -> None:
    """Raises InputError for a setting that is never for production."""
    for name, harm in TRIAL_SETTINGS.items():
        if settings[name] not in ("", "0"):
            way_out = "Unset it, or give --trial if this service is a trial"
            raise InputError(f"{name}={settings[name]} is for trying out: {harm}. {way_out}")
