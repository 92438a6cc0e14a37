"""Whether a brand's picture is one: whole, of the kind that its name says, and inert.

Pictures stand in every page as data: URLs in <img> and CSS, where a browser runs no script of theirs; what could run elsewhere,
once somebody saves the picture, is refused all the same. Formats: PNG (third edition) sections 5.2 to 5.6, JFIF 1.02 appendix B,
the WebP container specification, SVG 2.
"""

from __future__ import annotations

import re
import zlib
from xml.etree import ElementTree

#: What a file's name says of it.
KINDS = {".svg": "svg+xml", ".png": "png", ".webp": "webp", ".jpg": "jpeg"}
SIDE_MAX_PX = 4096
_SVG = "http://www.w3.org/2000/svg"
_REFUSED = frozenset({"script", "foreignObject", "iframe", "object", "embed", "audio", "video", "handler", "set", "animate"})


class NoPictureError(ValueError):
    """Not a picture of its kind. The text says what is wrong and what to do."""


def check_picture(kind: str, content: bytes) -> None:
    """Raises NoPictureError unless `content` is a whole picture of `kind`, one of the values of KINDS."""
    _CHECKS[kind](content)


def _svg(content: bytes) -> None:
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise NoPictureError("a drawing with a document type: save it as plain SVG, without <!DOCTYPE> and entities")
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise NoPictureError(f"no SVG: {error}; save it once more from the drawing program") from None
    if root.tag != f"{{{_SVG}}}svg":
        raise NoPictureError(f'no SVG: it must begin with <svg xmlns="{_SVG}">, else browsers show nothing')
    if "viewBox" not in root.attrib and not {"width", "height"} <= root.attrib.keys():
        raise NoPictureError("a drawing without a size: give <svg> a viewBox")
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2]
        if name in _REFUSED:
            raise NoPictureError(f"a drawing with <{name}>: take it out, a picture may only be looked at")
        for attribute, value in element.attrib.items():
            _attribute(name, attribute.rpartition("}")[2], value)
        if name == "style":
            _style(element.text or "")


def _attribute(element: str, name: str, value: str) -> None:
    if name.lower().startswith("on"):
        raise NoPictureError(f"a drawing with a script in <{element} {name}>: take it out")
    if name == "href" and not value.strip().startswith(("#", "data:image/")):
        raise NoPictureError(f"a drawing whose <{element}> refers to {value[:60]!r}: put what it shows into the file itself")
    _style(value)


def _style(text: str) -> None:
    lowered = text.lower()
    targets = re.findall(r"url\(\s*['\"]?\s*([^)'\"]*)", lowered)
    outside = next((target for target in targets if not target.startswith(("#", "data:image/", "data:font/"))), None)
    if "@import" in lowered or outside is not None:
        raise NoPictureError(f"a drawing whose style refers to {(outside or '@import')[:60]!r}: put it into the file itself")


def _png(content: bytes) -> None:
    if not content.startswith(b"\x89PNG\r\n\x1a\n"):
        raise NoPictureError("no PNG, whatever its name says: export it once more as PNG")
    at, names = 8, list[bytes]()
    while at + 12 <= len(content) and names[-1:] != [b"IEND"]:
        size = int.from_bytes(content[at : at + 4])
        name, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + size]
        if content[at + 8 + size : at + 12 + size] != zlib.crc32(name + data).to_bytes(4):
            break
        if name == b"IHDR":
            _sides(int.from_bytes(data[:4]), int.from_bytes(data[4:8]))
        names.append(name)
        at += 12 + size
    if names[:1] != [b"IHDR"] or names[-1] != b"IEND" or b"IDAT" not in names:
        raise NoPictureError("a PNG that is cut off or damaged: export it once more")


def _jpeg(content: bytes) -> None:
    if not content.startswith(b"\xff\xd8\xff"):
        raise NoPictureError("no JPEG, whatever its name says: export it once more as JPEG")
    at, sized = 2, False
    while at + 4 <= len(content) and content[at] == 0xFF and content[at + 1] != 0xDA:
        marker, size = content[at + 1], int.from_bytes(content[at + 2 : at + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            _sides(int.from_bytes(content[at + 7 : at + 9]), int.from_bytes(content[at + 5 : at + 7]))
            sized = True
        at += 2 + max(2, size)
    if not sized or content[at : at + 2] != b"\xff\xda" or b"\xff\xd9" not in content[at:]:
        raise NoPictureError("a JPEG that is cut off or damaged: export it once more")


def _webp(content: bytes) -> None:
    if content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        raise NoPictureError("no WebP, whatever its name says: export it once more as WebP")
    told = int.from_bytes(content[4:8], "little") + 8
    if content[12:16] not in (b"VP8 ", b"VP8L", b"VP8X") or told > len(content) or told < 20:
        raise NoPictureError("a WebP that is cut off or damaged: export it once more")


def _sides(width_px: int, height_px: int) -> None:
    if not (0 < width_px <= SIDE_MAX_PX and 0 < height_px <= SIDE_MAX_PX):
        raise NoPictureError(f"{width_px} x {height_px} pixels: each side must be from 1 to {SIDE_MAX_PX:,}")


_CHECKS = {"svg+xml": _svg, "png": _png, "jpeg": _jpeg, "webp": _webp}
