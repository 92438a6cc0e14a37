"""Made-up visitors, one for each state: what previews, pictures and tests fill a page with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from edge.core.pages import page_state

NOW_MS = 1_904_040_271_000  # 2030-05-03, 12:04:31 UTC
_OPENS_IN_S = 1_109
_NO_PLACE = frozenset(
    {"candidate", "not_open", "prequeue", "unavailable", "busy", "form", "lapsed", "ended", "sign_in", "had_visit"}
)
#: Beside the states of the status: a browser that keeps no cookie, which only the page's script notices.
BLOCKED = "blocked"


def sample_status(state: str = "waiting", **changed: Any) -> dict[str, Any]:
    """The status JSON of such a visitor; with `position` and `ahead` where the state has them."""
    placed = state not in _NO_PLACE
    opens = {"opens_at": "2030-05-03T12:23:00Z"} if state in ("prequeue", "not_open") else {}
    signs_in = {"sign_in": "/account/sign-in"} if state == "sign_in" else {}
    drawn = {"arrival": 4711, "draw": "/.stanchion/launch/draw"} if state == "prequeue" else {}
    value: dict[str, Any] = {
        "queue": "launch", "state": state, "position": 5012 if placed else None,
        "ahead": (0 if state == "called" else 1204) if placed else None, "wait_s": {"low": 480, "high": 720} if placed else None,
        "poll_s": 10, "epoch": "e1", "now": NOW_MS,
        "claim_left_s": 292 if state == "called" else None, "opens_at": None,
        "message": None, "arrival": None, "draw": None, "lane": None, "sign_in": None, "challenge": None,
    }  # fmt: skip
    return value | opens | drawn | signs_in | changed


def sample_values(state: str, **changed: str) -> Mapping[str, str]:
    """The slots of the page of that state. What is changed is also in the status that the page's script reads."""
    said = sample_status(state, message=changed.get("message") or None)
    opens_at = said["opens_at"] or ""
    values = {
        "queue_name": "Spring Release", "queue_id": "launch", "state": state, "position": _text(said["position"]),
        "ahead": _text(said["ahead"]), "wait_low_min": "8" if said["wait_s"] else "",
        "wait_high_min": "12" if said["wait_s"] else "", "wait_known": "yes" if said["wait_s"] else "no", "poll_s": "10",
        "refresh_s": "15", "claim_left_s": "292",
        "wait_low": "8" if said["wait_s"] else "", "wait_high": "12" if said["wait_s"] else "",
        "wait_unit": "min" if said["wait_s"] else "",
        "claim_left_clock": "4:52", "retry_s": "10", "updated_iso": "2030-05-03T12:04:31Z", "updated_utc": "12:04:31",
        "status_url": "/.stanchion/launch/status", "leave_url": "/.stanchion/launch/leave", "target_url": "/launch/?a=1&b=%2F",
        "nonce": "bm9uY2U=", "message": "", "status_json": json.dumps(said), "request_id": "7f3a9c21", "opens_iso": opens_at,
        "opens_utc": opens_at[:16].replace("T", " "), "opens_in_s": str(_OPENS_IN_S) if opens_at else "", "spread_s": "30",
        "order": "draw", "arrival_number": _text(said["arrival"]), "drawn": "no", "draw_url": said["draw"] or "", "lane": "",
        "claim": "2", "claim_unit": "min", "late_claim": "head", "late": "15", "late_unit": "min", "grace": "24",
        "grace_unit": "h", "sign_in_url": said["sign_in"] or "", "work": "yes" if said["challenge"] else "no",
    }  # fmt: skip
    return values | changed


def sample_page(state: str) -> str:
    """The page that shows a state, blocked cookies among them."""
    return "waiting" if state == BLOCKED else page_state(state)


def _text(value: object) -> str:
    return "" if value is None else str(value)
