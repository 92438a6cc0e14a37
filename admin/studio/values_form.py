"""The form of a brand's values: from brand.json to fields, and from what was typed back to brand.json.

A field left empty is inherited from the brand that this one extends. Keys that the form does not show stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MODES = ("light", "dark")
COLOURS = ("brand", "surface", "ink", "brand_ink", "ground", "accent")
SCHEMES = ("auto", "light", "dark")
_TEXTS = ("name", "extends", "scheme", "support", "logo", "background")
#: What begins the name of a field that holds a message of the language that is shown.
TEXT_PREFIX = "text."
LANGUAGE_PREFIX = "language."


@dataclass(frozen=True)
class FieldError:
    """What is wrong with a field, or with the whole when `field` is empty."""

    field: str
    problem: str


def fields_of(values: Mapping[str, Any], language: str) -> dict[str, str]:
    """What stands in the fields; messages of one language."""
    out = {name: _text(values.get(name)) for name in _TEXTS}
    for mode in MODES:
        colours = values.get(mode)
        for colour in COLOURS:
            out[f"{mode}.{colour}"] = _text(colours.get(colour)) if isinstance(colours, dict) else ""
    out["radius_px"] = _text(values.get("radius_px"))
    font, languages = values.get("font"), values.get("languages")
    out["font"] = "\n".join(map(str, font)) if isinstance(font, list) else ""
    for name in languages if isinstance(languages, list) else ():
        out[f"{LANGUAGE_PREFIX}{name}"] = "1"
    texts = values.get("texts")
    own = texts.get(language) if isinstance(texts, dict) else None
    for key, text in (own if isinstance(own, dict) else {}).items():
        out[f"{TEXT_PREFIX}{key}"] = _text(text)
    return out


def values_of(
    before: Mapping[str, Any], form: Mapping[str, str], language: str, languages: Sequence[str]
) -> tuple[dict[str, Any], list[FieldError]]:
    """brand.json after the form, and what cannot be. `languages`: those to choose from; `language`: of the messages sent.

    Only fields that were sent count, so a part of the form changes a part of the values.
    """
    values, errors = dict(before), list[FieldError]()
    for name in (name for name in _TEXTS if name in form):
        _set(values, name, form[name].strip() or None)
    for mode in MODES:
        _set_colours(values, mode, form)
    if "radius_px" in form:
        errors += _set_radius(values, form["radius_px"].strip())
    if "font" in form:
        _set(values, "font", [line.strip() for line in form["font"].splitlines() if line.strip()] or None)
    if "languages" in form:
        chosen = [name for name in languages if form.get(f"{LANGUAGE_PREFIX}{name}")]
        _set(values, "languages", _ordered(before.get("languages"), chosen) or None)
    _set_texts(values, language, form)
    return values, errors


def _ordered(before: Any, chosen: list[str]) -> list[str]:
    """The brand's own language stays the first."""
    order = before if isinstance(before, list) else []
    return sorted(chosen, key=lambda name: order.index(name) if name in order else len(order))


def _set(values: dict[str, Any], name: str, value: Any) -> None:
    if value is None:
        values.pop(name, None)
    else:
        values[name] = value


def _set_colours(values: dict[str, Any], mode: str, form: Mapping[str, str]) -> None:
    sent = {colour: form[f"{mode}.{colour}"].strip() for colour in COLOURS if f"{mode}.{colour}" in form}
    if not sent:
        return
    before = values.get(mode)
    colours = dict(before) if isinstance(before, dict) else {}
    for colour, text in sent.items():
        _set(colours, colour, _hexed(text) if text else None)
    _set(values, mode, colours or None)


def _hexed(text: str) -> str:
    """A colour as typed by hand: the # may be left out."""
    plain = text.lower()
    return f"#{plain}" if len(plain) in (3, 6) and all(digit in "0123456789abcdef" for digit in plain) else plain


def _set_radius(values: dict[str, Any], text: str) -> list[FieldError]:
    if not text:
        values.pop("radius_px", None)
    elif text.isascii() and text.isdigit() and len(text) <= 3:
        values["radius_px"] = int(text)
    else:
        return [FieldError("radius_px", f"“{text[:20]}” is no number of pixels: 0 to 40")]
    return []


def _set_texts(values: dict[str, Any], language: str, form: Mapping[str, str]) -> None:
    sent = {name.removeprefix(TEXT_PREFIX): text for name, text in form.items() if name.startswith(TEXT_PREFIX)}
    if not sent:
        return
    before = values.get("texts")
    texts = dict(before) if isinstance(before, dict) else {}
    had = texts.get(language)
    own = dict(had) if isinstance(had, dict) else {}
    for key, text in sent.items():
        _set(own, key, text.strip() or None)
    _set(texts, language, own or None)
    _set(values, "texts", texts or None)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def field_of(fault: str, language: str) -> str:
    """The field of the form for the key of brand.json that publishing names; empty: none that is shown now."""
    head, _, rest = fault.partition(".")
    if head != "texts":
        return fault
    tongue, _, key = rest.partition(".")
    return f"{TEXT_PREFIX}{key}" if tongue == language and key else ""
