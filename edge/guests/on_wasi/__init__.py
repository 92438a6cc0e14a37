"""What the guest for wasi:http hosts is made of: one module for each side of that platform, none with a rule of its own."""
