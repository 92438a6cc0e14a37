"""Whether a rendered page is fit to be published; a fault is named where it can be mended, in the brand or the base."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

from admin.publish.brand import Brand
from admin.publish.checks import check_page
from admin.publish.errors import PublishError, TooLargeError
from admin.publish.origins import Marks
from admin.publish.render import render_pages, template_of


def check_rendered(brand: Brand, language: str, state: str, page: str, templates_dir: Path, offered: Sequence[str]) -> None:
    """Raises PublishError, naming the source's file and line, for the first thing that the page must not do or lacks."""
    try:
        check_page(state, page, state, language)
    except PublishError as error:
        raise _placed(error, brand, language, page, templates_dir, offered) from error


def _placed(error: PublishError, brand: Brand, language: str, page: str, templates_dir: Path,
            offered: Sequence[str]) -> PublishError:  # fmt: skip
    state = error.file
    what = f"{error.what} (on the page {state!r} in {language!r})"
    if isinstance(error, TooLargeError) and (heaviest := _heaviest(brand)) is not None:
        return PublishError(str(heaviest[1]), 0, f"{what}; {heaviest[0]:,} of them are this file's: make it smaller")
    if error.line:
        marks = Marks()
        marked = render_pages(brand, language, templates_dir, (state,), offered, marks=marks)[state]
        place = marks.place(marked, error.line, error.column, page.split("\n")[error.line - 1])
        if place is not None:
            return PublishError(*place, what)
    return PublishError(str(template_of(brand, templates_dir, state)), 0, what)


def _heaviest(brand: Brand) -> tuple[int, Path] | None:
    """Of the files that a brand puts into its pages the one that takes most, with its bytes gzipped; None without any."""
    files = [file for folder in brand.folders for file in folder.iterdir() if file.is_file() and file.suffix != ".json"]
    own = brand.logo or brand.background
    shown = [file for file in files if file.name in ("brand.css", "mark.svg") or file.name.endswith(".jinja")]
    weighed = [(len(gzip.compress(file.read_bytes(), mtime=0)), file) for file in (files if own else shown)]
    return max(weighed, key=lambda each: each[0], default=None)
