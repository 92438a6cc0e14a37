"""The few answers that a sandbox gives by itself: a sentence, never cached, for people and for programs."""

from __future__ import annotations

import http
import json

RETRY_AFTER_S = 5

NO_GATE = "The waiting room cannot answer at the moment. Please try again in a few seconds."
NO_ORIGIN = "The site behind the waiting room cannot be reached. Please try again in a few seconds."
SLOW_ORIGIN = "The site behind the waiting room did not answer in time. Please try again in a few seconds."
BAD_TARGET = "The address of the request cannot be passed on here; percent-encode what is no letter, digit or one of -._~/?&=%."
BROKEN_ORIGIN = "The site behind the waiting room gave no valid answer. Please try again in a few seconds."
NO_UPGRADE = "Upgraded connections, WebSocket among them, are not passed on. Use plain HTTP or server-sent events."

_TIME_MAY_HEAL = (502, 503, 504)


def built_in(status: int, sentence: str, accept: str = "") -> tuple[int, list[tuple[str, str]], bytes]:
    """A sentence of the edge itself, as status, headers and body; it says when to try again where time may heal.

    `accept`: a program, one that names JSON and not HTML as no browser does, gets problem details (RFC 9457), all others a page.
    """
    phrase, accept = http.HTTPStatus(status).phrase, accept.lower()
    if "json" in accept and "html" not in accept:
        kind = "application/problem+json"
        body = json.dumps({"type": "about:blank", "title": phrase, "status": status, "detail": sentence})
    else:
        kind = "text/html; charset=utf-8"
        body = (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{phrase}</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1"></head>\n'
            f"<body><h1>{phrase}</h1><p>{sentence}</p></body></html>\n"
        )
    headers = [("content-type", kind), ("cache-control", "no-store")]
    if status in _TIME_MAY_HEAL:
        headers.append(("retry-after", str(RETRY_AFTER_S)))
    return status, headers, body.encode()
