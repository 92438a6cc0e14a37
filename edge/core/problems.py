"""Errors of the gate as problem details (RFC 9457). `error` is the name that they had before; it stays."""

from __future__ import annotations

import json

MEDIA_TYPE = "application/problem+json"
# With the type about:blank the title is the phrase of the status (RFC 9457, section 4.2.1).
_TITLES = {
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone",
    429: "Too Many Requests", 503: "Service Unavailable",
}  # fmt: skip

TOO_MANY = "too many requests, from this network or from everybody; a place is not lost; try again after Retry-After"
UNAVAILABLE = "the queue cannot be asked at the moment; a place is not lost; try again after Retry-After"
NOT_SENT = "the request did not reach the site, for its sender is not inside yet; send it again when admitted"

SIGN_IN = "places of this queue are given to one account each: sign in at the site (sign_in), then ask again with its word"
HAD_VISIT = "this account has been inside already, and the queue lets each in once"
# What is said in the states that are an error by themselves: detail, and error.
OF_STATES = {
    "unavailable": (UNAVAILABLE, "unavailable"), "sign_in": (SIGN_IN, "sign in"), "had_visit": (HAD_VISIT, "had a visit"),
}  # fmt: skip


def problem_text(status: int, detail: str, error: str, members: str = "{}") -> str:
    """The body of an error. `members`: a JSON object as text that comes first, the status JSON say."""
    title = _TITLES.get(status, "Error")
    said = json.dumps({"type": "about:blank", "title": title, "status": status, "detail": detail, "error": error},
                      separators=(",", ":"))  # fmt: skip
    return f"{members[:-1]},{said[1:]}" if members != "{}" else said
