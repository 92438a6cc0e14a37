"""What a brand is kept as: nothing in it is lost, nothing out of bounds comes in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin.studio.changes import changes
from admin.studio.content import BRAND_FILE, CONTENT_MAX_BYTES, FILE_MAX_BYTES, BadContent, Content, text_of

TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
BRAND = text_of({"name": "A brand"}).encode()
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200)


@pytest.mark.parametrize("brand", ["default", "concert", "shop"])
def test_what_ships_is_kept_byte_for_byte(brand: str) -> None:
    folder = TEMPLATES / "brands" / brand
    content = Content.of_folder(folder)
    again = Content.of_json(json.loads(json.dumps(content.as_json())))
    assert again == content
    assert again.fingerprint == content.fingerprint
    assert {name: (folder / name).read_bytes() for name in content.files} == dict(content.files)


@given(style=texts, picture=st.binary(max_size=300))
def test_any_text_and_any_picture_comes_back(style: str, picture: bytes) -> None:
    content = Content.checked({BRAND_FILE: BRAND, "brand.css": style.encode(), "logo.png": picture})
    again = Content.of_json(json.loads(json.dumps(content.as_json())))
    assert again.files["brand.css"].decode() == style
    assert again.files["logo.png"] == picture


@pytest.mark.parametrize(
    ("files", "at", "what"),
    [
        ({"a.css": b""}, BRAND_FILE, "missing"),
        ({BRAND_FILE: BRAND, "../x.css": b""}, "../x.css", "no name"),
        ({BRAND_FILE: BRAND, "A.css": b""}, "A.css", "no name"),
        ({BRAND_FILE: BRAND, ".source": b""}, ".source", "no name"),
        ({BRAND_FILE: BRAND, "run.py": b""}, "run.py", "no name"),
        ({BRAND_FILE: BRAND, "a.css": b"\xff"}, "a.css", "UTF-8 at byte 0"),
        ({BRAND_FILE: BRAND, "a.css": b"a\0"}, "a.css", "code 0"),
        ({BRAND_FILE: BRAND, "a.css": b"x" * (FILE_MAX_BYTES + 1)}, "a.css", "at most"),
        ({BRAND_FILE: BRAND, **{f"a{n}.css": b"x" * FILE_MAX_BYTES for n in range(5)}}, "files", str(CONTENT_MAX_BYTES)),
        ({BRAND_FILE: BRAND, **{f"a{n}.css": b"" for n in range(60)}}, "files", "61 of them"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_its_name(files: dict[str, bytes], at: str, what: str) -> None:
    with pytest.raises(BadContent, match=what) as caught:
        Content.checked(files)
    assert caught.value.at == at


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, "object"), ([], "object"), ({1: ""}, "object"), ({BRAND_FILE: 3}, "must be a text"),
        ({BRAND_FILE: "{}", "logo.png": {"base64": "?"}}, "cannot be read"),
        ({BRAND_FILE: "{}", "logo.png": {"base64": "", "more": 1}}, "must be a text"),
        ({BRAND_FILE: "\ud800"}, "surrogate"),
    ],
)  # fmt: skip
def test_json_that_is_no_brand_is_refused(value: object, what: str) -> None:
    with pytest.raises(BadContent, match=what):
        Content.of_json(value)


def test_the_same_values_make_no_change_of_the_file() -> None:
    written_by_hand = b'{"name":   "A", "radius_px": 3}'
    content = Content.checked({BRAND_FILE: written_by_hand})
    assert content.with_values({"radius_px": 3, "name": "A"}) is content
    assert content.with_values({"name": "B"}).files[BRAND_FILE] == b'{\n  "name": "B"\n}\n'


def test_broken_json_is_kept_and_says_nothing() -> None:
    for text in (b"{", b"[]", b"[" * 100_000):
        content = Content.checked({BRAND_FILE: text[:FILE_MAX_BYTES]})
        assert content.values == {}


def test_changes_are_told_by_value_and_by_line() -> None:
    before = Content.checked({BRAND_FILE: text_of({"name": "A", "light": {"ink": "#000"}, "font": ["x", "y"]}).encode(),
                              "brand.css": b"a\nb\n", "logo.png": b"1"})  # fmt: skip
    after = Content.checked({BRAND_FILE: text_of({"name": "B", "light": {"ink": "#111"}, "font": ["x"]}).encode(),
                             "brand.css": b"a\nc\n", "mark.svg": b"<svg/>"})  # fmt: skip
    found = changes(before, after)
    assert [(one.path, one.before, one.after) for one in found.values] == [
        ("font", "x, y", "x"), ("light.ink", "#000", "#111"), ("name", "A", "B"),
    ]  # fmt: skip
    whats = [(one.name, one.what) for one in found.files]
    assert whats == [("brand.css", "changed"), ("logo.png", "removed"), ("mark.svg", "added")]
    assert found.files[0].lines[1:] == (" a", "-b", "+c")
    assert found.files[1].lines == ()
    assert not changes(after, after)
    assert changes(None, after)
