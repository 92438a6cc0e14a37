"""What the form of a brand shows: inherited values, colours as they will be, pictures; and faults in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import escape

from admin.console.studio.view import by_field
from admin.operate.moments import known_zone, shown
from admin.publish.artwork import KINDS, NoPictureError, check_picture
from admin.publish.brand import PICTURE_MAX_BYTES
from admin.publish.colours import palette
from admin.publish.errors import PublishError
from admin.state.brands import Draft
from admin.studio.content import PICTURE_NAME, TEXT_NAME, BadContent, Content
from admin.studio.studio import Sheet
from admin.studio.values_form import COLOURS, MODES
from admin.words import _

PICTURES = ("logo", "background")
_ENDINGS = {"svg": "svg", "png": "png", "webp": "webp", "jpg": "jpg", "jpeg": "jpg"}
# Which of the palette's colours comes from which value of the form.
_BECOMES = {"brand": "brand", "brand_ink": "brand-ink", "surface": "surface", "ink": "ink", "ground": "ground", "accent": "fill"}
_NO_COLOUR = "#888888"


def look_values(sheet: Sheet, shown: Mapping[str, str], brands: Sequence[str]) -> dict[str, Any]:
    """The values of the tab beside what is typed."""
    values = sheet.content.values
    return {
        "brands": [name for name in brands if name != sheet.brand], "inherited": by_field({}), "notes": by_field(notes(values)),
        "shown": {f"{mode}.{colour}": _swatch(values, mode, colour, shown) for mode in MODES for colour in COLOURS},
    }  # fmt: skip


def notes(values: Mapping[str, Any]) -> dict[str, str]:
    """Where a colour will not be as it was chosen, because it could not be read."""
    out = {}
    for mode in MODES:
        chosen, made = values.get(mode), _palette(values, mode)
        for colour in COLOURS:
            given = chosen.get(colour) if isinstance(chosen, dict) else None
            if isinstance(given, str) and given and made and made[_BECOMES[colour]].lower() != given.lower():
                out[f"{mode}.{colour}"] = _("Shown as %(colour)s, so that it can be read.") % {"colour": made[_BECOMES[colour]]}
    return out


def _palette(values: Mapping[str, Any], mode: str) -> dict[str, str]:
    chosen = values.get(mode)
    if not isinstance(chosen, dict) or not {"brand", "surface", "ink"} <= chosen.keys():
        return {}
    try:
        return palette(chosen)
    except (ValueError, AttributeError, TypeError):
        return {}


def _swatch(values: Mapping[str, Any], mode: str, colour: str, shown: Mapping[str, str]) -> str:
    typed = shown.get(f"{mode}.{colour}", "")
    if len(typed) == 7 and typed.startswith("#"):
        return typed
    return _palette(values, mode).get(_BECOMES[colour], _NO_COLOUR)


def draft_word(draft: Draft, zone: str) -> str:
    """Whose the draft is, and of when in this zone."""
    return _("Draft, saved %(when)s by %(who)s") % {"when": shown(draft.at_ms, known_zone(zone)), "who": draft.by}


def fault_word(error: PublishError) -> str:
    """File, line and what to do; folders that only the machine knows are left out."""
    file = error.file.rpartition("/")[2] or error.file
    return f"{file}:{error.line}: {error.what}" if error.line else f"{file}: {error.what}"


def unfit_page(error: PublishError) -> str:
    """What stands in the frame when the page cannot be made."""
    heading, text = escape(_("This page cannot be shown")), escape(fault_word(error))
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{heading}</title><h1>{heading}</h1><p>{text}</p></html>'


def editable(content: Content) -> list[str]:
    """The files that are edited as text, brand.json first."""
    return sorted((name for name in content.files if TEXT_NAME.fullmatch(name)), key=lambda name: (name != "brand.json", name))


def with_picture(content: Content, key: str, name: str, data: bytes, *, remove: bool) -> Content:
    """The brand with another picture, or without it. Raises BadContent."""
    if key not in PICTURES:
        raise BadContent("key", "must be logo or background")
    before = content.values.get(key)
    values = {other: value for other, value in content.values.items() if other != key}
    if remove:
        kept = content.without(before) if isinstance(before, str) and PICTURE_NAME.fullmatch(before) else content
        return kept.with_values(values)
    ending = _ENDINGS.get(name.rpartition(".")[2].lower())
    if not data or ending is None:
        raise BadContent(key, _("choose a picture first: svg, png, webp or jpg"))
    if len(data) > PICTURE_MAX_BYTES:
        raise BadContent(key, _("larger than %(kib)s KB, for every visitor loads it") % {"kib": PICTURE_MAX_BYTES // 1024})
    try:
        check_picture(KINDS[f".{ending}"], data)
    except NoPictureError as error:
        raise BadContent(key, str(error)) from error
    file = f"{key}.{ending}"
    return content.with_file(file, data).with_values({**values, key: file})
