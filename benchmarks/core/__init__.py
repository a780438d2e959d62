"""Benchmarks (a) to (f): fits in memory."""
