"""The values of a brand: every fault at its field, with its line and what to do."""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.publish import publish
from admin.publish.artwork import NoPictureError, check_picture
from admin.publish.brand import brand_faults, load_brand
from tests.admin.publish.sources import TEMPLATES, make, refused


def drawing(inside: str) -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">{inside}</svg>'.encode()


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width: int = 1, height: int = 1) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\x00\x00")) + chunk(b"IEND", b"")


JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00\xff\xda\x00\x02data\xff\xd9"
WEBP = b"RIFF" + struct.pack("<I", 16) + b"WEBPVP8L" + struct.pack("<I", 4) + b"/\x00\x00\x00"


@pytest.mark.parametrize(
    ("values", "line", "field", "words"),
    [
        ({"light": {"brand": "blue", "surface": "#fff", "ink": "#000"}}, 5, "light.brand", "light: brand: 'blue' is no colour"),
        ({"light": {"brand": "#00f", "surface": "#fff"}}, 4, "light", "light is missing ['ink']"),
        ({"light": {"brand": "#00f", "surface": "#fff", "ink": "#000", "glow": "#fff"}}, 4, "light", "unknown keys ['glow']"),
        ({"light": {"brand": 7, "surface": "#fff", "ink": "#000"}}, 4, "light", "light: "),
        ({"scheme": "grey"}, 4, "scheme", "scheme 'grey': one of auto, light, dark"),
        ({"radius_px": 99}, 4, "radius_px", "radius_px must be from 0 to 40"),
        ({"radius_px": True}, 4, "radius_px", "radius_px must be a whole number, not bool"),
        ({"font": ["x; color: red"]}, 4, "font", "font 'x; color: red'"),
        ({"font": []}, 4, "font", "1 to 20 families"),
        ({"glow": "x"}, 4, "glow", "unknown key 'glow'"),
        ({"logos": "x"}, 4, "logos", "do you mean 'logo'?"),
        ({"name": ""}, 2, "name", "name must say something"),
        ({"name": " \u00a0"}, 2, "name", "name must say something"),
        ({"name": "x" * 5000}, 2, "name", "name has 5,000 characters: at most 80"),
        ({"name": "a\nb"}, 2, "name", "line breaks, control or direction characters"),
        ({"name": "a\u202eb"}, 2, "name", "line breaks, control or direction characters"),
        ({"name": None}, 2, "name", "name must be a text, not NoneType"),
        ({"logo": "x.svg"}, 4, "logo", "logo 'x.svg': there is no such file"),
        ({"logo": "../x.svg"}, 4, "logo", "a file beside brand.json"),
        ({"background": "x.gif"}, 4, "background", "a file beside brand.json"),
        ({"support": "javascript:x"}, 4, "support", "support must start with https://"),
        ({"support": "https://"}, 4, "support", "and lead somewhere"),
        ({"support": "mailto:nobody"}, 4, "support", "and lead somewhere"),
        ({"support": "https://x.example/\"onload"}, 4, "support", "and lead somewhere"),
        ({"languages": ["en", "../x"]}, 4, "languages", "'../x' is no language of the pages: there is en, ar"),
        ({"languages": ["en", "klingon"]}, 4, "languages", "'klingon' is no language of the pages"),
        ({"languages": ["zh-hans"]}, 4, "languages", "do you mean 'zh-Hans'?"),
        ({"languages": ["en", 7]}, 4, "languages", "'7' is no language of the pages"),
        ({"texts": {"en": {"leave.button": "{oops}"}}}, 6, "texts.en.leave.button", "'leave.button' holds {oops}"),
        ({"texts": {"en": {"leave.button": "{position"}}}, 6, "texts.en.leave.button", "'leave.button' holds {position"),
        ({"texts": {"en": {"leave.buton": "Go"}}}, 6, "texts.en.leave.buton", "do you mean 'leave.button'?"),
        ({"texts": {"de": {"leave.button": "Geh"}, "en": {"leave.button": " "}}}, 9, "texts.en.leave.button", "leave the key"),
        ({"texts": {"ja": {"called.button": ""}}}, 6, "texts.ja.called.button", "'called.button' must say something"),
        ({"texts": {"ja": {"called.button": "x" * 601}}}, 6, "texts.ja.called.button", "has 601 characters: at most 600"),
        ({"texts": {"ja": {"called.button": 7}}}, 6, "texts.ja.called.button", "must be a text"),
        ({"texts": {"xx": {"called.button": "x"}}}, 5, "texts.xx", "'xx' is no language of the pages: there is en, ar"),
        ({"texts": {"pt_BR": {"called.button": "x"}}}, 5, "texts.pt_BR", "do you mean 'pt-BR'?"),
        ({"texts": {"zh-hant": {"called.button": "x"}}}, 5, "texts.zh-hant", "do you mean 'zh-Hant'?"),
        ({"texts": {"en": "none"}}, 5, "texts.en", "texts.en must hold texts by key"),
        ({"extends": "nobody"}, 3, "extends", "there is no such file"),
        ({"extends": "../default"}, 0, "extends", "is no name of a brand"),
        ({"extends": 7}, 0, "extends", "is no name of a brand"),
        ({"extends": "mine"}, 3, "extends", "in a circle"),
    ],
)
def test_a_mistake_in_brand_json_is_named_with_its_line(
    templates: Path, values: dict[str, Any], line: int, field: str, words: str
) -> None:
    make(templates, **values)
    error = refused(templates)
    assert words in error.what
    assert error.field == field
    assert (error.line, Path(error.file).name) == (line, "brand.json") or line == 0


