"""Whether a changed configuration will be taken: limits in force follow the `config_version` of a queue or group."""

from __future__ import annotations

from admin.configure.numbering import plain
from edge.core.config import Config


def unnumbered(before: Config, after: Config) -> list[str]:
    """Scopes (queues, and groups) that changed without a higher version: the state keeps the limits that it has."""
    found = []
    for scope in dict.fromkeys(queue.scope for queue in after.queues):
        old, new = before.scope(scope), after.scope(scope)
        if old and plain(old) != plain(new) and new[0].config_version <= old[0].config_version:
            found.append(scope)
    return found


def warning(scopes: list[str]) -> str:
    """What to tell whoever brings such a configuration."""
    return (f"note: {', '.join(scopes)} changed without a higher config_version: pages and routes follow, but limits in force "
            "stay; `stanchion config apply` numbers what it puts in force")  # fmt: skip
