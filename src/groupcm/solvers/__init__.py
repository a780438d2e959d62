"""Algorithms: each takes an `Task` and returns a `Solution`."""
