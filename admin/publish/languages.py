"""What a language asks of a page: its direction, its typefaces, its line height."""

from __future__ import annotations

from admin.publish.locales import locale_of

# Faces that ship with Windows, Apple systems, Android and Linux; a queue's name may be in any script on any page.
_FACES: dict[str, tuple[str, ...]] = {
    "ja": ("Hiragino Sans", "Yu Gothic UI", "Meiryo", "Noto Sans CJK JP", "Noto Sans JP"),
    "zh-hans": ("PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC"),
    "zh-hant": ("PingFang TC", "Microsoft JhengHei", "Noto Sans CJK TC", "Noto Sans TC"),
    "ko": ("Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans CJK KR", "Noto Sans KR"),
    "ar": ("Geeza Pro", "Segoe UI", "Noto Sans Arabic"),
    "he": ("Arial Hebrew", "Segoe UI", "Noto Sans Hebrew"),
    "hi": ("Kohinoor Devanagari", "Nirmala UI", "Noto Sans Devanagari"),
    "th": ("Thonburi", "Leelawadee UI", "Noto Sans Thai"),
}
_TALL_SCRIPTS = frozenset({"ja", "zh", "ko", "ar", "fa", "ur", "he", "hi", "mr", "ne", "th"})
_ALIASES = {"zh": "zh-hans", "zh-cn": "zh-hans", "zh-tw": "zh-hant", "zh-hk": "zh-hant"}
_GENERIC = frozenset({"serif", "sans-serif", "monospace", "system-ui", "ui-serif", "ui-sans-serif", "ui-rounded"})


def direction(language: str) -> str:
    """Which way the language is written: "rtl" or "ltr". Raises ValueError for a language that CLDR does not know."""
    return "rtl" if locale_of(language).character_order == "right-to-left" else "ltr"


def line_height(language: str) -> str:
    """Unitless line height of running text: scripts with tall or dense glyphs need more."""
    return "1.7" if _primary(language) in _TALL_SCRIPTS else "1.5"


def font_stack(families: list[str], language: str) -> str:
    """CSS font-family: the brand's faces, then those of the page's script, then of all others, then the generic."""
    own = _ALIASES.get(language.lower(), _primary(language))
    generic = families[-1:] if families[-1:] and families[-1] in _GENERIC else ["sans-serif"]
    faces = [name for name in families if name not in _GENERIC]
    for script in sorted(_FACES, key=lambda script: script != own):
        faces += [name for name in _FACES[script] if name not in faces]
    return ", ".join([name if name.startswith("-") else f'"{name}"' for name in faces] + generic)


def _primary(language: str) -> str:
    return language.lower().split("-")[0]
