"""For all tests: no deadline for a single example, which on a busy machine says nothing about the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("stanchion", deadline=None)
settings.load_profile("stanchion")
