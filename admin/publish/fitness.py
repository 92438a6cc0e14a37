"""Whether a rendered page is fit to be published; a fault is named where it can be mended, in the brand or the base."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from admin.publish.brand import Brand
from admin.publish.checks import check_page
from admin.publish.errors import PublishError
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
    if error.line:
        marks = Marks()
        marked = render_pages(brand, language, templates_dir, (state,), offered, marks=marks)[state]
        place = marks.place(marked, error.line, error.column, page.split("\n")[error.line - 1])
        if place is not None:
            return PublishError(*place, what)
    return PublishError(str(template_of(brand, templates_dir, state)), 0, what)
