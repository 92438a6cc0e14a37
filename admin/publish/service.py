"""All of publishing for whoever drives it, the console or the command line: render, check, publish, list, roll back, compare.

    with Press() as press:
        source = read_source("shop")                                # or BrandSource("shop", {"brand.json": b"..."}): a draft
        faults = check(press, source)                               # () when it may be published
        html = preview(press, source, "de", "called")               # one page, filled with made-up numbers
        pages = render_brand(press, source)                         # every page in every language; raises PublishError
        publish(store, pages, by="mika", now_ms=now)                # a new version, in force at once
        versions(store, "shop"); roll_back(store, "shop", by="mika", now_ms=now, to=3)
        diff(pages_of(store, "shop", 3), pages.pages)

A store is anything with get, put, delete and keys (`versions.Store`): the KV folder, a Redis over REST, Fastly's KV store.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from admin.publish.errors import PublishError
from admin.publish.press import Press
from admin.publish.publish import Publication
from admin.publish.sources import TEMPLATES, BrandSource, laid_out, read_source
from admin.publish.versions import (
    Entry,
    Outcome,
    Store,
    Version,
    history,
    in_force,
    pages_of,
    publish,
    roll_back,
    versions,
)  # fmt: skip

__all__ = [
    "BrandSource", "Entry", "Outcome", "PageChange", "Press", "Publication", "PublishError", "Store", "Version", "check", "diff",
    "history", "in_force", "pages_of", "preview", "publish", "read_source", "render_brand", "roll_back", "versions",
]  # fmt: skip

Pages = Mapping[tuple[str, str], str]


@dataclass(frozen=True)
class PageChange:
    """A page that is not the same in two versions. `kind`: new, gone or changed; `lines`: as `diff -u` writes them."""

    language: str
    state: str
    kind: str
    lines: tuple[str, ...]


def render_brand(press: Press, source: BrandSource, languages: Sequence[str] = (),
                 templates_dir: Path = TEMPLATES) -> Publication:  # fmt: skip
    """Every page of a brand, rendered and checked, in `languages`, else the brand's own, else all that there are (about 4 s).

    Raises PublishError, naming file and line, for the first thing that is wrong.
    """
    with _placed(source, templates_dir) as job:
        made = press.run(source.id, job | {"what": "publish", "languages": list(languages)})
    return Publication(source.id, tuple(made["languages"]), {(language, state): page for language, state, page in made["pages"]})


def check(press: Press, source: BrandSource, languages: Sequence[str] = (),
          templates_dir: Path = TEMPLATES) -> tuple[PublishError, ...]:  # fmt: skip
    """What keeps a brand from being published; nothing when it is fit. `languages` as for `render_brand`: one takes 0.2 s.

    Every fault of brand.json at once, each with its `field`; only when there is none, the first fault of a page.
    """
    try:
        with _placed(source, templates_dir) as job:
            answer = press.ask(source.id, job | {"what": "check", "languages": list(languages)})
            return tuple(_shown(PublishError(*fault), job["templates"], templates_dir) for fault in answer["faults"])
    except PublishError as error:
        return (error,)


def preview(press: Press, source: BrandSource, language: str, look: str, *, nonce: str = "preview", message: str = "",
            status_url: str = "", templates_dir: Path = TEMPLATES) -> str:  # fmt: skip
    """One page as a visitor would see it, with made-up numbers; `look` is one of `looks.LOOKS`. Raises PublishError.

    `status_url`: where it asks how things stand (the look `blocked` comes to its words by asking); empty: nowhere. Send the page
    with `edge.core.pages.content_security_policy(nonce)` and in a sandboxed frame: its script runs.
    """
    with _placed(source, templates_dir) as job:
        wanted = {"what": "preview", "language": language, "look": look, "nonce": nonce, "message": message,
                  "status_url": status_url}  # fmt: skip
        return str(press.run(source.id, job | wanted)["page"])


def diff(old: Pages, new: Pages) -> list[PageChange]:
    """The pages that differ, by language and state. The edge's marks at their ends are left out."""
    found = []
    for where in sorted(old.keys() | new.keys()):
        before, after = (_lines(pages.get(where)) for pages in (old, new))
        if before == after:
            continue
        kind = "changed" if before and after else "new" if after else "gone"
        name = "/".join(where)
        lines = difflib.unified_diff(before, after, f"old/{name}", f"new/{name}", lineterm="", n=1)
        found.append(PageChange(*where, kind, tuple(lines)))
    return found


def _lines(page: str | None) -> list[str]:
    return [line for line in (page or "").splitlines() if not line.startswith("<!--read in full")]


@contextmanager
def _placed(source: BrandSource, templates_dir: Path) -> Iterator[dict[str, Any]]:
    """The job about a source that lies in a folder for as long as it takes; faults name the files of `templates_dir`."""
    with laid_out(source, templates_dir) as root:
        try:
            yield {"brand": source.id, "templates": str(root)}
        except PublishError as error:
            raise _shown(error, str(root), templates_dir) from error


def _shown(error: PublishError, root: str, templates_dir: Path) -> PublishError:
    """The fault with the names of the files as people know them."""
    file, what = (text.replace(root, str(templates_dir)) for text in (error.file, error.what))
    return PublishError(file, error.line, what, error.field)
