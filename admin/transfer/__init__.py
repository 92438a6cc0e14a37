"""Everything that the admin looks after as one file: taken out, looked at, and put back whole or not at all."""
