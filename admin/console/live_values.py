"""The values that move on a page, by the names that the templates give to their elements."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Live:
    """Values by element name."""

    text: dict[str, str] = field(default_factory=dict)
    attr: dict[str, dict[str, str]] = field(default_factory=dict)
    hidden: dict[str, bool] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """For the script of the page."""
        return {"text": self.text, "attr": self.attr, "hidden": self.hidden}
