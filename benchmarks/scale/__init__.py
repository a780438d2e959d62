"""Benchmarks (g) to (l): data on disk and in clusters."""
