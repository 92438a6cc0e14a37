"""Texts of errors that come from rooms which API and command line share, marked for the console's catalogues.

Those rooms speak English; the console translates what is known word for word and shows the rest as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from admin.words import N_

ERRORS: Sequence[str] = (
    N_("Redis has no state for this queue. If it has never run, start it (POST /queues/{id}/start); if it has, leave it: the next visitor's request begins its recovery."),  # noqa: E501
    N_("this queue got too many steps within the hour; it takes more when the oldest are an hour old"),
    N_("that is not the last change any more, or it cannot be taken back; nothing was done"),
    N_("no more units are left"),
    N_("no more slots are free"),
    N_("nobody else waits"),
    N_("nobody else could be called now"),
    N_("the queue would have no limit at all; keep one of admit_per_minute, max_active and inventory"),
    N_("the queue admits people without Redis (on_store_error), which cannot keep an inventory"),
    N_("lies in the past; change the queue itself for what is to happen now"),
    N_("is more than 400 days ahead"),
    N_("must be one line of 0 to 500 characters"),
    N_("must be one line of 1 to 200 characters"),
    N_("the queue has no opens_at, so there is no draw that a beacon could be mixed into"),
)
