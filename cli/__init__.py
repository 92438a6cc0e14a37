"""The `stanchion` command: the only room that may know all others."""
