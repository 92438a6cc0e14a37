"""A brand: a folder with `brand.json`, its own words, a mark, and templates where it differs from its parent.

brand.json, every key optional except `name` (a brand inherits what it does not say from the one that it `extends`):

    name       shown at the top of the page
    extends    the brand to inherit from
    scheme     "auto" (light and dark), "light" or "dark"
    light      {"brand", "surface", "ink", and optionally "brand_ink", "ground", "accent"}: colours as #rrggbb
    dark       the same for dark mode
    radius_px  corner radius, 0 to 40
    font       list of font families, the generic one last
    languages  list of languages to publish in, its own first; without it: all that there are translations for
    logo       picture in the brand's folder (svg, png, webp, jpg) in the place of mark.svg and the name
    background picture in the brand's folder that lies behind the page
    support    where "Get help" leads: an https:, mailto: or tel: address
    texts      {language: {key: text}}: replaces messages of the templates, by their key

A text may hold the placeholders of its message, as `{queue_name}`, and `{brand}`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from admin.publish.colours import palette
from admin.publish.errors import PublishError
from edge.core import json_text
from edge.core.errors import ConfigError

_SCHEMES = ("auto", "light", "dark")
_SUPPORT_STARTS = ("https://", "mailto:", "tel:")
_PICTURES = {".svg": "svg+xml", ".png": "png", ".webp": "webp", ".jpg": "jpeg"}
PICTURE_MAX_BYTES = 12 * 1024
_MAX_DEPTH = 8  # brands that extend brands
_DEFAULTS: dict[str, Any] = {
    "scheme": "auto", "radius_px": 8, "font": ["sans-serif"], "languages": [], "support": "", "texts": {},
}  # fmt: skip
_TYPES: dict[str, type] = {
    "name": str, "extends": str, "scheme": str, "light": dict, "dark": dict, "radius_px": int, "font": list,
    "languages": list, "logo": str, "background": str, "support": str, "texts": dict,
}  # fmt: skip
#: The keys of brand.json.
KEYS = tuple(_TYPES)
_COLOUR_KEYS = frozenset({"brand", "surface", "ink", "brand_ink", "ground", "accent"})


@dataclass(frozen=True)
class Brand:
    """A brand with everything inherited filled in. `folders`: where to look for its files, nearest first."""

    id: str
    name: str
    scheme: str
    light: Mapping[str, str]
    dark: Mapping[str, str]
    radius_px: int
    font: list[str]
    languages: list[str]
    logo: str
    background: str
    support: str
    texts: Mapping[str, Mapping[str, str]]
    folders: tuple[Path, ...]


def load_brand(brand: str, templates_dir: Path) -> Brand:
    """Reads a brand and its parents. Raises PublishError, naming file and line."""
    merged: dict[str, Any] = dict(_DEFAULTS)
    chain = _chain(brand, templates_dir)
    for _, values in reversed(chain):
        texts = dict(merged["texts"])
        for language, words in values.get("texts", {}).items():
            texts[language] = {**texts.get(language, {}), **words}
        merged |= values | {"texts": texts}
    file = chain[0][0]
    if "name" not in merged:
        raise PublishError(str(file), 0, "the key 'name' is missing")
    scheme = merged["scheme"]
    if scheme not in _SCHEMES:
        raise PublishError(str(file), line_of(file, "scheme"), f"scheme {scheme!r}: one of {', '.join(_SCHEMES)}")
    light, dark = (_colours(chain, merged, mode) for mode in (("light", "dark") if scheme == "auto" else (scheme, scheme)))
    return Brand(
        brand, merged["name"], scheme, light, dark, merged["radius_px"], merged["font"], merged["languages"],
        _picture(chain, "logo"), _picture(chain, "background"), merged["support"], merged["texts"],
        tuple(path.parent for path, _ in chain),
    )  # fmt: skip


def line_of(file: Path, key: str) -> int:
    """The line (from 1) of a JSON file on which a key first stands; 0 if it does not."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if f'"{key}"' in line), 0)


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises PublishError, naming file and line."""
    try:
        values = json_text.read_json(file.read_bytes())
    except FileNotFoundError:
        raise PublishError(str(file), 0, "there is no such file") from None
    except ConfigError as error:
        cause = error.__cause__
        line = cause.lineno if isinstance(cause, json.JSONDecodeError) else line_of(file, error.path) if error.path else 0
        raise PublishError(str(file), line, str(error)) from error
    if not isinstance(values, dict):
        raise PublishError(str(file), 1, "must hold one JSON object")
    return values


def _chain(brand: str, templates_dir: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The files of a brand and of those it extends, nearest first."""
    chain: list[tuple[Path, dict[str, Any]]] = []
    wanted: str | None = brand
    while wanted is not None:
        if Path(wanted).name != wanted or wanted.startswith("."):
            raise PublishError(str(chain[-1][0] if chain else templates_dir), 0, f"{wanted!r} is no name of a brand")
        file = templates_dir / "brands" / wanted / "brand.json"
        if len(chain) == _MAX_DEPTH or any(file == seen for seen, _ in chain):
            raise PublishError(str(file), line_of(file, "extends"), "brands extend each other in a circle")
        values = read_json(file)
        _check(file, values)
        chain.append((file, values))
        wanted = values.get("extends")
    return chain


