"""Adapters: one for each kind of host, none with a rule of its own."""
