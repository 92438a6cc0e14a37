"""What there is to look at: one page of a brand, rendered, checked and filled with made-up numbers."""

from __future__ import annotations

from pathlib import Path

from admin.publish.brand import load_brand
from admin.publish.catalogue import available_languages
from admin.publish.compact import closed_up
from admin.publish.errors import PublishError
from admin.publish.fitness import check_rendered
from admin.publish.render import render_pages
from admin.publish.samples import BLOCKED, sample_page, sample_values
from edge.core.pages import STATES, compile_page

#: What can be looked at: the states with a page, and two that share one.
LOOKS = ("candidate", *STATES, BLOCKED)
_STILL_POLL_S = "3600"  # nothing behind the pages moves


def preview_page(templates_dir: Path, brand: str, language: str, look: str, nonce: str, message: str = "", *,
                 status_url: str = "", page_max_s: float = 0) -> str:  # fmt: skip
    """One page, rendered, checked and filled. Raises PublishError.

    `status_url`: where the page asks how things stand; empty: nowhere. `page_max_s`: see `limits.time_limit`.
    """
    if look not in LOOKS:
        raise PublishError(look, 0, f"no state of a page: one of {', '.join(LOOKS)}")
    state = sample_page(look)
    offered = available_languages(templates_dir)
    found = load_brand(brand, templates_dir)
    page = render_pages(found, language, templates_dir, (state,), offered, page_max_s)[state]
    check_rendered(found, language, state, page, templates_dir, offered)
    shown = "candidate" if look == BLOCKED else look
    values = sample_values(shown, nonce=nonce, poll_s="1" if look == BLOCKED else _STILL_POLL_S, retry_s=_STILL_POLL_S,
                           status_url=status_url, message=message)  # fmt: skip
    return compile_page(closed_up(page, language)).fill(values)