def _check(file: Path, values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        if key not in _TYPES:
            raise PublishError(str(file), line_of(file, key), f"unknown key {key!r}: one of {', '.join(_TYPES)}")
        if not isinstance(value, _TYPES[key]) or isinstance(value, bool):
            raise PublishError(str(file), line_of(file, key), f"{key} must be of type {_TYPES[key].__name__}")
    if not 0 <= values.get("radius_px", 0) <= 40:
        raise PublishError(str(file), line_of(file, "radius_px"), "radius_px must be from 0 to 40")
    for family in values.get("font", []):
        if not isinstance(family, str) or not family.replace(" ", "").replace("-", "").isalnum():
            raise PublishError(str(file), line_of(file, "font"), f"font {family!r}: letters, digits, blanks and '-' only")
    if values.get("support") and not values["support"].startswith(_SUPPORT_STARTS):
        raise PublishError(str(file), line_of(file, "support"), f"support must start with {', '.join(_SUPPORT_STARTS)}")
    for language in values.get("languages", []):
        if not isinstance(language, str) or not language.replace("-", "").isalnum() or not language.isascii():
            raise PublishError(str(file), line_of(file, "languages"), f"{language!r} is no language tag, as en or pt-BR")
    for language, words in values.get("texts", {}).items():
        if not isinstance(words, dict) or not all(isinstance(text, str) for text in words.values()):
            raise PublishError(str(file), line_of(file, language), f"texts.{language} must hold texts by key")


def _picture(chain: list[tuple[Path, dict[str, Any]]], key: str) -> str:
    """The picture that the brand or its nearest parent names, as a data: URL; empty without one."""
    file, name = next(((path, values[key]) for path, values in chain if key in values), (chain[0][0], ""))
    if not name:
        return ""
    picture, kind = file.parent / name, _PICTURES.get(Path(name).suffix.lower())
    if Path(name).name != name or kind is None:
        raise PublishError(str(file), line_of(file, key), f"{key} {name!r}: a file beside brand.json, {', '.join(_PICTURES)}")
    if not picture.is_file():
        raise PublishError(str(file), line_of(file, key), f"{key} {name!r}: there is no such file")
    if (size := picture.stat().st_size) > PICTURE_MAX_BYTES:
        raise PublishError(str(picture), 0, f"{size} bytes: a picture may have {PICTURE_MAX_BYTES}, for every visitor loads it")
    return f"data:image/{kind};base64,{base64.b64encode(picture.read_bytes()).decode()}"


def _colours(chain: list[tuple[Path, dict[str, Any]]], merged: Mapping[str, Any], mode: str) -> dict[str, str]:
    file = next((path for path, values in chain if mode in values), chain[0][0])
    chosen = merged.get(mode, {})
    missing = {"brand", "surface", "ink"} - chosen.keys()
    strange = chosen.keys() - _COLOUR_KEYS
    if missing or strange:
        what = f"is missing {sorted(missing)}" if missing else f"has unknown keys {sorted(strange)}"
        raise PublishError(str(file), line_of(file, mode), f"{mode} {what}: it takes {sorted(_COLOUR_KEYS)}")
    try:
        return palette(chosen)
    except (ValueError, AttributeError, TypeError) as error:
        line = next((n for key in chosen if str(error).startswith(f"{key}:") and (n := line_of(file, key))), 0)
        raise PublishError(str(file), line or line_of(file, mode), f"{mode}: {error}") from error
