"""The names of what a host may lack. A test that needs one carries `@limited(name)` and has to fail where the host names it."""

from __future__ import annotations

import pytest

LIMITS = {
    "set_cookies": "each Set-Cookie of an answer arrives as a header of its own",
    "duplicate_headers": "headers that an answer has twice arrive twice",
    "header_bytes": "header values of an answer with bytes above 0x7f pass",
    "spelled_targets": "targets that are no URI by the letter reach the origin",
    "spelled_hosts": "Host headers that are no authority by the letter reach the gate",
    "large_headers": "headers of 20 KB reach the gate",
    "memory": "the node remembers from one request to the next: it counts for itself, and shares a snapshot",
    "rate_counter": "new places are counted for each client network",
    "last_configuration": "the last good configuration is known after it was replaced by a broken one",
    "streaming": "answers begin before they end",
    "country": "the host or the proxy before it says the country",
    "broken_pieces": "an answer in chunks that the origin breaks off ends as a broken one",
    "leaving": "who leaves in the middle of a large answer keeps nobody else waiting",
    "parallel": "requests are served while others wait",
    "many": "more than a hundred requests are under way at once",
    "upgrade": "an upgrade is answered in words",
    "odd_statuses": "answers without a body keep their status",
}


def limited(*names: str) -> pytest.MarkDecorator:
    """Marks a test that needs what some hosts lack."""
    assert set(names) <= set(LIMITS), names
    return pytest.mark.limited(*names)
