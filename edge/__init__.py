"""The guest: a pure core and the thin adapters that drive it on each kind of host."""
