"""The Lua scripts as one text each, read when the component is built and carried inside it.

`--@include name` stands for the whole of `name.lua`; comments and blank lines are not sent. Constants are written in where they
are used, for Lua allows a script 200 local names.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import Literal

Flavour = Literal["redis", "upstash"]

# Upstash then locks the declared keys only, not the whole database; stock Redis refuses the flag.
_SHEBANG: dict[str, str] = {"redis": "", "upstash": "#!lua flags=allow-key-locking\n"}


@dataclass(frozen=True)
class Script:
    """One script: its name, and for each flavour of server its text and the SHA-1 that EVALSHA wants."""

    name: str
    text: dict[str, str]
    sha: dict[str, str]


def _source(name: str) -> str:
    return resources.files(__package__).joinpath(f"{name}.lua").read_text(encoding="utf-8")


def _assemble(name: str) -> str:
    lines: list[str] = []
    for line in _source(name).splitlines():
        if line.startswith("--@include "):
            lines.append(_assemble(line.removeprefix("--@include ").strip()))
        elif line.strip() and not line.lstrip().startswith("--"):
            lines.append(line.strip())
    return "\n".join(lines)


_CONSTANT = re.compile(r"^local ([A-Z][A-Z_]+) = ([0-9][0-9e *^]*)$", re.MULTILINE)


def _with_constants(text: str) -> str:
    values = dict(_CONSTANT.findall(text))
    names = "|".join(values)
    return re.sub(rf"\b({names})\b", lambda found: f"({values[found[1]]})", re.sub(r"\n+", "\n", _CONSTANT.sub("", text)))


def load(name: str) -> Script:
    """The script `name`. Raises FileNotFoundError if there is none."""
    body = _with_constants(_assemble(name))
    text = {flavour: shebang + body for flavour, shebang in _SHEBANG.items()}
    sha = {flavour: hashlib.sha1(value.encode()).hexdigest() for flavour, value in text.items()}
    return Script(name, text, sha)


JOIN, TOUCH, RENEW, END = load("join"), load("touch"), load("renew"), load("end")
SNAPSHOT, CONFIGURE, LIMITS, CONTROL, ADMIT = load("snapshot"), load("configure"), load("limits"), load("control"), load("admit")
OPEN, CHECKOUT, LOOK = load("open"), load("checkout"), load("look")
ALL = (JOIN, TOUCH, RENEW, END, SNAPSHOT, CONFIGURE, LIMITS, CONTROL, ADMIT, OPEN, CHECKOUT, LOOK)
