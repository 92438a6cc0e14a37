"""The gate's core: pure rules over values. No I/O, no clock, no randomness, no environment."""
