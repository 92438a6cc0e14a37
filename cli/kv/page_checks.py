"""Pages on their way into a store: what publishing would refuse is refused here, too, whoever wrote it into the folder."""

from __future__ import annotations

from admin.publish.checks import check_page
from admin.publish.errors import PublishError
from cli.kv.stores import StoreError
from edge.core.page_set import read_page_set
from edge.core.pages import STATES, unsealed


def check_value(key: str, text: str) -> None:
    """Raises StoreError, with the line, for a page or a set of pages that must not be shown; other values pass."""
    parts = key.split("/")
    if parts[0] != "pages":
        return
    try:
        if len(parts) == 3 and parts[2] == "current.json":
            read_page_set(text)
        elif len(parts) == 5 and parts[4].removesuffix(".html") in STATES:
            # Without the mark of publishing, which may belong to another text.
            check_page(key, unsealed(text), parts[4].removesuffix(".html"), parts[3])
    except PublishError as error:
        raise StoreError(f"{error}; publish the brand again, or mend the page") from error
    except ValueError as error:
        raise StoreError(f"{key}: {error}") from error
