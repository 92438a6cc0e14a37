"""Foyer, the demo shop: a small ticket site that knows nothing of the gate but its header and its two commands."""
