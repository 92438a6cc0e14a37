"""The same visitors as real HTTP, against an edge of this machine."""
