"""The queues of a group in its form: one on a row, each with its quota; their order is the order of their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from admin.configure.document import Entry
from admin.configure.kinds import Typed, first

BLANK_ROWS = 2
_NUMBER = re.compile(r"[0-9]{1,9}").fullmatch
_ROW = re.compile(r"member\[([0-9]{1,4})\]\.queue").fullmatch


def members_of(entry: Entry) -> Sequence[tuple[str, str]]:
    """Id and quota of each row, and a few empty ones."""
    queues, quotas = entry.get("queues", ()), entry.get("quotas", {})
    known = quotas if isinstance(quotas, dict) else {}
    rows = [(str(queue), str(known.get(queue, ""))) for queue in queues] if isinstance(queues, list) else []
    return [*rows, *(("", "") for _ in range(BLANK_ROWS))]


def typed_members(typed: Typed) -> Mapping[str, Sequence[str]]:
    """What was typed with the rows put together as the keys `queues` and `quotas`."""
    numbers = sorted(int(found[1]) for name in typed if (found := _ROW(name)))
    rows = [(first(typed, f"member[{number}].queue"), first(typed, f"member[{number}].quota")) for number in numbers]
    queues = [queue for queue, _ in rows if queue]
    quotas = {queue: int(quota) if _NUMBER(quota) else quota for queue, quota in rows if queue and quota}
    return {**typed, "queues": queues, "quotas": [json.dumps(quotas)]}
