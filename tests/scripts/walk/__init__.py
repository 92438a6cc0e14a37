"""An exhaustive walk through everything that a few visitors can do to one small queue, on the real scripts in a real Redis.

`python -m tests.scripts.walk --full` walks the scope of docs/proof.md and prints how many states and steps there are.
"""
