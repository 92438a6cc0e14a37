"""What the sandboxes of one point of presence know together: short texts in the Core Cache.

A transaction collapses: of all who ask for a text that is not there, one is obliged to bring it, and the others wait, or are
served the old one.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from edge.guests.on_fastly.answering import write_all
from edge.guests.on_fastly.api import cache, http_body
from edge.guests.on_fastly.redis import Deadline
from edge.guests.on_fastly.surroundings import read_all

_NS_PER_MS = 1_000_000
# As numbers: operators of an enumeration cost more than a call of the host.
_USABLE, _STALE = cache.LookupState.USABLE.value, cache.LookupState.STALE.value
_OBLIGED = cache.LookupState.MUST_INSERT_OR_UPDATE.value


class TooLate(Exception):
    """Whoever is obliged to bring the text has not brought it within the deadline."""


def _options() -> Any:
    return cache.LookupOptions(request_headers=None, always_use_requested_range=False, extra=None)


def _write_options(text: bytes, fresh_ms: int, stale_ms: int) -> Any:
    return cache.WriteOptions(max_age_ns=fresh_ms * _NS_PER_MS, request_headers=None, vary_rule=None, initial_age_ns=None,
                              stale_while_revalidate_ns=stale_ms * _NS_PER_MS, surrogate_keys=None, length=len(text),
                              user_metadata=None, edge_max_age_ns=None, sensitive_data=False, extra=None)  # fmt: skip


class Transaction:
    """One look at a text, as a context manager. Raises Err, and TooLate.

    `text` is None when there is none that may be used; `is_obliged`: this sandbox has to bring a new one, or to say at its end
    that it does not.
    """

    def __init__(self, key: str, deadline: Deadline) -> None:
        pending = cache.Entry.transaction_lookup_async(key.encode(), _options())
        if not deadline.is_met_by(pending):
            cache.close_pending_entry(pending)
            raise TooLate
        self._entry = cache.await_entry(pending)
        state = self._entry.get_state().value
        self.is_obliged = bool(state & _OBLIGED)
        self.text = _text_of(self._entry) if state & _USABLE else None

    def bring(self, text: str, fresh_ms: int, stale_ms: int) -> None:
        """Puts a text there: fresh for a time, and for `stale_ms` more to be served while another is brought. Raises Err."""
        data = text.encode()
        body = self._entry.transaction_insert(_write_options(data, fresh_ms, stale_ms))
        self.is_obliged = False
        write_all(body, data)
        http_body.close(body)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # An obligation that is not met goes to another who waits, at once.
        if self.is_obliged:
            self._entry.transaction_cancel()
        cache.close_entry(self._entry)


def remember(key: str, text: str, keep_ms: int) -> None:
    """Keeps a text, without asking what was there. Raises Err."""
    data = text.encode()
    body = cache.insert(key.encode(), _write_options(data, keep_ms, 0))
    write_all(body, data)
    http_body.close(body)


def recall(key: str) -> str | None:
    """A text that is kept, or None. Raises Err."""
    entry = cache.Entry.lookup(key.encode(), _options())
    try:
        return _text_of(entry) if entry.get_state().value & _USABLE else None
    finally:
        cache.close_entry(entry)


def fresh(key: str) -> str | None:
    """A text that need not be brought again yet, or None. Raises Err. Three calls of the host fewer than a transaction."""
    entry = cache.Entry.lookup(key.encode(), _options())
    state = entry.get_state().value
    return _text_of(entry) if state & _USABLE and not state & _STALE else None


def _text_of(entry: Any) -> str:
    whole = cache.GetBodyOptions(from_=None, to=None, extra=None)
    return str(read_all(entry.get_body(whole)), "utf-8")
