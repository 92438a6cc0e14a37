"""How many changes Fastly takes, and what to say of more."""

from __future__ import annotations

#: Of one user in an hour; calls that only read are not counted. https://www.fastly.com/documentation/reference/api/#rate-limiting
CHANGES_PER_HOUR = 1000


def more_than_an_hour(changes: int) -> str:
    """What to say before so many changes are made; empty when an hour takes them."""
    if changes <= CHANGES_PER_HOUR:
        return ""
    hours = -(-changes // CHANGES_PER_HOUR)
    return (
        f"note: {changes:,} changes, and Fastly takes {CHANGES_PER_HOUR:,} an hour from one user: it will stop there, and takes "
        f"{hours} runs, each an hour after the last. Run the same command again then: it goes on where it stopped"
    )
