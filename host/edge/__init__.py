"""The local edge: a reverse proxy that asks the gatekeeper component about every request."""
