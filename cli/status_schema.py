"""The JSON Schema of the status JSON: what each key is and means. Which keys there are, and the states, the core says."""

from __future__ import annotations

from typing import Any

from edge.core.config import check_config
from edge.core.standing import STATES, Standing

_COUNT = {"type": ["integer", "null"], "minimum": 0}
_TEXT = {"type": ["string", "null"]}
_KEYS: dict[str, dict[str, Any]] = {
    "queue": {**_TEXT, "description": "id of the queue; null while no configuration can be read"},
    "state": {"enum": list(STATES), "description": "where the visitor stands"},
    "position": {"type": ["integer", "null"], "minimum": 1, "description": "place in line, given once; null for who has none"},
    "ahead": {**_COUNT, "description": "people before this one, without those known to have left"},
    "wait_s": {
        "type": ["object", "null"],
        "properties": {"low": {"type": "integer", "minimum": 0}, "high": {"type": "integer", "minimum": 0}},
        "required": ["low", "high"],
        "description": "the wait as a range, in seconds; null while it is not known",
    },
    "poll_s": {"type": "integer", "minimum": 1, "description": "when to ask again, in seconds; Retry-After says the same"},
    "epoch": {**_TEXT, "description": "generation of the queue; positions of different ones do not compare"},
    "now": {"type": "integer", "minimum": 0, "description": "time of the answer in Unix ms, by the clock of the queue"},
    "claim_left_s": {**_COUNT, "description": "how long the turn is kept, in seconds, while called"},
    "opens_at": {"type": ["string", "null"], "format": "date-time", "description": "when the queue opens, if that is to come"},
    "message": {**_TEXT, "description": "what the operator has to say, for people to read"},
    "arrival": {"type": ["integer", "null"], "minimum": 1,
                "description": "number of an arrival before the opening, which stays known afterwards"},
    "draw": {**_TEXT, "description": "address at which the draw can be checked"},
    "lane": {**_TEXT, "description": "name of the visitor's lane, where the queue has several"},
    "challenge": {
        "type": ["object", "null"],
        "properties": {
            "text": {"type": "string"},
            "bits": {"type": "integer", "minimum": 1, "maximum": 31},
            "count": {"type": "integer", "minimum": 1},
        },
        "required": ["text", "bits", "count"],
        "description": "of a candidate: the work to be done before it gets a place, where the queue asks for some",
    },
    "sign_in": {**_TEXT, "description": "where the visitor can sign in, in the state sign_in, if the queue names it"},
}
_PROBLEM: dict[str, dict[str, Any]] = {
    "type": {"type": "string", "description": "only of an error (RFC 9457): about:blank"},
    "title": {"type": "string", "description": "only of an error: the phrase of the status"},
    "status": {"type": "integer", "description": "only of an error: the status of the answer"},
    "detail": {"type": "string", "description": "only of an error: what happened and what to do, for people to read"},
    "error": {"type": "string", "description": "only of an error: its name, for programs"},
}


def _keys() -> list[str]:
    """The keys of a real status."""
    queue = {"id": "x", "name": "x", "routes": [{"path": "/x"}], "manual": True}
    return list(Standing(check_config({"queues": [queue]}).queues[0], "waiting", 0).status())


def status_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the status JSON. A client passes over keys that it does not know."""
    keys = _keys()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Stanchion status",
        "description": "Answer of /.stanchion/<id>/status, and of a held request whose sender prefers JSON.",
        "type": "object",
        "properties": {name: _KEYS[name] for name in keys} | _PROBLEM,
        "required": keys,
        "dependentRequired": {name: [other for other in _PROBLEM if other != name] for name in _PROBLEM},
        "if": {"properties": {"state": {"enum": ["waiting", "called"]}}},
        "then": {"properties": {"position": {"type": "integer"}, "epoch": {"type": "string"}}},
    }
