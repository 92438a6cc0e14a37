"""Scripts with one place of their text changed, for as long as a test runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from edge.core import scripts
from edge.core.scripts import Script
from tests.faults.entries import Fault


class NotFound(Exception):
    """The text that a fault replaces is not there exactly once: the script has changed, and the fault must follow it."""


def changed_text(fault: Fault, text: str) -> str:
    """The text with the fault in it. Raises NotFound."""
    found = text.count(fault.old)
    if found != 1:
        raise NotFound(f"{fault.name}: found {found} times in {fault.file}.lua, not once: {fault.old!r}")
    return text.replace(fault.old, fault.new)


@contextmanager
def seeded(fault: Fault) -> Iterator[None]:
    """All scripts with the fault in them; the sound ones are back afterwards. Raises NotFound."""
    before, read = dict(vars(scripts)), scripts._source
    names = [name for name, value in before.items() if isinstance(value, Script)]

    def source(name: str) -> str:
        text = read(name)
        return changed_text(fault, text) if name == fault.file else text

    try:
        scripts._source = source
        for name in names:
            setattr(scripts, name, scripts.load(before[name].name))
        scripts.ALL = tuple(getattr(scripts, name) for name in names)
        if all(getattr(scripts, name).text == before[name].text for name in names):
            raise NotFound(f"{fault.name}: {fault.file}.lua is in no script")
        yield
    finally:
        scripts._source = read
        for name in (*names, "ALL"):
            setattr(scripts, name, before[name])
