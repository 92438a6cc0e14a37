"""A strategy of one's own: a pure function from what the queue looks like to how many to call, and a small loop around it.

    STANCHION_ADMIN_TOKEN=... python examples/strategies/gentle_fill.py http://127.0.0.1:8081 drop --every-s 5

The queue is `manual`, so nobody is called but by this process. `how_many` is the strategy: fill the site gently, a quarter of
what is free each round, and stop at 80 % of `max_active`. Replace it by your own. Whatever it answers, the scripts keep the
caps: nobody is called beyond `max_active` or `inventory`, and claims keep to the rate (docs/configuration.md).
"""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

FILL_PERCENT = 80
PART_OF_FREE = 4
BATCH_AT_MOST = 500
TIMEOUT_S = 10.0
# Each run has keys of its own: in a container every process has the same number.
_RUN = secrets.token_hex(8)

Strategy = Callable[[Mapping[str, Any]], int]


def how_many(queue: Mapping[str, Any]) -> int:
    """How many to call now. `queue`: one queue as `GET /api/v1/queues/{id}` answers it. Pure: no clock, no memory, no chance."""
    cap = queue["limits"]["max_active"]
    if queue["status"] != "open" or cap is None:
        return 0
    free = cap * FILL_PERCENT // 100 - queue["inside"] - queue["called"]
    if free <= 0:
        return 0
    return min(-(-free // PART_OF_FREE), queue["waiting"], BATCH_AT_MOST)


def one_round(api: httpx.Client, queue_id: str, strategy: Strategy, number: int) -> int:
    """Looks, decides, calls; answers how many were called. Raises httpx.HTTPError.

    The key makes a repeat after a lost answer harmless: the same round of the same generation calls nobody twice.
    """
    queue = api.get(f"/api/v1/queues/{queue_id}").raise_for_status().json()
    count = strategy(queue)
    if count < 1:
        return 0
    key = f"gentle-fill-{_RUN}-{queue['epoch']}-{number}"
    answer = api.post(f"/api/v1/queues/{queue_id}/admit", json={"count": count}, headers={"Idempotency-Key": key})
    return int(answer.raise_for_status().json()["called"])


def main() -> int:
    """Rounds until Ctrl-C, or as many as were asked for; trouble is printed, and the next round tries again."""
    parser = argparse.ArgumentParser(description="Calls people of a manual queue by a strategy.")
    parser.add_argument("admin", help="address of the admin, like http://127.0.0.1:8081")
    parser.add_argument("queue", help="id of the queue")
    parser.add_argument("--every-s", type=float, default=5.0, help="seconds between two rounds")
    parser.add_argument("--rounds", type=int, default=0, help="how many; 0: until Ctrl-C")
    given = parser.parse_args()
    token = os.environ.get("STANCHION_ADMIN_TOKEN")
    if not token:
        parser.error("STANCHION_ADMIN_TOKEN is not set: it is the token of the admin's API")
    number = 0
    with httpx.Client(base_url=given.admin, headers={"Authorization": f"Bearer {token}"}, timeout=TIMEOUT_S) as api:
        while not given.rounds or number < given.rounds:
            number += 1
            try:
                print(f"round {number}: {one_round(api, given.queue, how_many, number)} called", flush=True)
            except httpx.HTTPError as error:
                print(f"round {number}: {error}", file=sys.stderr, flush=True)
            if number != given.rounds:
                time.sleep(given.every_s)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(0)