def test_a_form_is_told_of_all_its_faults_at_once(templates: Path) -> None:
    texts = {"de": {"called.button": ""}, "xx": {}}
    make(templates, name="", logo="none.png", radius_px=-1, texts=texts)
    assert [each.field for each in brand_faults("mine", templates)] == [
        "name", "logo", "radius_px", "texts.de.called.button", "texts.xx",
    ]  # fmt: skip
    assert [each.field for each in brand_faults("nobody", templates)] == [""]
    make(templates)
    assert brand_faults("mine", templates) == []


PICTURES: list[tuple[str, bytes, str]] = [
    ("logo.svg", drawing("<script>1</script>"), "<script>: take it out"),
    ("logo.svg", drawing('<g onclick="x()"/>'), "a script in <g onclick>"),
    ("logo.svg", drawing('<image href="https://x.example/a.png"/>'), "refers to 'https://x.example/a.png'"),
    ("logo.svg", drawing('<a xmlns:x="http://www.w3.org/1999/xlink" x:href="javascript:1"/>'), "refers to 'javas"),
    ("logo.svg", drawing("<style>@import url(//x.example)</style>"), "style refers to"),
    ("logo.svg", drawing('<rect fill="url(https://x.example/#a)"/>'), "style refers to"),
    ("logo.svg", drawing("<foreignObject/>"), "<foreignObject>"),
    ("logo.svg", b"<svg viewBox='0 0 1 1'/>", 'begin with <svg xmlns="http://www.w3.org/2000/svg">'),
    ("logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "without a size"),
    ("logo.svg", b"<html/>", "must begin with <svg"),
    ("logo.svg", b"<svg", "no SVG"),
    ("logo.svg", b"", "no SVG"),
    ("logo.svg", b"<!DOCTYPE svg [<!ENTITY a 'b'>]><svg xmlns='http://www.w3.org/2000/svg'>&a;</svg>", "a document type"),
    ("logo.svg", png(), "no SVG"),
    ("logo.png", png()[:-5], "cut off or damaged"),
    ("logo.png", png().replace(b"IDAT", b"IDAX"), "cut off or damaged"),
    ("logo.png", png(0, 1), "0 x 1 pixels"),
    ("logo.png", png(9000, 1), "9000 x 1 pixels"),
    ("logo.png", b"no picture", "no PNG"),
    ("logo.png", b"", "no PNG"),
    ("logo.png", bytes(5_000_000), "5,000,000 bytes: at most 12,288"),
    ("logo.jpg", JPEG[:-2], "cut off or damaged"),
    ("logo.jpg", png(), "no JPEG"),
    ("logo.webp", WEBP[:-2], "cut off or damaged"),
    ("logo.webp", JPEG, "no WebP"),
]


@pytest.mark.parametrize("key", ["logo", "background"])
@pytest.mark.parametrize(("name", "content", "words"), PICTURES, ids=range(len(PICTURES)))
def test_a_picture_that_is_none_is_refused_at_its_field(templates: Path, key: str, name: str, content: bytes, words: str) -> None:
    (make(templates, **{key: name}) / name).write_bytes(content)
    (error,) = brand_faults("mine", templates)
    assert words in error.what
    assert (error.field, error.line, Path(error.file).name) == (key, 4, "brand.json")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.png", png()), ("a.jpg", JPEG), ("a.webp", WEBP), ("a.SVG", drawing('<use href="#a"/>'))],
)
def test_a_picture_is_taken_as_it_is(templates: Path, name: str, content: bytes) -> None:
    (make(templates, logo=name) / name).write_bytes(content)
    assert load_brand("mine", templates).logo.startswith("data:image/")


