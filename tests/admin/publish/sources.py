"""Brands made for a test, and the smallest store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from admin.publish import PublishError, publish

TEMPLATES = Path(__file__).parents[3] / "templates"


class Shelf(dict[str, str]):
    """The smallest store."""

    def put(self, key: str, text: str) -> None:
        self[key] = text

    def delete(self, key: str) -> bool:
        return self.pop(key, None) is not None

    def keys(self, prefix: str = "") -> list[str]:  # type: ignore[override]
        return [key for key in self if key.startswith(prefix)]


def make(templates: Path, brand: str = "mine", files: dict[str, str] | None = None, **values: Any) -> Path:
    """A brand folder: `values` go into brand.json beside the default's."""
    folder = templates / "brands" / brand
    folder.mkdir(exist_ok=True)
    (folder / "brand.json").write_text(json.dumps({"name": "Mine", "extends": "default"} | values, indent=1))
    for name, text in (files or {}).items():
        (folder / name).write_text(text)
    return folder


def refused(templates: Path, brand: str = "mine", languages: tuple[str, ...] = ("en",)) -> PublishError:
    """The fault for which a brand is not published."""
    with pytest.raises(PublishError) as caught:
        publish(brand, templates, languages)
    return caught.value
