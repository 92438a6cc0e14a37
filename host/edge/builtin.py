"""The few answers that the edge gives by itself: a sentence, never cached, for people and for programs."""

from __future__ import annotations

import http
import json
from dataclasses import dataclass

RETRY_AFTER_S = 5

NO_GATE = "The waiting room cannot answer at the moment. Please try again in a few seconds."
NO_ORIGIN = "The site behind the waiting room cannot be reached. Please try again in a few seconds."
SLOW_ORIGIN = "The site behind the waiting room did not answer in time. Please try again in a few seconds."
FULL_ORIGIN = "The site behind the waiting room has no connection free. Please try again in a few seconds."
BROKEN_ORIGIN = "The site behind the waiting room gave no valid answer. Please try again in a few seconds."
NO_UPGRADE = (
    "Upgraded connections, WebSocket among them, are not passed on. Use plain HTTP or server-sent events."
)
NO_CONNECT = "The method CONNECT is not available here."
NO_CODING = "The only transfer coding accepted in a request is chunked."
LATE_BODY = "The rest of the request did not arrive in time."
BAD_EXPECT = "The only expectation that can be met is 100-continue."
BAD_HEADER = "A header of the request holds characters that cannot be passed on."
BAD_HOST = "The request needs exactly one valid Host header."
BAD_TARGET = "The address of the request is not valid; all but visible ASCII has to be percent-encoded."
BAD_REQUEST = "The request is not valid HTTP/1.1."
UNKNOWN_METHOD = "The method of the request is not known here."
LONG_TARGET = "The address of the request is too long."
LARGE_HEAD = "The headers of the request are too large."
SLOW_HEAD = "The request did not arrive in time."


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """One answer: status, headers without framing, and an HTML body that holds `sentence`."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    sentence: str

    def for_client(self, accept: bytes) -> BuiltIn:
        """The same answer as problem details (RFC 9457) for a program: one that names JSON and not HTML, as no browser does."""
        lower = accept.lower()
        if b"json" not in lower or b"html" in lower:
            return self
        title = http.HTTPStatus(self.status).phrase
        told = {"type": "about:blank", "title": title, "status": self.status, "detail": self.sentence}
        headers = ((b"content-type", b"application/problem+json"), *self.headers[1:])
        return BuiltIn(self.status, headers, json.dumps(told).encode(), self.sentence)


def built_in(status: int, sentence: str) -> BuiltIn:
    """An answer of the edge's own. Those that time may heal (502, 503, 504) say when to try again."""
    phrase = http.HTTPStatus(status).phrase
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{phrase}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>\n'
        f"<body><h1>{phrase}</h1><p>{sentence}</p></body></html>\n"
    )
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")]
    if status in (502, 503, 504):
        headers.append((b"retry-after", b"%d" % RETRY_AFTER_S))
    return BuiltIn(status, tuple(headers), page.encode(), sentence)
