"""A sale before it is held: the real scripts in a real Redis, people and trouble in virtual time."""
