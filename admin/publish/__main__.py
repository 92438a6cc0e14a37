"""`python -m admin.publish [brand ...] [--languages en,ja] [--to kv-seed]`: what a fresh store is filled with.

Each brand's pages become version 1, whatever was there: a seed has no past. For a store in use there is `stanchion publish`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from admin.publish import Publication, PublishError, publish
from edge.core.page_set import PageSet, page_set_key, write_page_set

_ROOT = Path(__file__).parents[2]


def seed(publication: Publication) -> dict[str, str]:
    """The values of a fresh store, by key."""
    current = write_page_set(PageSet(1, 0, publication.languages))
    return publication.keyed(1) | {page_set_key(publication.brand): current}


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0, or 1 when a page is not fit to be published (then nothing is written)."""
    parser = argparse.ArgumentParser(prog="python -m admin.publish", description="Write the pages of a fresh store.")
    parser.add_argument("brands", nargs="*", help="default: every brand of the templates")
    parser.add_argument("--languages", default="en,ja", help="comma-separated (default: en,ja)")
    parser.add_argument("--templates", type=Path, default=_ROOT / "templates")
    parser.add_argument("--to", type=Path, default=_ROOT / "kv-seed", help="folder of the store (default: kv-seed)")
    options = parser.parse_args(arguments)
    brands = options.brands or sorted(file.parent.name for file in options.templates.glob("brands/*/brand.json"))
    languages = [name for name in options.languages.split(",") if name]
    try:
        made = [publish(brand, options.templates, languages) for brand in brands]
    except PublishError as error:
        print(f"not published: {error}", file=sys.stderr)
        return 1
    for publication in made:
        shutil.rmtree(options.to / "pages" / publication.brand, ignore_errors=True)
        for key, text in seed(publication).items():
            file = options.to / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    print(f"{sum(len(each.pages) for each in made)} pages of {', '.join(brands)} published to {options.to}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
