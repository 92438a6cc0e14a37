"""A fault put into the scripts, to see that a test finds it."""

from __future__ import annotations

import hashlib

import pytest

from edge.core import scripts


def put_in(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Every script has `new` for `old` until the test ends. Fails when no script has `old`."""
    changed = []
    for script in scripts.ALL:
        text = script.text["redis"].replace(old, f"{new} ")
        if old in script.text["redis"]:
            sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
            script = scripts.Script(script.name, {"redis": text}, {"redis": sha})
            monkeypatch.setattr(scripts, script.name.upper(), script)
        changed.append(script)
    assert tuple(changed) != scripts.ALL, "the fault is nowhere put in"
    monkeypatch.setattr(scripts, "ALL", tuple(changed))
