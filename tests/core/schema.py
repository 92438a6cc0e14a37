"""docs/status.schema.json as a check that every status in the tests of the core goes through."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs" / "status.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)


def holds(value: Any) -> None:
    """Fails unless this is a status, without a key that the schema does not name."""
    VALIDATOR.validate(value)
    assert set(value) <= set(SCHEMA["properties"]), set(value) - set(SCHEMA["properties"])
