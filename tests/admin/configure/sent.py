"""What a browser sends for a form as it stands."""

from __future__ import annotations

from typing import Any

from admin.configure.form import Control, Part, parts, shown_names
from admin.configure.kinds import SHOWN


def sent_by(form: tuple[Part, ...], names: str) -> dict[str, list[str]]:
    typed: dict[str, list[str]] = {SHOWN: [names]}
    for part in form:
        for control in part.controls:
            _send(control, typed)
    return typed


def form_of(kind: str, entry: dict[str, Any], zone: str = "UTC", *, in_group: bool = False) -> dict[str, list[str]]:
    """The form of an entry, sent as it stands."""
    return sent_by(parts(kind, entry, zone, in_group=in_group), shown_names(kind, in_group=in_group))


def _send(control: Control, typed: dict[str, list[str]]) -> None:
    if control.widget == "rows":
        for row in control.rows:
            for cell in row:
                _send(cell, typed)
    elif control.widget == "check":
        if control.is_on:
            typed[control.path] = ["1"]
    elif control.widget == "countries":
        typed[control.path] = list(control.chosen)
    elif control.widget == "lines" and "[" in control.path:
        typed[control.path] = [" ".join(control.chosen)]
    else:
        typed[control.path] = [control.text]
