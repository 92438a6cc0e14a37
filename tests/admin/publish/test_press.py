"""Rendering in a process of its own: drafts that lie nowhere, and templates that ask for too much."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from admin.publish import PublishError, publish
from admin.publish.limits import JOB_MAX_S
from admin.publish.press import Press
from admin.publish.service import BrandSource, check, preview, read_source, render_brand
from admin.publish.sources import FILE_MAX_BYTES, FILES_AT_MOST
from tests.admin.publish.sources import TEMPLATES

HEAD = '{% extends "base/notice.html.jinja" %}\n{% block main %}\n'


@pytest.fixture(scope="module")
def press() -> Iterator[Press]:
    with Press() as started:
        yield started


def draft(closed: str = "", **files: bytes) -> BrandSource:
    """A brand that lies in no folder; `closed`: the main part of its page for a closed line."""
    own = {"closed.html.jinja": f"{HEAD}{closed}{{% endblock %}}".encode()} if closed else {}
    named = {name.replace("__", "."): content for name, content in files.items()}
    return BrandSource("mine", {"brand.json": b'{"name": "Mine", "extends": "shop"}'} | own | named)


def test_the_process_renders_what_is_rendered_here(press: Press) -> None:
    made = render_brand(press, read_source("concert"), ["ja"])
    assert made == publish("concert", TEMPLATES, ["ja"])
    assert check(press, read_source("concert"), ["ja"]) == ()


def test_a_draft_is_rendered_that_lies_in_no_folder(press: Press) -> None:
    before = sorted((TEMPLATES / "brands").iterdir())
    html = preview(press, draft(brand__css=b"h1 { color: rebeccapurple; }"), "ar", "called", message="<b>soon")
    assert "rebeccapurple" in html
    assert '<html lang="ar" dir="rtl" data-brand="mine"' in html
    assert "&lt;b&gt;soon" in html
    assert "{{" not in html
    assert sorted((TEMPLATES / "brands").iterdir()) == before


ASKS_TOO_MUCH = {
    "a long text": ('{{ "x" * 3000000000 }}', "repeated 3,000,000,000 times"),
    "a long list": ("{{ 3000000000 * [1] }}", "repeated 3,000,000,000 times"),
    "a great power": ("{{ 10 ** 99999999 }}", "a power of more than"),
    "a great product": (
        "{% set ns = namespace(x=3) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}", "a product of more than",
    ),
    "a long loop": ("{% for i in range(10**9) %}{% endfor %}", "Range too big"),
    "a long page": ("{% for i in range(99999) %}{% for j in range(99999) %}a{% endfor %}{% endfor %}", "a page of more than"),
    "a page in itself": ('{% include "closed.html.jinja" %}', "a page of more than"),
    "a macro in itself": ("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "without end"),
    "wide text": ('{{ "x" | center(2000000000) }}', "more memory"),
    "a wide format": ('{{ "%2000000000d" | format(1) }}', "more memory"),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKS_TOO_MUCH)
def test_a_template_that_asks_for_too_much_is_named_with_its_line(press: Press, name: str) -> None:
    template, words = ASKS_TOO_MUCH[name]
    started_s = time.monotonic()
    (error,) = check(press, draft("<h1>x</h1>\n" + template), ["en"])
    assert words in error.what
    assert (Path(error.file).name, error.line) == ("closed.html.jinja", 4)
    assert error.file.startswith(str(TEMPLATES)), "not the folder in which the draft was laid out"
    assert time.monotonic() - started_s < JOB_MAX_S / 4


def test_brackets_without_end_are_a_fault_of_the_template(press: Press) -> None:
    (error,) = check(press, draft("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}"), ["en"])
    assert (Path(error.file).name, "without end" in error.what) == ("closed.html.jinja", True)


def test_a_page_that_takes_too_long_is_stopped_within_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    folder = tmp_path / "templates" / "brands" / "mine"
    folder.mkdir(parents=True)
    for part in ("base", "locale", "brands/shop", "brands/default"):
        (tmp_path / "templates" / part).symlink_to(TEMPLATES / part)
    for name, content in draft(endless).files.items():
        (folder / name).write_bytes(content)
    with pytest.raises(PublishError, match=r"closed.html.jinja:3: rendering takes longer than 0.3 s") as caught:
        publish("mine", tmp_path / "templates", ["en"], page_max_s=0.3)
    assert caught.value.line == 3


def test_a_process_that_is_late_or_gone_is_replaced() -> None:
    endless = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    with Press(job_max_s=2) as press, pytest.raises(PublishError, match="takes longer than 2 s and was stopped"):
        render_brand(press, draft(endless), ["en"])
    with Press() as press:
        preview(press, draft(), "en", "waiting")
        process = press._process
        assert process is not None
        os.kill(process.pid, 9)
        process.wait()
        assert "Mine" in preview(press, draft(), "en", "waiting")


def test_the_process_knows_no_secret(press: Press, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_ADMIN_TOKEN", "s3cret-s3cret-s3cret")
    with Press() as other:
        preview(other, draft(), "en", "waiting")
        assert other._process is not None
        environ = Path(f"/proc/{other._process.pid}/environ")
        if environ.exists():
            assert b"s3cret" not in environ.read_bytes()
            assert b"PATH=" in environ.read_bytes()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (BrandSource("../x", {}), "is no name of a brand"),
        (BrandSource("", {}), "is no name of a brand"),
        (draft(**{"../x": b""}), "is no name of a file"),
        (draft(**{".hidden": b""}), "is no name of a file"),
        (draft(brand__css=b" " * (FILE_MAX_BYTES + 1)), "a file of a brand may have"),
        (BrandSource("mine", {f"{n}.txt": b"" for n in range(FILES_AT_MOST + 1)}), "65 files: a brand may have 64"),
        (BrandSource("mine", {}), "brand.json: there is no such file"),
    ],
)  # fmt: skip
def test_what_is_no_source_is_refused(press: Press, source: BrandSource, words: str) -> None:
    (error,) = check(press, source, ["en"])
    assert words in str(error)


@pytest.mark.parametrize("language", ["xx", "klingon", "en-XX", "../x", "", "pt_BR"])
def test_a_language_without_pages_is_refused_and_the_process_stays(press: Press, language: str) -> None:
    preview(press, draft(), "en", "waiting")
    process = press._process
    (error,) = check(press, draft(), [language])
    assert f"no translation for {language!r}: there is en, ar" in error.what
    with pytest.raises(PublishError):
        preview(press, draft(), language, "waiting")
    assert press._process is process


def test_a_source_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for name in ("nobody", "../default", ".", "Default"):
        with pytest.raises(PublishError, match=r"no such file|no name of a brand"):
            read_source(name)
    (tmp_path / "brands" / "big").mkdir(parents=True)
    (tmp_path / "brands/big/brand.json").write_bytes(b" " * (FILE_MAX_BYTES + 1))
    with pytest.raises(PublishError, match="a file of a brand may have"):
        read_source("big", tmp_path)
