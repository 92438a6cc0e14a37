"""Brand colours that can be read: contrast is computed, and corrected where a brand's choice is too faint.

Contrast and relative luminance: WCAG 2.2, https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio. Text needs 4.5:1
(success criterion 1.4.3), the parts of a control 3:1 (1.4.11).
"""

from __future__ import annotations

from collections.abc import Mapping

TEXT_CONTRAST = 4.5
PART_CONTRAST = 3.0
_STEPS = 200

Colour = tuple[int, int, int]
BLACK: Colour = (0, 0, 0)
WHITE: Colour = (255, 255, 255)


def parse(text: str) -> Colour:
    """A colour from "#rgb" or "#rrggbb". Raises ValueError for anything else."""
    digits = text[1:]
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    if text[:1] != "#" or len(digits) != 6 or not set(digits.lower()) <= set("0123456789abcdef"):
        raise ValueError(f"{text!r} is no colour: write it as #rrggbb")
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def css(colour: Colour) -> str:
    """The colour as "#rrggbb"."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


def luminance(colour: Colour) -> float:
    """Relative luminance, from 0 (black) to 1 (white)."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (c / 255 for c in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """Contrast ratio of two colours, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """`one` with `share` (0 to 1) of `other` in it."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def readable(colour: Colour, *grounds: Colour, ratio: float = TEXT_CONTRAST) -> Colour:
    """`colour`, moved towards black or white only as far as it takes to stand out from every ground by `ratio`.

    Raises ValueError when neither black nor white would do, which needs grounds that are far apart.
    """
    for step in range(_STEPS + 1):
        for end in (BLACK, WHITE):
            moved = mix(colour, end, step / _STEPS)
            if all(contrast(moved, ground) >= ratio for ground in grounds):
                return moved
    raise ValueError(f"no shade of {css(colour)} can be read on {' and '.join(map(css, grounds))}")


def palette(chosen: Mapping[str, str]) -> dict[str, str]:
    """The page's colours from a brand's `brand`, `surface` and `ink` (and optionally `brand_ink`, `ground`, `accent`).

    surface: behind text. ground: around the surface. ink, muted, link: text on both. brand_ink: text on brand.
    line: hairlines (decoration). edge: outline of controls. track, fill: the bar.
    Raises ValueError, naming the key, for a colour that cannot be read.
    """
    given = {key: _named(key, value) for key, value in chosen.items()}
    surface, brand = given["surface"], given["brand"]
    ground = given.get("ground", surface)
    ink = readable(given["ink"], surface, ground)
    brand_ink = readable(given.get("brand_ink", _nearer(brand, surface, ink)), brand)
    track = mix(surface, ink, 0.12)
    colours = {
        "surface": surface,
        "ground": ground,
        "brand": brand,
        "ink": ink,
        "brand-ink": brand_ink,
        "muted": readable(mix(ink, surface, 0.35), surface, ground),
        "link": readable(given.get("accent", brand), surface, ground),
        "line": mix(surface, ink, 0.14),
        "edge": readable(mix(ink, surface, 0.5), surface, ground, ratio=PART_CONTRAST),
        "track": track,
        "fill": readable(given.get("accent", brand), track, surface, ratio=PART_CONTRAST),
    }
    return {key: css(colour) for key, colour in colours.items()}


def _named(key: str, value: str) -> Colour:
    try:
        return parse(value)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from error


def _nearer(ground: Colour, *candidates: Colour) -> Colour:
    return max(candidates, key=lambda colour: contrast(colour, ground))
