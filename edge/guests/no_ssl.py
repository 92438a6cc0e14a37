"""Imports PyJWT where CPython has no `ssl`: it wants the module for a client of key servers that the gate never uses.

A stand-in serves during that one import and is taken away again, or other libraries would take it for the real one.
"""

from __future__ import annotations

import sys
import types


def import_jwt() -> None:
    """Puts `jwt` into sys.modules. Harmless where `ssl` exists."""
    try:
        import ssl  # noqa: F401
    except ImportError:
        stand_in = types.ModuleType("ssl")
        stand_in.SSLContext = type("SSLContext", (), {})  # type: ignore[attr-defined]
        sys.modules["ssl"] = stand_in
        import jwt  # noqa: F401

        del sys.modules["ssl"]


import_jwt()
