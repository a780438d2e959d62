"""Algorithms: each takes a `Task` and returns a `Solution`."""