WHOLE = st.sampled_from([png(), JPEG, WEBP])
CUT = st.tuples(WHOLE, st.integers(0, 100)).map(lambda cut: cut[0][: cut[1]])


@given(st.sampled_from(["png", "jpeg", "webp", "svg+xml"]), st.binary(max_size=200) | CUT)
def test_only_a_whole_picture_is_one(kind: str, content: bytes) -> None:
    try:
        check_picture(kind, content)
    except NoPictureError:
        return
    assert content in (png(), JPEG, WEBP)


def test_a_brand_extends_the_default_one_unless_it_says_another(templates: Path) -> None:
    folder = make(templates)
    (folder / "brand.json").write_text('{"name": "Mine"}')
    mine, default = load_brand("mine", templates), load_brand("default", templates)
    assert (mine.light, mine.font, mine.radius_px) == (default.light, default.font, default.radius_px)
    assert mine.name == "Mine"
    assert publish("mine", templates, ["en"]).pages
    (folder / "brand.json").write_text("{}")
    error = refused(templates)
    assert ("the key 'name' is missing" in error.what, error.field) == (True, "name")
    make(templates, "child", extends="shop")
    (templates / "brands/child/brand.json").write_text('{"extends": "shop"}')
    assert load_brand("child", templates).name == "Bodega"


def test_the_shipped_brands_are_without_fault() -> None:
    for file in TEMPLATES.glob("brands/*/brand.json"):
        assert brand_faults(file.parent.name, TEMPLATES) == []


def test_json_that_is_none_is_named_with_its_line(templates: Path) -> None:
    make(templates, files={"brand.json": '{"name": "x",\n "light": }'})
    error = refused(templates)
    assert (error.line, Path(error.file).name) == (2, "brand.json")
    make(templates, files={"brand.json": "[]"})
    assert "must hold one JSON object" in str(refused(templates))
    (templates / "brands/mine/brand.json").write_bytes(b"\xff{}")
    assert "not UTF-8" in str(refused(templates))


def test_a_brand_needs_a_folder_and_languages_that_there_are(templates: Path) -> None:
    assert "there is no such file" in str(refused(templates, "nobody"))
    assert "no translation for 'xx'" in str(refused(templates, "default", ("xx",)))
    assert "no name of a brand" in str(refused(templates, ".."))


@pytest.mark.parametrize(
    ("values", "line_of_key", "words"),
    [
        ({"name": "{{nonce}}"}, '"name"', "name holds '{{' or '}}'"),
        ({"name": "Mine }} all"}, '"name"', "name holds '{{' or '}}'"),
        ({"support": "https://help.example/{{nonce}}"}, '"support"', "support leads to one address for everybody"),
        ({"texts": {"en": {"leave.label": "Go {{nonce}}"}}}, '"leave.label"', "a placeholder has one brace on each side"),
        ({"texts": {"en": {"leave.label": "Go {nonce}"}}}, '"leave.label"', "which is no placeholder: one of ahead, "),
    ],
)  # fmt: skip
def test_what_looks_like_a_slot_is_refused_where_it_stands(
    templates: Path, values: dict[str, Any], line_of_key: str, words: str
) -> None:
    file = make(templates, **values) / "brand.json"
    error = refused(templates)
    lines = file.read_text("utf-8").splitlines()
    assert (error.file, error.line) == (str(file), 1 + next(i for i, line in enumerate(lines) if line_of_key in line))
    assert words in error.what


@pytest.mark.parametrize(("many", "words"), [
    (20_000, "23,348 of them are this file's"),
    (110_000, "characters: at most 200,000"),
])  # fmt: skip
def test_a_style_sheet_that_is_too_large_is_named(templates: Path, many: int, words: str) -> None:
    noise = random.Random(1).randbytes(many).hex()
    folder = make(templates, files={"brand.css": f".a::after {{ content: '{noise}'; }}"})
    error = refused(templates)
    assert error.file == str(folder / "brand.css")
    assert words in error.what
