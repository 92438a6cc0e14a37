"""A brand: a folder with `brand.json`, its own words, a mark, and templates where it differs from its parent.

brand.json, every key optional except `name`; what is left out comes from the brand that it `extends`, which is `default` unless
it says another:

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from admin.publish.artwork import KINDS
from admin.publish.brand_checks import KEYS, PICTURE_MAX_BYTES, faults, line_of
from admin.publish.colours import palette
from admin.publish.errors import PublishError
from edge.core import json_text
from edge.core.errors import ConfigError

__all__ = ["DEFAULT_BRAND", "KEYS", "PICTURE_MAX_BYTES", "Brand", "brand_faults", "line_of", "load_brand", "read_json"]

#: Every brand extends it that says nothing else.
DEFAULT_BRAND = "default"
_MAX_DEPTH = 8  # brands that extend brands
_DEFAULTS: dict[str, Any] = {
    "scheme": "auto", "radius_px": 8, "font": ["sans-serif"], "languages": [], "support": "", "texts": {},
}  # fmt: skip
_COLOUR_KEYS = frozenset({"brand", "surface", "ink", "brand_ink", "ground", "accent"})

Chain = list[tuple[Path, dict[str, Any]]]  # the files of a brand and of those it extends, nearest first


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
    """Reads a brand and its parents. Raises PublishError, naming file and line, for the first thing that is wrong."""
    chain = _chain(brand, templates_dir)
    for error in _faults(chain, templates_dir):
        raise error
    merged = _merged(chain)
    light, dark = (palette(merged[mode]) for mode in _modes(merged))
    return Brand(
        brand, merged["name"], merged["scheme"], light, dark, merged["radius_px"], merged["font"], merged["languages"],
        _picture(chain, "logo"), _picture(chain, "background"), merged["support"], merged["texts"],
        tuple(path.parent for path, _ in chain),
    )  # fmt: skip


def brand_faults(brand: str, templates_dir: Path) -> list[PublishError]:
    """Everything that is wrong with a brand's values, for a form that shows all of it at once."""
    try:
        return list(_faults(_chain(brand, templates_dir), templates_dir))
    except PublishError as error:
        return [error]


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


def _chain(brand: str, templates_dir: Path) -> Chain:
    chain: Chain = []
    wanted: str | None = brand
    while wanted is not None:
        told = str(chain[-1][0] if chain else templates_dir)
        if not isinstance(wanted, str) or Path(wanted).name != wanted or wanted.startswith(".") or not wanted:
            raise PublishError(told, 0, f"{str(wanted)[:80]!r} is no name of a brand", "extends" if chain else "")
        file = templates_dir / "brands" / wanted / "brand.json"
        if len(chain) == _MAX_DEPTH or any(file == seen for seen, _ in chain):
            raise PublishError(str(file), line_of(file, "extends"), "brands extend each other in a circle", "extends")
        if chain and not file.is_file():
            raise PublishError(told, line_of(chain[-1][0], "extends"), f"there is no such file: {file}", "extends")
        values = read_json(file)
        chain.append((file, values))
        wanted = values.get("extends", DEFAULT_BRAND if _has_default(wanted, templates_dir) else None)
    return chain


def _has_default(brand: str, templates_dir: Path) -> bool:
    return brand != DEFAULT_BRAND and (templates_dir / "brands" / DEFAULT_BRAND / "brand.json").is_file()


def _faults(chain: Chain, templates_dir: Path) -> Iterator[PublishError]:
    found = False
    for file, values in chain:
        for error in faults(file, values, templates_dir):
            found = True
            yield error
    file, values = chain[0]
    if "name" not in values and not any("name" in above for path, above in chain if path.parent.name != DEFAULT_BRAND):
        found = True
        yield PublishError(str(file), 0, "the key 'name' is missing: it stands at the top of every page", "name")
    if not found:
        yield from _colour_faults(chain)


def _merged(chain: Chain) -> dict[str, Any]:
    """The values of a brand over those of its parents; texts are put together key by key."""
    merged: dict[str, Any] = dict(_DEFAULTS)
    for _, values in reversed(chain):
        texts = dict(merged["texts"])
        for language, words in values.get("texts", {}).items():
            texts[language] = {**texts.get(language, {}), **words}
        merged |= values | {"texts": texts}
    return merged


def _modes(merged: Mapping[str, Any]) -> tuple[str, str]:
    scheme = merged["scheme"]
    return ("light", "dark") if scheme == "auto" else (scheme, scheme)


def _colour_faults(chain: Chain) -> Iterator[PublishError]:
    merged = _merged(chain)
    for mode in dict.fromkeys(_modes(merged)):
        file = next((path for path, values in chain if mode in values), chain[0][0])
        chosen = merged.get(mode, {})
        missing = {"brand", "surface", "ink"} - chosen.keys()
        strange = chosen.keys() - _COLOUR_KEYS
        if missing or strange:
            what = f"is missing {sorted(missing)}" if missing else f"has unknown keys {sorted(strange)}"
            yield PublishError(str(file), line_of(file, mode), f"{mode} {what}: it takes {sorted(_COLOUR_KEYS)}", mode)
            continue
        try:
            palette(chosen)
        except (ValueError, AttributeError, TypeError) as error:
            key = next((name for name in chosen if str(error).startswith(f"{name}:")), "")
            line = line_of(file, mode, *([key] if key else []))
            yield PublishError(str(file), line, f"{mode}: {error}", f"{mode}.{key}" if key else mode)


def _picture(chain: Chain, key: str) -> str:
    """The picture that the brand or its nearest parent names, as a data: URL; empty without one."""
    folder, name = next(((path.parent, values[key]) for path, values in chain if key in values), (Path(), ""))
    if not name:
        return ""
    file = folder / name
    return f"data:image/{KINDS[file.suffix.lower()]};base64,{base64.b64encode(file.read_bytes()).decode()}"
